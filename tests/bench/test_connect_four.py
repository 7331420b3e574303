"""The exact solver of Connect Four against a plain search of all that can follow, and a published value."""

import numpy as np
import pytest

from bench.connect_four import Solver, against, judge, random_opening, share
from pipeline_src.games.game import load_game

RULES = load_game("connect_four")


@pytest.fixture(scope="module")
def solver():
    return Solver()


def after(moves):
    state = RULES.initial_state()
    for action in moves:
        state = RULES.play(state, action)
    return state


def searched(state):
    result = RULES.winner(state)
    if result is not None:
        return {"draw": 0}.get(result, -1)
    return max(-searched(RULES.play(state, int(action))) for action in RULES.legal_actions(state))


@pytest.mark.parametrize("seed", range(12))
def test_solver_agrees_with_a_search_of_everything(solver, seed):
    state = after(random_opening(np.random.default_rng(seed), 35))
    assert solver.value(state) == searched(state)


def test_solver_knows_a_published_value(solver):
    """The first position of Pascal Pons' set of late, easy ones: lost."""
    assert solver.value(after(int(digit) - 1 for digit in "2252576253462244111563365343671351441")) == -1


@pytest.mark.parametrize("seed", range(12))
def test_judge_counts_moves_that_keep_the_value(solver, seed):
    opening = random_opening(np.random.default_rng(seed), 36)
    state = after(opening)
    values = {int(action): -searched(RULES.play(state, int(action))) for action in RULES.legal_actions(state)}
    best = max(values.values())
    for action, value in values.items():
        assert judge(solver, opening, [action]) == (value == best, 1, min(values.values()) < best)


def test_share_has_an_interval_over_games():
    found = share([(9, 10, 3), (10, 10, 4), (8, 10, 5)])
    assert (found.kept, found.moves, found.decided) == (27, 30, 12)
    assert found.low < 0.9 < found.high <= 1


class Column:
    """A player, or another repository's, that fills one column."""

    def __init__(self, column):
        self.column = column

    def choose(self, asked, *simulations):
        return self.column if simulations else [self.column]

    def new_game(self):
        pass


@pytest.mark.parametrize(("opening", "side", "points"), [([], 0, 1), ([], 1, 0), ([6], 0, 0), ([6], 1, 1)])
def test_points_are_those_of_the_player_on_its_side(opening, side, points):
    assert against(Column(0), Column(1), 1, opening, side) == points
