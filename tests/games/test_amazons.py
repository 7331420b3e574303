import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.games import amazons
from pipeline_src.games.amazons import replay
from tests.games.amazons_reference import SlowAmazons


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
    while amazons.winner(state) is None:
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


@pytest.mark.parametrize("text", ["D9-E10/E5", "d9-e10/e5", "d9e10e5", "d9-e10(e5)", " d9-e10/e5\n", "D9E10E5"])
def test_every_dialect_reads_as_one_action(text):
    assert amazons.parse_move(text) == (83 * 100 + 94) * 100 + 44
    assert amazons.format_move(amazons.parse_move(text)) == "d9-e10/e5"


@given(st.integers(3, 10), st.integers(3, 10), st.integers(0, 2**32), st.sampled_from([0, 1]))
def test_fen_round_trip(height, width, seed, side):
    rng = np.random.default_rng(seed)
    squares = rng.choice([amazons.ARROW, amazons.EMPTY, amazons.EMPTY], (height, width)).astype(np.int8)
    places = rng.permutation(squares.size)[:8]
    for colour, some in ((amazons.WHITE, places[:4]), (amazons.BLACK, places[4:])):
        squares.ravel()[some[: rng.integers(5)]] = colour
    state = amazons.from_board(squares, side)
    again = amazons.from_fen(amazons.to_fen(state))
    for found, expected in zip(again, state, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("more", ["", " 0", " 0 1", " - -", " - - 0 1", "\t- -  12 34"])
@pytest.mark.parametrize("hand", ["", "[]", "[-]", "[" + "P" * 46 + "p" * 46 + "]"])
def test_fields_of_chess_programs_are_read_over(hand, more):
    ranks, side = amazons.STANDARD.split()
    assert amazons.to_fen(amazons.from_fen(f"{ranks}{hand} {side}{more}")) == amazons.STANDARD


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
        assert (amazons.winner(state) is None) == bool(expected)
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
        while amazons.winner(state) is None:
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
    while amazons.winner(state) is None:
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
