import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import from_fen, initial_state
from pipeline_src.games.amazons.notation import parse_square
from pipeline_src.learning.symmetry import transform_boards, transform_squares
from pipeline_src.systems.amazons_net.encode import encode
from pipeline_src.systems.amazons_net.planes import PLANES, encode_planes
from tests.systems.amazons_net.positions import GOLDEN_BOARD, GOLDEN_FEN, matrix
from tests.systems.amazons_net.test_encode import positions

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
    """Written from the table at the head of `pipeline_src.systems.amazons_net.planes`."""
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
def test_equals_the_slow_reference_on_random_games(size):
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


def test_golden_position():
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


def test_no_positions_make_empty_arrays():
    coded = encode_planes(np.empty((0, 10, 10), np.int8), np.empty(0, np.int8), np.empty(0, np.int16))
    assert [array.shape for array in coded] == [(0, PLANES, 10, 10), (0, 4), (0, 4, 100)]


def test_positions_that_cannot_be_encoded():
    good = initial_state(6).board[::-1]
    boards = np.stack([good, from_fen("QQQ3/6/6/6/6/qqqq2 w").board[::-1]])
    with pytest.raises(ZugwerkError, match="White has 3 amazons"):
        encode_planes(boards, np.array([3, 3], np.int8), np.array([-1, -1], np.int16))
    with pytest.raises(ZugwerkError, match="no amazon of White on a1 to shoot"):
        encode_planes(boards[:1], np.array([3], np.int8), np.array([0], np.int16))
