import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.games import amazons
from pipeline_src.games.amazons import replay


def slowly(state, actions):
    """`replay` through the one-turn functions."""
    for played, action in enumerate(actions):
        if not amazons.is_legal(state, action):
            return state, played
        state = amazons.play(state, action)
    return state, len(actions)


@given(
    st.integers(0, 10**6),
    st.sampled_from(["standard", "cross"]),
    st.lists(st.tuples(st.integers(0, 90), st.integers(-(2**40), 2**40) | st.integers(0, 10**6)), max_size=2),
)
def test_stops_where_single_turns_do(seed, variant, changes):
    rng, state, actions = random.Random(seed), amazons.initial_state(10, variant), []
    while amazons.has_turn(state):
        actions.append(int(rng.choice(amazons.legal_actions(state))))
        state = amazons.play(state, actions[-1])
    for at, action in changes:
        actions[at : at + 1] = [action]
    start = amazons.initial_state(10, variant)
    after, played = replay(start, actions)
    expected, plies = slowly(amazons.initial_state(10, variant), actions)
    assert played == plies
    for found, wanted, untouched in zip(after, expected, start, strict=True):
        np.testing.assert_array_equal(found, wanted)
        assert not np.shares_memory(found, untouched)
    assert amazons.to_fen(start) == amazons.START[10, variant]


def test_no_turns():
    after, played = replay(amazons.initial_state(), ())
    assert (amazons.to_fen(after), played) == (amazons.STANDARD, 0)
