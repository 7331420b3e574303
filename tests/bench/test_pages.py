"""The tree that clicks are measured in."""

from bench.pages import BRANCHES, LENGTH, MAIN, tree_text
from pipeline_src.web.record_files import read_games
from pipeline_src.web.trees import tree_of


def test_the_tree_has_a_thousand_moves_and_variations():
    data = tree_text().encode()
    (game,), rejects = read_games(data, "x")
    tree, left_out = tree_of(game, data)
    assert (len(game.actions), len(tree.nodes), rejects, left_out) == (MAIN, 1_000, [], ())
    children = [node.parent for node in tree.nodes]
    assert children.count(MAIN // 2) == BRANCHES + 1
    assert MAIN + BRANCHES * LENGTH == 1_000
