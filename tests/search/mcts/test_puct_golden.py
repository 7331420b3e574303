"""A small search, kept as text: each line a tried step with its visits and its mean value, deeper ones further in.

To write it again after an intended change: ``python -m tests.search.mcts.test_puct_golden``.
"""

from pathlib import Path

import numpy as np

from pipeline_src.games import gomoku
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_trees import PuctTrees
from tests.search.mcts.fakes import hashed

GOLDEN = Path(__file__).with_name("golden_tree.txt")


def tree_text():
    """Gomoku on 4x4 with three in a row, 60 simulations, two stones on, 20 more."""
    state = gomoku.from_fen("x3/1o2/2x1/o3 b freestyle-3")
    trees = PuctTrees(state, 1, hashed, PuctOptions(c=1.0, c_base=0.0), nodes=100)
    trees.plant(0, state)
    trees.simulate(np.array([60], np.int32))
    lines = [*node_lines(trees, 0, 0), ""]
    for _ in range(2):
        trees.advance(0, int(trees.steps(0)[trees.best(0)]))
    trees.simulate(np.array([20], np.int32))
    return "\n".join([*lines, *node_lines(trees, 0, 0), ""])


def node_lines(trees, node, depth):
    nodes, edges = trees.forest.nodes[0], trees.forest.edges[0]
    first = nodes[node]["first"]
    lines = []
    for edge in np.sort(edges[first : first + nodes[node]["edges"]], order="place"):
        mean = edge["worth"] / edge["tries"]
        over = " over" if nodes[edge["child"]]["over"] else ""
        lines.append(f"{'  ' * depth}{gomoku.format_move(int(edge['step']), 4, 4)} {edge['tries']} {mean:.6f}{over}")
        lines += node_lines(trees, int(edge["child"]), depth + 1)
    return lines


def test_the_small_tree_is_the_golden_one():
    assert tree_text() == GOLDEN.read_text()


if __name__ == "__main__":
    GOLDEN.write_text(tree_text())
