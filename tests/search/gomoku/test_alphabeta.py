"""Alpha-beta and minimax with the evaluation of Gomoku: what they see, and that they see the same."""

from dataclasses import replace

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.rules import copy_state
from pipeline_src.search.alphabeta import AlphaBeta, Options
from pipeline_src.search.gomoku.evaluation import LOST, make_evaluator
from pipeline_src.search.limits import Limit
from pipeline_src.search.minimax import Minimax
from tests.search.gomoku.references import cells, position, random_states
from tests.search.references import negamax

FULL = Options(widths=(0,), reduce_after=0, table_mb=1, killers=2, inner_killers=1)

# name: (plies, who is to move, the board, the right cells marked with *, proven: plies to the end, or None)
PUZZLES = {
    "five": (
        1,
        0,
        """
        . . . . . . .
        . o o . o . .
        . x x * x x .
        . . . . o . .
        . . . . . . .
        . . . . . . .
        . . . . . . .""",
        1,
    ),
    "rather five than to stop five": (
        1,
        0,
        """
        . o o o o . .
        . . . . . . .
        x x x x * . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .""",
        1,
    ),
    "stop a four": (
        2,
        1,
        """
        . . . . . . . . .
        . . . . . . . . .
        . o x x x x * . .
        . . . . o . . . .
        . . . o . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .""",
        None,
    ),
    "stop a four with a gap": (
        2,
        1,
        """
        . . . . . . . . .
        . . . . . . . . .
        . . x x * x x . .
        . . . . o . . . .
        . . . o . . . . .
        . . . . . o . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .""",
        None,
    ),
    "stop an open three": (
        4,
        1,
        """
        . . . . . . . . .
        . . . . . . . . .
        . . . o . . . . .
        . . . . . . . . .
        . * * x x x * * .
        . . . . . . . . .
        . . . . . o . . .
        . . . . . . . . .
        . . . . . . . . .""",
        None,
    ),
    "make an open four": (
        3,
        0,
        """
        . . . . . . . . .
        . . . . . . . . .
        . . . o . . . . .
        . . . . . . . . .
        . . * x x x * . .
        . . . . . . . . .
        . . . . . o . . .
        . . . . o . . . .
        . . . . . . . . .""",
        3,
    ),
    "make two fours at once": (
        3,
        0,
        """
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . o . . . . . .
        . . x . . . . . .
        . . x . . . . . .
        . . x . . . . . .
        . . * x x x o . .
        . . . . . . . . .""",
        3,
    ),
    "two fours, one behind the other": (
        5,
        0,
        """
        o . . . . . . . .
        . . . . . . . . .
        . . o . . . . . .
        . . x . . . . . .
        . . x . o . . . .
        . . x . . . . . .
        o x * x x . . . .
        . o . . . . . . .
        . . . . . . . . .""",
        None,
    ),
}


def searched(name, searcher=None):
    depth, side, text, plies = PUZZLES[name]
    state = position(text.replace("*", "."), side)
    return (searcher or AlphaBeta(make_evaluator(), FULL)).search(state, Limit(depth=depth)), cells(state, text), plies


@pytest.mark.parametrize("name", PUZZLES)
def test_puzzles(name):
    found, right, plies = searched(name)
    assert found.action in right
    if plies is not None:
        assert found.value == 10_000 - plies


@pytest.mark.parametrize("name", [name for name, puzzle in PUZZLES.items() if puzzle[0] <= 3])
def test_minimax_solves_them_too(name):
    (found, right, _), (other, _, _) = searched(name, Minimax(make_evaluator())), searched(name)
    assert found.action in right
    assert found.value == other.value


@pytest.mark.parametrize(
    ("size", "variant", "depth"),
    [
        (9, "freestyle", 1),
        (7, "freestyle", 2),
        (6, "freestyle", 3),
        (6, "exact", 3),
        (5, "freestyle-4", 3),
        (5, "exact-3", 3),
    ],
)
def test_searches_agree_at_each_depth_with_plain_search(size, variant, depth):
    plain = Options(widths=(0,), reduce_after=0, table_mb=0, killers=0, inner_killers=0, scout=False)
    searchers = [AlphaBeta(make_evaluator(), FULL), AlphaBeta(make_evaluator(), plain), Minimax(make_evaluator())]
    for i, state in enumerate(random_states(12, size, variant, seed=depth, spread=2)):
        values = {searcher.search(state, Limit(depth=depth)).value for searcher in searchers}
        assert len(values) == 1
        if i < 4 and len(gomoku.legal_actions(state)) < 40:
            assert values.pop() == pytest.approx(negamax(copy_state(state), make_evaluator(), depth))


def test_certain_threat_has_its_value_where_losses_need_no_proof():
    state, limit = gomoku.from_fen("9/9/9/9/3xxx3/9/2oo5/2o6/9 b"), Limit(depth=2)
    found = AlphaBeta(make_evaluator(), replace(FULL, proofs=False)).search(state, limit)
    assert found.value == Minimax(make_evaluator()).search(state, limit).value == LOST


def test_small_games_are_played_to_their_end():
    """Three in a row on 3x3 is a draw; on 4x4 the first player wins with her third stone."""
    assert AlphaBeta(make_evaluator(), FULL).search(gomoku.initial_state(3, "freestyle-3"), Limit(depth=9)).value == 0
    won = AlphaBeta(make_evaluator(), FULL).search(gomoku.initial_state(4, "freestyle-3"), Limit(depth=9))
    assert won.value == 9995


def test_minimax_stops_and_refuses():
    state = gomoku.initial_state(9)
    searcher = Minimax(make_evaluator())
    with pytest.raises(ZugwerkError, match="depth of 1 to 8"):
        searcher.search(state, Limit(nodes=5))
    with pytest.raises(ZugwerkError, match="over"):
        searcher.search(position("x x x\no o .\n. . .", 1, "freestyle-3"), Limit(depth=1))
    reports = []
    found = searcher.search(state, Limit(depth=2), on_info=reports.append)
    assert reports == [found]
    assert found.nodes == 81 + 81 * 80
    assert np.isfinite(found.value)
