import os
import subprocess
import sys

import numpy as np
import pytest

from pipeline_src.games import amazons, kernels
from pipeline_src.games.amazons import board
from pipeline_src.jit import njit


@njit(allocates=True)
def random_game(state, numbers, actions, steps):
    """Play on by ``numbers``, one a ply, then take all of it back; return (plies, hash at the end)."""
    played = np.empty(numbers.size, np.int32)
    plies = 0
    while not kernels.outcome(state)[0]:
        count = kernels.write_actions(state, actions)
        played[plies] = actions[numbers[plies] % count]
        kernels.play(state, played[plies])
        plies += 1
    end = kernels.position_hash(state)
    for ply in range(plies - 1, -1, -1):
        kernels.take_back(state, played[ply])
    return plies, end


@pytest.mark.parametrize("size", [6, 8, 10])
def test_compiled_code_plays_a_game_through_the_generic_functions(size):
    start = board.initial_state(size)
    state = board.copy_state(start)
    numbers = np.random.default_rng(size).integers(0, 1 << 20, 200)
    actions, steps = np.empty(kernels.max_actions(state), np.int32), np.empty(kernels.max_steps(state), np.int32)
    plies, end = random_game(state, numbers, actions, steps)
    assert plies > 8
    assert end != start.hash[0]
    for found, expected in zip(state, start, strict=True):
        np.testing.assert_array_equal(found, expected)
    by_python = board.copy_state(start)
    for ply in range(plies):
        legal = amazons.legal_actions(by_python)
        kernels.play(by_python, int(legal[numbers[ply] % len(legal)]))
    assert kernels.position_hash(by_python) == end
    assert kernels.outcome(by_python) == (True, -1.0)


def test_two_steps_are_a_turn_of_one_side():
    state = board.initial_state(6)
    steps = np.empty(kernels.max_steps(state), np.int32)
    whole = set()
    for i in range(kernels.write_steps(state, steps)):
        moved = board.copy_state(state)
        move = int(steps[i])
        kernels.play_step(moved, move)
        assert kernels.to_play(moved) == kernels.to_play(state)
        assert kernels.outcome(moved) == (False, 0.0)
        arrows = np.empty(kernels.max_steps(state), np.int32)
        for arrow in arrows[: kernels.write_steps(moved, arrows)]:
            after = board.copy_state(moved)
            kernels.play_step(after, int(arrow))
            action = move * 36 + int(arrow)
            whole.add(action)
            for found, expected in zip(after, amazons.play(state, action), strict=True):
                np.testing.assert_array_equal(found, expected)
    assert whole == set(amazons.legal_actions(state).tolist())


def test_a_copy_into_another_state_is_equal():
    state, other = board.from_fen("Q2q/4/*3/4 b"), board.from_fen("3q/4/4/3Q w")
    kernels.copy_into(state, other)
    for found, expected in zip(other, state, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_states_of_no_game_are_refused():
    with pytest.raises(TypeError, match="tuple"):
        kernels.play((1, 2), 3)


def test_without_a_compiler_the_same_functions_dispatch_too():
    code = (
        "from pipeline_src.games import amazons, kernels; s = amazons.initial_state(6); "
        "kernels.play(s, int(amazons.legal_actions(s)[0])); print(kernels.to_play(s), kernels.outcome(s)[0])"
    )
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    out = subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True).stdout
    assert out.split() == ["1", "False"]
