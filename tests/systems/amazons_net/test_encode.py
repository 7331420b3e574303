import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import from_fen, initial_state
from pipeline_src.games.amazons.notation import parse_square
from pipeline_src.learning.symmetry import transform_boards, transform_squares
from pipeline_src.systems.amazons_net.encode import encode
from tests.games.amazons.reference import SlowAmazons
from tests.systems.amazons_net.positions import GOLDEN_FEN, random_game, slow_samples
from tests.systems.amazons_net.positions import record as record_of
from tests.systems.amazons_net.test_features import slow_plane


def positions(size, count, seed):
    """Boards, movers and moved squares of samples of random games, of both types."""
    rng = np.random.default_rng(seed)
    samples = [s for _ in range(3) for s in slow_samples(record_of(1, *random_game(rng, size), size))]
    chosen = [samples[i] for i in rng.choice(len(samples), min(count, len(samples)), replace=False)]
    boards = np.array([s["board"] for s in chosen], np.int8)
    moved = [-1 if s["type"] == 0 else (size - 1 - s["moved"][1]) * size + s["moved"][0] for s in chosen]
    return boards, np.array([s["mover"] for s in chosen], np.int8), np.array(moved, np.int16)


def slow_legal(board, mover, moved):
    """By the oracle of the rules: {square: squares it reaches} of the mover's amazons, or of the one that moved."""
    slow = SlowAmazons("1/1 w")
    size = len(board)
    letters = {0: "*", 1: ".", 2: "q", 3: "Q"}
    slow.squares = {(size - 1 - i, j): letters[board[i, j]] for i in range(size) for j in range(size)}
    own = [square for square, piece in slow.squares.items() if piece == letters[mover]]
    shooters = [divmod(moved, size)] if moved >= 0 else own
    return {r * size + c: {i * size + j for i, j in slow.reach((r, c))} for r, c in shooters}


def test_golden_position():
    board = np.ascontiguousarray(from_fen(GOLDEN_FEN).board[::-1])
    coded = encode(board[None], np.array([3], np.int8), np.array([-1], np.int16))
    assert coded.amazons.tolist() == [[2, 17, 66, 83]]
    assert coded.legal[0, 3, parse_square("e10")]
    assert not coded.legal[0, 3, parse_square("d8")]  # an arrow
    assert {array.dtype.name for array in coded} == {"float32", "int16", "bool"}


@pytest.mark.parametrize("size", [6, 8, 10])
def test_equals_the_slow_reference_on_random_games(size):
    boards, movers, moved = positions(size, 60, seed=size)
    assert (moved >= 0).any()
    assert (moved < 0).any()
    coded = encode(boards, movers, moved)
    for b in range(len(boards)):
        own = [s for s in range(size * size) if boards[b, size - 1 - s // size, s % size] == movers[b]]
        assert coded.amazons[b].tolist() == own
        for k, s in enumerate(own):
            np.testing.assert_array_equal(coded.features[b, k], slow_plane(boards[b], s).astype(np.float32))
        expected = slow_legal(boards[b], movers[b], moved[b])
        rows = [set(np.flatnonzero(row).tolist()) for row in coded.legal[b]]
        assert rows == ([expected[s] for s in own] if moved[b] < 0 else [expected[moved[b]], set(), set(), set()])


@pytest.mark.parametrize("size", [6, 10])
def test_mover_relative_shows_black_as_white(size):
    boards, movers, moved = positions(size, 40, seed=1)
    swapped = np.choose(boards, np.array([0, 1, 3, 2], np.int8)).astype(np.int8)
    shown = np.where((movers == 2)[:, None, None], swapped, boards)
    relative = encode(boards, movers, moved, mover_relative=True)
    plain = encode(shown, np.full(len(boards), 3, np.int8), moved)
    for ours, expected in zip(relative, plain, strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_moved_first_puts_the_shooter_ahead_and_changes_nothing_else():
    boards, movers, moved = positions(10, 40, seed=2)
    plain, ahead = encode(boards, movers, moved), encode(boards, movers, moved, moved_first=True)
    np.testing.assert_array_equal(plain.legal, ahead.legal)
    for b in range(len(boards)):
        own = plain.amazons[b].tolist()
        order = sorted(range(4), key=lambda k: (own[k] != moved[b], k))
        assert ahead.amazons[b].tolist() == [own[k] for k in order]
        np.testing.assert_array_equal(ahead.features[b], plain.features[b, order])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 7), st.sampled_from([6, 8, 10]), st.integers(0, 50))
def test_encode_of_a_turned_board_is_the_turned_encode(g, size, seed):
    boards, movers, moved = positions(size, 6, seed)
    which = np.full(len(boards), g)
    plain = encode(boards, movers, moved)
    turned = encode(transform_boards(boards, which), movers, transform_squares(moved, which, size))
    for b in range(len(boards)):
        goes = transform_squares(np.arange(size * size), np.full(size * size, g), size)
        for k, s in enumerate(plain.amazons[b]):
            there = turned.amazons[b].tolist().index(goes[s])
            plane = transform_boards(plain.features[b, k][None], which[:1])[0]
            np.testing.assert_array_equal(turned.features[b, there], plane)
            row = 0 if moved[b] >= 0 else there
            assert (turned.legal[b, row, goes] == plain.legal[b, 0 if moved[b] >= 0 else k]).all()


def test_takes_read_only_and_strided_boards():
    boards, movers, moved = positions(10, 12, seed=3)
    expected = encode(boards, movers, moved)
    wide = np.repeat(boards, 2, axis=0)
    wide.flags.writeable = False
    for ours, theirs in zip(encode(wide[::2], movers, moved), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_no_positions_make_empty_arrays():
    coded = encode(np.empty((0, 10, 10), np.int8), np.empty(0, np.int8), np.empty(0, np.int16))
    assert [array.shape for array in coded] == [(0, 4, 10, 10), (0, 4), (0, 4, 100)]


@pytest.mark.parametrize(
    ("fen", "mover", "moved", "message"),
    [
        ("QQQ3/6/6/6/6/qqqq2 w", 3, -1, "QQQ3/.* w: White has 3 amazons; Amazons-Net takes positions with 4"),
        ("QQQQ2/6/6/6/6/qqqqq1 b", 2, -1, "QQQQ2/.* b: Black has 5 amazons"),
        ("QQQQ2/6/6/6/6/qqqq2 w", 3, 0, "no amazon of White on a1 to shoot"),
        ("QQQQ2/6/6/6/6/qqqq2 w", 1, -1, "must be 2 .* or 3 .*, not 1"),
    ],
)
def test_positions_that_cannot_be_encoded(fen, mover, moved, message):
    good = initial_state(6).board[::-1]
    boards = np.stack([good, from_fen(fen).board[::-1]])
    with pytest.raises(ZugwerkError, match=message):
        encode(boards, np.array([3, mover], np.int8), np.array([-1, moved], np.int16))


def test_arrays_of_unequal_length_are_refused():
    with pytest.raises(ZugwerkError, match="2 boards"):
        encode(np.ones((2, 6, 6), np.int8), np.array([3], np.int8), np.array([-1, -1], np.int16))
