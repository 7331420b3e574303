"""The threat search together with an evaluator: what is certain, and moves that meet a threat."""

import numpy as np
import pytest

from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import from_fen
from pipeline_src.games.kernels import stack, write_steps
from pipeline_src.search.gomoku.proving import ProvingEvaluator
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct_search import Puct
from tests.search.gomoku.positions import THREES, position

WON = position(
    """
    . . . . . . .
    . . . . . . .
    . . x x x . .
    . . . o . . .
    . . . o . . .
    . . . . o . .
    . . . . . . .
    """
)
PRESSED = position(
    """
    . . . . . . .
    . . . . . . .
    . . x x x . .
    . . . o . . .
    . . . o . . .
    . . . . . . .
    . . . . . . .
    """
)
LOST = position(
    """
    . . . . . . .
    . x x x x . .
    . . . . . . .
    . . . o o . .
    . . . o . . .
    . . . . . . .
    . . . . . . .
    """
)


def even(states, steps, counts):
    """The same prior for each step, and no opinion."""
    priors = np.zeros(steps.shape, np.float32)
    for row, count in zip(priors, counts, strict=True):
        row[:count] = 1 / count
    return priors, np.zeros(len(counts), np.float32)


def answer(evaluator, *states):
    stacked = stack(states[0], len(states))
    steps, counts = np.zeros((len(states), states[0].board.size), np.int32), np.zeros(len(states), np.int32)
    for i, state in enumerate(states):
        for column, array in zip(stacked, state, strict=True):
            column[i] = array
        counts[i] = write_steps(state, steps[i])
    return steps, *evaluator(stacked, steps, counts)


def test_certain_results_and_forced_answers():
    evaluator = ProvingEvaluator(even, 200, 200)
    steps, priors, values = answer(evaluator, WON, PRESSED, LOST, gomoku.initial_state(7))
    assert values.tolist() == [1.0, 0.0, -1.0, 0.0]
    assert evaluator.decided == 2
    best = [gomoku.format_move(int(row[np.argmax(prior)]), 7, 7) for row, prior in zip(steps, priors, strict=True)]
    assert best[0] in ("b5", "f5")
    assert priors[0].max() == 1.0
    met = {gomoku.format_move(int(step), 7, 7) for step, prior in zip(steps[1], priors[1], strict=True) if prior > 0}
    assert {"b5", "f5"} <= met <= {"a5", "b5", "f5", "g5"}
    assert np.allclose(np.maximum(priors, 0).sum(axis=1), 1)
    assert (priors[1] == -1).sum() == (PRESSED.board == 0).sum() - len(met)  # what does not meet the threat loses


def test_fours_alone_see_wins_and_answers_of_one_kind():
    _, priors, values = answer(ProvingEvaluator(even, 40), WON, PRESSED, LOST, gomoku.initial_state(7))
    assert values.tolist() == [1.0, 0.0, -1.0, 0.0]
    assert (priors[1] > 0).sum() < 10
    _, priors, values = answer(ProvingEvaluator(even, 40), THREES)
    assert values.tolist() == [0.0]
    assert priors.min() == 0, "a win by threes takes another search"
    assert answer(ProvingEvaluator(even, 40, 200), THREES)[2].tolist() == [1.0]


SCATTERED = position(
    """
    . . . . . . . . .
    . . x . . . o o .
    . . . . . . o x .
    . o . . x . . . .
    . . o o o . . x .
    . . . x . x . x .
    . . . o . . . . .
    . . . . . . x . .
    . . . . . . . . .
    """
)
"""Black wins by fours, after more than eight positions, unless some of those that do not win are known."""


@pytest.mark.parametrize(("alone", "values"), [(False, [0.0, 1.0]), (True, [0.0, 0.0])])
def test_alone_a_search_does_not_learn_from_another(alone, values):
    evaluator = ProvingEvaluator(even, 8, alone=alone)
    assert [float(answer(evaluator, SCATTERED)[2][0]) for _ in values] == values


def test_black_without_a_legal_defence_in_renju_has_lost():
    state = from_fen("15/15/15/15/15/15/15/7x7/5x1x7/5xo8/6o8/6o8/6o8/6x8/o14 b renju")
    steps, priors, values = answer(ProvingEvaluator(even, 40), state)
    assert values.tolist() == [-1.0]
    legal = write_steps(state, steps[0])
    assert priors[0, :legal] == pytest.approx(1 / legal), "one move is as good as another"


def test_a_tree_search_sees_the_win():
    found = Puct(ProvingEvaluator(even, 200, 200)).search(WON, Limit(nodes=20))
    assert gomoku.format_move(found.action, 7, 7) in ("b5", "f5")
    assert found.value > 0.9
