"""Plain UCT: compared with a slow one in Python that draws the same numbers, and on positions with one right answer."""

from math import log, sqrt

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.kernels import below, high_below, seeded
from pipeline_src.search.gomoku import playouts as _playouts  # noqa: F401, makes the search know the game
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.playouts import EDGES, NODES, PlainUct, playout
from tests.search.gomoku.references import cells, position, random_states

RESULT = {"draw": 0.5, "first": 1.0, "second": 0.0}


def played_out(state, random):
    """Points of Black; the same draws as the kernel's."""
    left = gomoku.legal_actions(state).tolist()
    while gomoku.winner(state) is None:
        at = high_below(random, len(left))
        cell, left[at] = left[at], left[-1]
        left.pop()
        state = gomoku.play(state, cell)
    return RESULT[gomoku.winner(state)]


class Node:
    def __init__(self, state):
        self.state, self.actions, self.children, self.tries, self.total = state, None, [], 0, 0.0


def one_more(root, random, c):
    """One playout of UCT as the paper has it; `Node.total` in points of who moved there."""
    line, node, points = [root], root, None
    while points is None:
        if gomoku.winner(node.state) is not None:
            points = RESULT[gomoku.winner(node.state)]
            break
        if node.actions is None:
            node.actions = gomoku.legal_actions(node.state).tolist()
        tried, n = len(node.children), len(node.actions)
        if tried < n:
            other = tried + below(random, n - tried)
            node.actions[tried], node.actions[other] = node.actions[other], node.actions[tried]
            node.children.append(Node(gomoku.play(node.state, node.actions[tried])))
            node = node.children[-1]
            over = gomoku.winner(node.state)
            points = RESULT[over] if over else played_out(node.state, random)
        else:
            visits = sum(child.tries for child in node.children)
            bounds = [x.total * (1.0 / x.tries) + c * sqrt(log(visits)) * sqrt(1.0 / x.tries) for x in node.children]
            node = node.children[int(np.argmax(bounds))]
        line.append(node)
    for node in line:
        node.tries += 1
        node.total += points if gomoku.to_play(node.state) == 1 else 1 - points


@pytest.mark.parametrize(
    ("size", "variant"),
    [(3, "freestyle-3"), (4, "exact-3"), (5, "freestyle-4"), (6, "freestyle"), (5, "caro-3"), (6, "caro-4")],
)
def test_tries_same_moves_as_slow_python_search(size, variant):
    for seed, state in enumerate(random_states(2, size, variant, seed=9)):
        root, random = Node(state), seeded(seed)
        for _ in range(250):
            one_more(root, random, 0.6)
        searcher = PlainUct(0.6)
        found = searcher.search(state, Limit(nodes=250), seed)
        expected = {a: (x.tries, x.total) for a, x in zip(root.actions, root.children, strict=False)}
        tree = searcher.tree
        edges = range(tree.first[0], tree.first[0] + tree.reached[0])
        assert {int(tree.action[e]): (int(tree.tries[e]), float(tree.total[e])) for e in edges} == expected
        assert expected[found.action] == max(expected.values())
        tries, total = expected[found.action]
        assert found.value == pytest.approx(2 * total / tries - 1)


def test_a_playout_is_a_uniformly_random_game():
    """Three empty cells: each order has the same chance, and who wins follows by hand."""
    state = position("x x .\no o .\n. o x", 0, "freestyle-3")
    random, buffer = seeded(3), np.empty(9, np.int32)
    before = gomoku.to_fen(state)
    results = [playout(state, buffer, random) for _ in range(6000)]
    expected = np.mean([all_orders(state, order) for order in ORDERS])
    assert np.mean(results) == pytest.approx(expected, abs=4 / sqrt(6000))
    assert gomoku.to_fen(state) == before


ORDERS = [(a, b, c) for a in (2, 5, 6) for b in (2, 5, 6) for c in (2, 5, 6) if len({a, b, c}) == 3]


def all_orders(state, order):
    for cell in order:
        if gomoku.winner(state) is None:
            state = gomoku.play(state, cell)
    return 2 * RESULT[gomoku.winner(state)] - 1


WIN = """
. . . . . . .
. o o . o . .
. x x * x x .
. . . . o . .
. . . . . . .
. . . . . . .
. . . . . . ."""
BLOCK = """
. . . . . . .
. . . . o . .
o x x x x * .
. . . . . . .
. . o . . . .
. . . o . . .
. . . . . x ."""


@pytest.mark.parametrize(("text", "side"), [(WIN, 0), (BLOCK, 1)])
def test_it_takes_a_win_and_stops_one(text, side):
    state = position(text.replace("*", "."), side)
    for seed in range(3):
        found = PlainUct().search(state, Limit(nodes=1000), seed)
        assert found.action in cells(state, text)


def test_a_seed_gives_a_search_and_another_seed_another():
    state, searcher = gomoku.initial_state(9), PlainUct()
    runs = [searcher.search(state, Limit(nodes=500), seed) for seed in (1, 2, 1)]
    one, other, again = ((run.pv, run.value, run.depth) for run in runs)
    assert one == again != other


def test_neither_memory_nor_reports_change_a_search():
    state, small, used = gomoku.initial_state(5, "freestyle-4"), PlainUct(), PlainUct()
    used.search(gomoku.initial_state(5), Limit(nodes=30_000), 4)
    reports = []
    one = small.search(state, Limit(nodes=12_000), 4, on_info=reports.append)
    other = used.search(state, Limit(nodes=12_000), 4)
    assert [report.nodes for report in reports] == [1024, 2048, 4096, 8192, 12_000]
    assert (one.action, one.value, one.depth, one.pv) == (other.action, other.value, other.depth, other.pv)
    assert small.tree.used[:3].tolist() == used.tree.used[:3].tolist()


def written(tree):
    """Bytes of the columns that plain UCT writes; pages of the others are never touched."""
    names = ("first", "branches", "reached", "visits", "action", "child", "tries", "total")
    return sum(getattr(tree, name).nbytes for name in names)


def test_tree_keeps_to_memory_and_ends_search_when_full():
    state, searcher = gomoku.initial_state(20), PlainUct(memory=1 << 20)
    found = searcher.search(state, Limit(movetime_ms=60_000))
    assert written(searcher.tree) <= (1 << 20) + 100
    assert found.nodes > 50
    assert found.seconds < 30
    searcher.use_memory(1 << 21)
    assert searcher.search(state, Limit(movetime_ms=60_000)).nodes > found.nodes
    assert written(searcher.tree) <= (1 << 21) + 100


def test_a_search_ends_in_time_however_large_its_tree_is():
    """A tree that was copied to a larger one could not be stopped: 11,681 ms for 10,000 on 20x20."""
    state, searcher = gomoku.initial_state(20), PlainUct()
    searcher.search(state, Limit(nodes=1))
    assert searcher.search(state, Limit(movetime_ms=1500)).seconds < 2.5


def test_visits_add_up_and_nodes_come_one_a_playout():
    searcher = PlainUct()
    for playouts in (1, 2, 70, 900):
        found = searcher.search(gomoku.initial_state(8), Limit(nodes=playouts), 5)
        tree = searcher.tree
        assert found.nodes == playouts
        assert tree.used[NODES] == playouts + 1
        for node in range(tree.used[NODES]):
            if tree.first[node] >= 0:
                edges = slice(tree.first[node], tree.first[node] + tree.reached[node])
                assert tree.tries[edges].sum() == tree.visits[node]
        assert tree.used[EDGES] <= tree.action.size


def test_a_game_about_to_end_is_searched_to_its_end():
    state = position("x o x\nx o o\n. x .", 1, "freestyle-3")
    found = PlainUct().search(state, Limit(nodes=50))
    assert found.value == 0.0
    assert found.depth == 2
    with pytest.raises(ZugwerkError, match="over"):
        PlainUct().search(position("x x x\no o .\n. . .", 1, "freestyle-3"), Limit(nodes=5))


def test_a_negative_weight_is_refused():
    for c in (-0.1, float("nan"), float("inf")):
        with pytest.raises(ZugwerkError, match="c of 0 or more"):
            PlainUct(c)
