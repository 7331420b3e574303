import random

import numpy as np
import pytest

from pipeline_src.games.amazons import board, turns
from pipeline_src.players.amazons_basic import one_ply_values
from pipeline_src.search.evaluators.amazons import PHASES, TEMPO, evaluate

FAR = 99


def distances(state, side, queen):
    """Moves a side needs to each square, breadth first; FAR where it never comes."""
    height, width = state.board.shape
    found = np.full((height, width), FAR)
    frontier = [divmod(int(s), width) for s in state.amazons[side] if s >= 0]
    steps = 0
    while frontier:
        steps += 1
        reached = []
        for r, c in frontier:
            for dr, dc in [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]:
                y, x = r + dr, c + dc
                while 0 <= y < height and 0 <= x < width and state.board[y, x] == board.EMPTY:
                    if found[y, x] == FAR:
                        found[y, x] = steps
                        reached.append((y, x))
                    if not queen:
                        break
                    y, x = y + dr, x + dc
        frontier = reached
    return found


def slow_evaluation(state):
    side = board.to_play(state)
    terms = []
    for queen in (True, False):
        own, other = distances(state, side, queen), distances(state, 1 - side, queen)
        t = c = 0.0
        for a, b in zip(own.ravel(), other.ravel(), strict=True):
            t += 1 if a < b else -1 if a > b else TEMPO if a < FAR else 0
            c += 2 * ((2.0**-a if a < FAR else 0) - (2.0**-b if b < FAR else 0))
        terms.append((t, c))
    (t1, c1), (t2, _) = terms
    ply = state.turn[2]
    return PHASES[0 if ply < 20 else 1 if ply < 50 else 2] @ [t1, t2, c1], terms


def test_start_position_has_the_known_terms():
    value, ((t1, c1), (t2, _)) = slow_evaluation(board.initial_state())
    assert (t1, t2, c1) == pytest.approx((9.6, 3.2, 0.0))
    assert evaluate(board.initial_state()) == pytest.approx(value)


@pytest.mark.parametrize(("size", "variant"), board.START)
def test_evaluation_and_one_ply_values_against_the_slow_reference(size, variant):
    rng = random.Random(size)
    checked = 0
    for _ in range(4):
        state = board.initial_state(size, variant)
        while turns.has_turn(state):
            actions, values = one_ply_values(state)
            np.testing.assert_array_equal(actions, turns.legal_actions(state))
            i = rng.randrange(len(actions))
            state = turns.play(state, int(actions[i]))
            expected, _ = slow_evaluation(state)
            assert evaluate(state) == pytest.approx(expected)
            assert values[i] == pytest.approx(-expected)  # what is good for one side is bad for the other
            checked += 1
    assert checked > 40


def test_weights_of_every_phase_add_up_to_one():
    assert PHASES.sum(axis=1) == pytest.approx(1)
