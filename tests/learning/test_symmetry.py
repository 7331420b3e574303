import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.symmetry import (
    COUNT,
    INDEX,
    INVERSE,
    board_maps,
    square_maps,
    transform_boards,
    transform_squares,
)

SIZES = (6, 8, 10)


@pytest.mark.parametrize("size", SIZES)
def test_eight_different_permutations_closed_under_composition(size):
    maps = square_maps(size)
    assert maps.dtype == np.int16
    forms = {tuple(row) for row in maps.tolist()}
    assert len(forms) == COUNT == 8
    for g in range(COUNT):
        assert sorted(maps[g]) == list(range(size * size))
        assert (maps[INVERSE[g]][maps[g]] == np.arange(size * size)).all()
        for h in range(COUNT):
            assert tuple(maps[h][maps[g]].tolist()) in forms


def test_names_describe_the_symmetries():
    a1, b1, j1, a10, j10 = 0, 1, 9, 90, 99
    goes = {name: square_maps(10)[g, [a1, b1]].tolist() for name, g in INDEX.items()}
    assert goes == {
        "identity": [a1, b1],
        "rotate_90": [j1, 19],  # anticlockwise: b1 to j2
        "rotate_180": [j10, 98],
        "rotate_270": [a10, 80],
        "mirror_files": [j1, 8],
        "mirror_ranks": [a10, 91],
        "mirror_diagonal": [a1, 10],
        "mirror_antidiagonal": [j10, 89],
    }


@pytest.mark.parametrize("size", SIZES)
def test_boards_turn_as_they_look(size):
    board = np.arange(size * size, dtype=np.int8).reshape(1, size, size)  # row 0 is the top rank, as printed
    turned = {name: transform_boards(board, np.array([g]))[0] for name, g in INDEX.items()}
    for k, name in enumerate(("identity", "rotate_90", "rotate_180", "rotate_270")):
        np.testing.assert_array_equal(turned[name], np.rot90(board[0], k))
    np.testing.assert_array_equal(turned["mirror_files"], board[0, :, ::-1])
    np.testing.assert_array_equal(turned["mirror_ranks"], board[0, ::-1])
    np.testing.assert_array_equal(turned["mirror_diagonal"], board[0, ::-1, ::-1].T)
    np.testing.assert_array_equal(turned["mirror_antidiagonal"], board[0].T)


@given(st.integers(0, 7), st.sampled_from(SIZES), st.data())
def test_boards_and_squares_go_together_and_come_back(g, size, data):
    square = data.draw(st.integers(0, size * size - 1))
    board = np.ones((1, size, size), np.int8)
    board[0, size - 1 - square // size, square % size] = 3
    turned = transform_boards(board, np.array([g]))
    there = int(transform_squares(np.array([square]), np.array([g]), size)[0])
    assert turned[0, size - 1 - there // size, there % size] == 3
    back = np.array([INVERSE[g]])
    np.testing.assert_array_equal(transform_boards(turned, back), board)
    assert transform_squares(np.array([there]), back, size)[0] == square


def test_each_board_turns_by_itself_and_missing_squares_stay_missing():
    boards = np.random.default_rng(0).integers(0, 4, (8, 6, 6)).astype(np.int8)
    which = np.arange(8)[::-1]
    together = transform_boards(boards, which)
    for i in range(8):
        np.testing.assert_array_equal(together[i], transform_boards(boards[i : i + 1], which[i : i + 1])[0])
    assert (transform_squares(np.full(8, -1), which, 6) == -1).all()


def test_tables_cannot_be_changed_by_a_caller():
    for table in (square_maps(10), board_maps(10)):
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 1


def test_oblong_boards_are_refused():
    with pytest.raises(ZugwerkError, match="6x8"):
        transform_boards(np.ones((1, 6, 8), np.int8), np.zeros(1, np.int64))
