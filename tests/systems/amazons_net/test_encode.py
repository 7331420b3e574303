import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons import from_fen, initial_state, parse_square
from pipeline_src.learning.symmetry import transform_boards, transform_squares
from pipeline_src.systems.amazons_net.encode import PLANES, describe_features, encode, encode_planes, features
from tests.games.amazons_reference import SlowAmazons
from tests.systems.amazons_net.positions import GOLDEN_BOARD, GOLDEN_C1, GOLDEN_FEN, matrix, random_game, slow_samples
from tests.systems.amazons_net.positions import record as record_of


def slow_plane(board, square):
    """Equation 1, one cell at a time."""
    height, width = board.shape
    r, c = height - 1 - square // width, square % width
    plane = np.empty((height, width))
    for i in range(height):
        for j in range(width):
            box = board[min(r, i) : max(r, i) + 1, min(c, j) : max(c, j) + 1]
            plane[i, j] = 100 * box.sum(dtype=np.int64) / box.size
    return plane


def test_golden_fen_is_the_printed_board():
    np.testing.assert_array_equal(from_fen(GOLDEN_FEN).board[::-1] * 100.0, matrix(GOLDEN_BOARD))


def test_golden_features_to_the_printed_decimal():
    plane = features((matrix(GOLDEN_BOARD) / 100).astype(np.int8)[None], np.array([[2]], np.int16))
    assert plane.shape == (1, 1, 10, 10)
    assert plane.dtype == np.float32
    assert np.abs(plane[0, 0] - matrix(GOLDEN_C1)).max() < 0.051


@pytest.mark.parametrize("shape", [(10, 10), (8, 8), (6, 6), (5, 9)])
def test_equals_the_definition_from_every_square(shape):
    rng = np.random.default_rng(5)
    boards = rng.integers(0, 4, (3, *shape)).astype(np.int8)
    squares = np.tile(np.arange(shape[0] * shape[1], dtype=np.int16), (3, 1))
    fast, exact = features(boards, squares), features(boards, squares, np.float64)
    for b in range(3):
        for s in squares[b]:
            plane = slow_plane(boards[b], s)
            np.testing.assert_array_equal(exact[b, s], plane)
            np.testing.assert_array_equal(fast[b, s], plane.astype(np.float32))


def test_a_square_off_the_board_is_refused():
    for square in (-1, 36):
        with pytest.raises(ZugwerkError, match="board of 36 squares"):
            features(np.ones((1, 6, 6), np.int8), np.array([[0, square]], np.int16))


def test_description_of_the_golden_position():
    described = json.loads(json.dumps(describe_features(GOLDEN_FEN)))
    assert described["amazons"] == ["c1", "h2", "g7", "d9"]
    assert np.shape(described["features"]) == (4, 10, 10)
    np.testing.assert_allclose(described["features"][0], matrix(GOLDEN_C1), atol=0.051)
    assert described["features"][0][0][4] == 1860 / 18  # unrounded: 18 cells of 0, 100, 200 and 300
    board = from_fen(GOLDEN_FEN).board[::-1]
    for plane, square in zip(described["features"], (2, 17, 66, 83), strict=True):
        np.testing.assert_array_equal(plane, slow_plane(board, square))


def test_description_is_the_movers():
    assert describe_features(GOLDEN_FEN[:-1] + "b")["amazons"] == ["c2", "i5", "d6", "c9"]
    assert np.shape(describe_features("1q2q1/q4q/6/6/Q4Q/1Q2Q1 w")["features"]) == (4, 6, 6)


@pytest.mark.parametrize(("fen", "count"), [("Q2/3/2q w", 1), ("QQQ/3/2q w", 3), ("3/3/2q w", 0)])
def test_description_needs_four_amazons(fen, count):
    with pytest.raises(ZugwerkError, match=f"has {count} amazons; Amazons-Net takes positions with 4"):
        describe_features(fen)


def test_description_of_a_bad_fen():
    with pytest.raises(ZugwerkError, match="bad FEN"):
        describe_features("10/10 w")


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
        ("QQQQ2/6/6/6/6/qqq3 b", 2, -1, "QQQQ2/.* b: Black has 3 amazons"),
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


STEPS = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]


def neighbours(board, cell, far):
    """Cells a king (or, with ``far``, a queen) on ``cell`` may go to."""
    found = []
    for i, j in STEPS:
        r, c = cell[0] + i, cell[1] + j
        while 0 <= r < board.shape[0] and 0 <= c < board.shape[1] and board[r, c] == 1:
            found.append((r, c))
            r, c = (r + i, c + j) if far else (-1, -1)
    return found


def moves_needed(board, colour, far):
    """{cell: fewest moves} from the pieces of a colour, by breadth-first search; the pieces themselves are at 0."""
    cells = [tuple(cell) for cell in np.argwhere(board == colour)]
    needed = dict.fromkeys(cells, 0)
    for cell in cells:
        for target in neighbours(board, cell, far):
            if target not in needed:
                needed[target] = needed[cell] + 1
                cells.append(target)
    return needed


def slow_planes(board, mover, moved):
    """Written from the table at the head of `pipeline_src.systems.amazons_net.encode`."""
    height, width = board.shape
    planes = np.zeros((PLANES, height, width), np.float32)
    other = 5 - mover
    for plane, code in enumerate((mover, other, 0, 1)):
        planes[plane] = board == code
    if moved >= 0:
        cell = (height - 1 - moved // width, moved % width)
        planes[(4, *cell)] = 1
        for target in neighbours(board, cell, far=True):
            planes[(5, *target)] = 1
    for side, colour in enumerate((mover, other)):
        for cell, d in moves_needed(board, colour, far=True).items():
            for k in (1, 2, 3):
                planes[(5 + k + 3 * side, *cell)] = 1 <= d <= k
        for cell, d in moves_needed(board, colour, far=False).items():
            planes[(12 + side, *cell)] = np.float32(1) / np.float32(d) if 1 <= d <= 9 else 0
    for cell in np.argwhere(board == 1):
        planes[(14, *cell)] = len(neighbours(board, cell, far=True)) / 35
    return planes


@pytest.mark.parametrize("size", [6, 8, 10])
def test_equals_the_slow_reference_on_random_games_of_planes(size):
    boards, movers, moved = positions(size, 60, seed=size)
    assert (moved >= 0).any()
    assert (moved < 0).any()
    coded = encode_planes(boards, movers, moved)
    assert coded.features.dtype == np.float32
    for b in range(len(boards)):
        np.testing.assert_allclose(coded.features[b], slow_planes(boards[b], movers[b], moved[b]), rtol=1e-6)
    seen = coded.features.any((0, 2, 3))
    assert seen.all()


def test_a_maze_takes_more_moves_than_are_counted():
    board = np.zeros((10, 10), np.int8)
    board[::2] = 1
    board[1, 9] = board[3, 0] = board[5, 9] = board[7, 0] = 1
    board[0, :4], board[9, :4] = 3, 2
    coded = encode_planes(board[None], np.array([3], np.int8), np.array([-1], np.int16))
    np.testing.assert_allclose(coded.features[0], slow_planes(board, 3, -1), rtol=1e-6)
    assert not coded.features[0, 8, 8].any()  # more than 3 queen moves away
    assert not coded.features[0, 12, 8].any()  # more than 9 king moves away


@pytest.mark.parametrize("size", [6, 10])
def test_amazons_and_legal_squares_are_those_of_the_other_encoder(size):
    batch = positions(size, 40, seed=5)
    ours, theirs = encode_planes(*batch), encode(*batch)
    np.testing.assert_array_equal(ours.amazons, theirs.amazons)
    np.testing.assert_array_equal(ours.legal, theirs.legal)


def test_golden_position_of_planes():
    board = np.ascontiguousarray(from_fen(GOLDEN_FEN).board[::-1])
    planes = encode_planes(board[None], np.array([3], np.int8), np.array([-1], np.int16)).features[0]
    shown = matrix(GOLDEN_BOARD)
    np.testing.assert_array_equal(planes[:4], [shown == code for code in (300, 200, 0, 100)])
    assert not planes[4:6].any()

    def at(plane, square):
        rank, file = divmod(parse_square(square), 10)
        return planes[plane, 9 - rank, file]

    assert at(0, "d9") == at(6, "e10") == at(12, "e10") == 1
    assert at(1, "c9") == at(9, "c10") == 1
    assert at(2, "g9") == 1
    assert at(12, "f10") == pytest.approx(1 / 2)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 7), st.sampled_from([6, 8, 10]), st.integers(0, 50))
def test_planes_of_a_turned_board_are_the_turned_planes(g, size, seed):
    boards, movers, moved = positions(size, 6, seed)
    which = np.full(len(boards), g)
    plain = encode_planes(boards, movers, moved).features
    turned = encode_planes(transform_boards(boards, which), movers, transform_squares(moved, which, size)).features
    for k in range(PLANES):
        np.testing.assert_array_equal(turned[:, k], transform_boards(plain[:, k], which))


def test_swapping_colours_and_mover_changes_nothing():
    boards, movers, moved = positions(8, 40, seed=4)
    swapped = np.choose(boards, np.array([0, 1, 3, 2], np.int8)).astype(np.int8)
    np.testing.assert_array_equal(
        encode_planes(boards, movers, moved).features,
        encode_planes(swapped, (5 - movers).astype(np.int8), moved).features,
    )


def test_no_positions_make_empty_arrays_of_planes():
    coded = encode_planes(np.empty((0, 10, 10), np.int8), np.empty(0, np.int8), np.empty(0, np.int16))
    assert [array.shape for array in coded] == [(0, PLANES, 10, 10), (0, 4), (0, 4, 100)]


def test_positions_that_cannot_be_encoded_of_planes():
    good = initial_state(6).board[::-1]
    boards = np.stack([good, from_fen("QQQ3/6/6/6/6/qqqq2 w").board[::-1]])
    with pytest.raises(ZugwerkError, match="White has 3 amazons"):
        encode_planes(boards, np.array([3, 3], np.int8), np.array([-1, -1], np.int16))
    with pytest.raises(ZugwerkError, match="no amazon of White on a1 to shoot"):
        encode_planes(boards[:1], np.array([3], np.int8), np.array([0], np.int16))
