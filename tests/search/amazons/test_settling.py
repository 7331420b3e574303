"""Counting together with the net: decided endings are certain in the tree."""

import numpy as np

from pipeline_src.games import amazons, kernels
from pipeline_src.games.kernels import stack
from pipeline_src.search.amazons.settling import UNSURE, SettlingEvaluator
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Puct
from tests.players.positions import random_states


def even(value):
    """An evaluator that knows nothing: equal priors, and one value for all."""

    def evaluate(states, steps, counts):
        priors = np.repeat(1 / counts[:, None], steps.shape[1], 1).astype(np.float32)
        return priors, np.full(len(counts), value, np.float32)

    return evaluate


def asked(state):
    steps = np.zeros((1, kernels.max_steps(state)), np.int32)
    return stack(state, 1), steps, np.array([kernels.write_steps(state, steps[0])], np.int32)


def test_a_counted_ending_replaces_the_value_in_both_directions():
    settling = SettlingEvaluator(even(0.25), amazons=1)
    for side, expected in (("w", 1), ("b", -1)):  # 7 squares against 3
        assert settling(*asked(amazons.from_fen(f"Q3/4/****/q3 {side}")))[1].tolist() == [expected]


def test_open_position_keeps_net_value_and_is_never_certain():
    (state,) = random_states(1, 6)
    for value, expected in ((0.25, 0.25), (1.0, UNSURE), (-1.0, -UNSURE)):
        priors, values = SettlingEvaluator(even(value))(*asked(state))
        assert values.tolist() == [np.float32(expected)]
        np.testing.assert_array_equal(priors, even(value)(*asked(state))[0])


def test_search_proves_win_that_counting_sees_turns_later():
    state = amazons.from_fen("Q3/4/*2*/q3 w")
    puct = Puct(SettlingEvaluator(even(0.0), amazons=1), PuctOptions(solve=True), nodes=1 << 12, per_tree=4)
    found = puct.search(state, Limit(nodes=2000))
    assert found.value == 1
    assert amazons.is_legal(state, found.action)
    assert Puct(even(0.0), nodes=1 << 12, per_tree=4).search(state, Limit(nodes=2000)).value < 1
