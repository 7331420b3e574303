import numpy as np
import pytest

from pipeline_src.games import amazons
from pipeline_src.search.amazons.evaluation import BOTH, FIRST, NOBODY, SECOND, territory
from pipeline_src.search.amazons.terms import terms


def positions(count):
    rng = np.random.default_rng(5)
    for number in range(count):
        state = amazons.initial_state(10, amazons.VARIANTS[number % 2])
        for _ in range(int(rng.integers(60))):
            if amazons.winner(state) is not None:
                break
            state = amazons.play(state, int(rng.choice(amazons.legal_actions(state))))
        yield state


@pytest.mark.parametrize("tempo", [0.0, 0.25])
def test_owners_sum_up_to_the_terms_of_the_evaluation(tempo):
    for state in positions(30):
        found, sign = terms(state, tempo), 1 if amazons.to_play(state) == 0 else -1
        for owners, term in zip(territory(state), (found.t1, found.t2), strict=True):
            lead = int((owners == FIRST).sum()) - int((owners == SECOND).sum())
            assert sign * lead + tempo * int((owners == BOTH).sum()) == pytest.approx(term)


def test_enclosed_or_occupied_squares_have_no_owner():
    state = amazons.from_fen("Q**/***/**q w")
    assert not territory(state).queen.any()
    state = amazons.from_fen("Q1*/***/*1q w")
    owners = territory(state)
    assert owners.queen.tolist() == owners.king.tolist() == [0, SECOND, 0, 0, 0, 0, 0, FIRST, 0]
    assert NOBODY == 0
