"""The search knows no game: three in a row, solved, compared with a plain search of the whole tree."""

import numpy as np
import pytest

from pipeline_src.games.kernels import play
from pipeline_src.games.rules import copy_state
from pipeline_src.search.alphabeta import PROVEN, AlphaBeta, Options
from pipeline_src.search.limits import Limit
from tests.search.references import LineEvaluator, legal, line_evaluator, line_state, negamax, solve

pytestmark = pytest.mark.slow  # compiles the search for this game each time
BOARDS = {
    "3x3": (line_state("...", "...", "..."), 9),
    "3x3, a trap": (line_state("x..", ".o.", "..x", side=1), 6),
    "3x4": (line_state("x...", ".o..", "....", side=0), 10),
    "4x4": (line_state("x.o.", ".x..", "o..o", "...."), 11),
    "4x4, drawn": (line_state("xoxo", "xoxo", "oxox", "...."), 4),
}
VARIANTS = {
    "standard": Options(widths=(0,), table_mb=1),
    "no table": Options(widths=(0,), table_mb=0),
    "tiny table": Options(widths=(0,), table_mb=1e-9),
    "plain": Options(widths=(0,), table_mb=0, scout=False, killers=0),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("board", BOARDS)
def test_games_are_solved_exactly(board, variant):
    state, plies = BOARDS[board]
    result = AlphaBeta(line_evaluator(state), VARIANTS[variant]).search(state, Limit(depth=plies))
    memory = {}
    value = solve(copy_state(state), memory)
    assert result.value == value
    after = copy_state(state)
    play(after, result.action)
    assert -solve(after, memory, 1) == value  # and the action is one of the best


@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "tiny table"])
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_values_at_each_depth_equal_search_without_cuts(depth, variant):
    state = line_state("....", ".x..", "..o.")
    for seed in range(3):
        evaluator = line_evaluator(state, seed)
        result = AlphaBeta(evaluator, VARIANTS[variant]).search(state, Limit(depth=depth))
        assert result.value == pytest.approx(negamax(copy_state(state), evaluator, depth), abs=1e-5)
        assert result.depth == depth or abs(result.value) > PROVEN


def test_variation_is_legal_and_its_end_has_the_value():
    state, depth = line_state("....", "....", "...."), 4
    evaluator = line_evaluator(state)
    result = AlphaBeta(evaluator, Options(widths=(0,))).search(state, Limit(depth=depth))
    assert result.pv[0] == result.action
    assert len(result.pv) == depth
    after = copy_state(state)
    for i, action in enumerate(result.pv[:-1]):
        assert action in legal(after)
        play(after, action)
        assert (-1) ** (i + 1) * negamax(after, evaluator, depth - 1 - i, i + 1) == pytest.approx(result.value)


def test_immediate_win_is_taken_and_loss_delayed():
    won = line_state("xx.", "oo.", "...")
    result = AlphaBeta(line_evaluator(won)).search(won, Limit(depth=5))
    assert (result.action, result.value, result.depth) == (2, 9999.0, 1)
    lost = line_state("x.x", ".o.", "x.o", side=1)  # two lines are open: one of them can be shut
    result = AlphaBeta(line_evaluator(lost)).search(lost, Limit(depth=5))
    assert result.value == -9998.0


def test_narrow_search_considers_best_of_each_ply_only():
    """Width one follows the best one-ply value down."""
    state = line_state("....", "....", "....")
    evaluator = line_evaluator(state, 5)
    result = AlphaBeta(evaluator, Options(widths=(1,), killers=0)).search(state, Limit(depth=3))
    after, line = copy_state(state), []
    for _ in range(3):
        squares = legal(after)
        line.append(squares[int(np.argmax(evaluator.weights[squares]))])
        play(after, line[-1])
    assert list(result.pv) == line


def test_narrow_search_widens_where_all_its_moves_lose():
    """The best one-ply value lets the other side win; one square further down the list the line is shut."""
    state = line_state("xx.", "o..", "...", side=1)
    evaluator = LineEvaluator(np.array([0, 0, -1, 0, 5, 0, 0, 0, 0], np.float32))
    careless = AlphaBeta(evaluator, Options(widths=(1,), killers=0, proofs=False)).search(state, Limit(depth=2))
    assert careless.value == -9998.0
    careful = AlphaBeta(evaluator, Options(widths=(1,), killers=0)).search(state, Limit(depth=2))
    assert careful.action == 2
    assert abs(careful.value) < 100
