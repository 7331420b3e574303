import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons


@pytest.mark.parametrize("text", ["D9-E10/E5", "d9-e10/e5", "d9e10e5", "d9-e10(e5)", " d9-e10/e5\n", "D9E10E5"])
def test_every_dialect_reads_as_one_action(text):
    assert amazons.parse_move(text) == (83 * 100 + 94) * 100 + 44
    assert amazons.format_move(amazons.parse_move(text)) == "d9-e10/e5"


@given(st.integers(0, 10**6 - 1))
def test_move_text_round_trip(action):
    assert amazons.parse_move(amazons.format_move(action)) == action


@pytest.mark.parametrize(
    "text", ["", "d9", "d9-e10", "d9-e10/e11", "d0-e1/e2", "k1-a1/a2", "d9-e10/e5x", "d9-e10(e5", "d9-e10/e\u0665"]
)
def test_bad_move_text_is_named(text):
    with pytest.raises(ZugwerkError, match="not a turn"):
        amazons.parse_move(text)


def test_squares_outside_a_small_board_are_refused():
    with pytest.raises(ZugwerkError, match="6x6"):
        amazons.parse_move("a1-a2/a7", 6, 6)
    with pytest.raises(ZugwerkError, match="6x6"):
        amazons.parse_move("a1-a2/g1", 6, 6)


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


@pytest.mark.parametrize(
    ("fen", "message"),
    [
        ("", "expected ranks"),
        (amazons.STANDARD[:-1] + "x", "expected ranks"),
        (f"{amazons.STANDARD} - - 0 1 2", "expected ranks"),
        (f"{amazons.STANDARD} KQkq - 0 1", "'KQkq' after the side to move is neither '-' nor a number"),
        (amazons.STANDARD.replace(" w", "[PPp w"), "unknown letter"),
        (amazons.STANDARD.replace("3q2q3", "3q2q2"), "9, 10, 10"),
        (amazons.STANDARD.replace("q8q", "q8k"), "unknown letter 'k'"),
        ("2/2 w", "board 2x2"),
        ("3q2q3 w", "board 1x10"),
        ("11/11/11 w", "board 3x11"),
        ("0q2/3/3 w", "run of 0"),
        (amazons.STANDARD.replace("10", "99999999999", 1), "run of"),
        ("QQ1/QQQ/q2 w", "5 amazons of one side; at most 4 can be played"),
        ("Q2/qqq/1qq b", "5 amazons of one side"),
    ],
)
def test_bad_fen_names_the_error(fen, message):
    with pytest.raises(ZugwerkError, match=message):
        amazons.from_fen(fen)


@pytest.mark.parametrize("more", ["", " 0", " 0 1", " - -", " - - 0 1", "\t- -  12 34"])
@pytest.mark.parametrize("hand", ["", "[]", "[-]", "[" + "P" * 46 + "p" * 46 + "]"])
def test_fields_of_chess_programs_are_read_over(hand, more):
    ranks, side = amazons.STANDARD.split()
    assert amazons.to_fen(amazons.from_fen(f"{ranks}{hand} {side}{more}")) == amazons.STANDARD


def test_unknown_start_lists_the_known():
    with pytest.raises(ValueError, match="10 standard, 10 cross, 8 standard"):
        amazons.initial_state(9)
