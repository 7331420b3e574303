import json

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import from_fen
from pipeline_src.systems.amazons_net.describe import describe_features
from pipeline_src.systems.amazons_net.features import features
from tests.systems.amazons_net.positions import GOLDEN_BOARD, GOLDEN_C1, GOLDEN_FEN, matrix


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


@pytest.mark.parametrize(("fen", "count"), [("Q2/3/2q w", 1), ("QQQ/QQ1/2q w", 5), ("3/3/2q w", 0)])
def test_description_needs_four_amazons(fen, count):
    with pytest.raises(ZugwerkError, match=f"has {count} amazons; Amazons-Net takes positions with 4"):
        describe_features(fen)


def test_description_of_a_bad_fen():
    with pytest.raises(ZugwerkError, match="bad FEN"):
        describe_features("10/10 w")
