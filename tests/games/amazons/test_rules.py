import random
import re

import numpy as np
import pytest

from pipeline_src.games import amazons
from tests.games.amazons.reference import SlowAmazons


@pytest.mark.parametrize("size", amazons.SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_random_games_against_the_slow_rules(size, seed):
    rng = random.Random(seed * 100 + size)
    state = amazons.initial_state(size)
    slow = SlowAmazons(amazons.to_fen(state))
    while True:
        assert amazons.to_fen(state).split()[1] == slow.side
        expected = sorted(map(slow.action, slow.turns()))
        found = amazons.legal_actions(state)
        assert sorted(found) == expected
        assert len(found) == amazons.perft(state, 1)
        assert amazons.has_turn(state) == bool(expected)
        if not expected:
            break
        tried = {rng.randrange(state.board.size**3) for _ in range(50)} | set(
            rng.sample(expected, min(20, len(expected)))
        )
        assert {a for a in tried if amazons.is_legal(state, a)} == tried & set(expected)
        action = rng.choice(expected)
        n = state.board.size
        slow.play(*(divmod(s, state.board.shape[1]) for s in (action // n // n, action // n % n, action % n)))
        state = amazons.play(state, action)
    assert amazons.winner(state) == ("second" if slow.side == "w" else "first")


def test_random_games_against_pyffish():
    pyffish = pytest.importorskip("pyffish")
    rng, start = random.Random(7), pyffish.start_fen("amazons")
    for _ in range(3):
        state, played = amazons.initial_state(), []
        while amazons.has_turn(state):
            listed = pyffish.legal_moves("amazons", start, played)
            theirs = {amazons.parse_move("".join(_pyffish_squares(move))) for move in listed}
            ours = amazons.legal_actions(state)
            assert set(ours.tolist()) == theirs
            action = int(rng.choice(ours))
            first, to, arrow = amazons.format_move(action).replace("/", "-").split("-")
            played.append(f"{first}{to},{to}{arrow}")
            state = amazons.play(state, action)


def _pyffish_squares(move):
    """From, to and arrow of pyffish's d1d7,d7g7, which names the landing square twice."""
    start, to, again, arrow = re.findall(r"[a-j]\d+", move)
    assert to == again
    return start, to, arrow


@pytest.mark.parametrize(("size", "variant"), amazons.START)
def test_playing_and_taking_back_restores_every_array(size, variant):
    rng = random.Random(size)
    state = amazons.initial_state(size, variant)
    n = state.board.size
    while amazons.has_turn(state):
        action = int(rng.choice(amazons.legal_actions(state)))
        after = amazons.play(state, action)
        rebuilt = amazons.from_board(after.board, amazons.to_play(after), int(after.turn[2]))
        for found, expected in zip(after, rebuilt, strict=True):
            np.testing.assert_array_equal(found, expected)
        back = amazons.AmazonsState(*(a.copy() for a in after))
        amazons.take_back(back, action // n // n, action // n % n, action % n)
        for found, expected in zip(back, state, strict=True):
            np.testing.assert_array_equal(found, expected)
        state = after


def test_both_starts_of_the_site():
    squares = {
        v: [[amazons.format_square(s) for s in side] for side in amazons.initial_state(10, v).amazons]
        for v in amazons.VARIANTS
    }
    assert squares["standard"] == [["d1", "g1", "a4", "j4"], ["a7", "j7", "d10", "g10"]]
    assert squares["cross"] == [["d1", "g1", "d10", "g10"], ["a4", "j4", "a7", "j7"]]
