"""Rows of stones on a board: their lengths, and whether they win."""

import numpy as np
import numpy.typing as npt

from pipeline_src.games.gomoku.board import EMPTY, EXACTLY
from pipeline_src.jit import njit

Board = npt.NDArray[np.int8]
At = np.uint64
"""Type of an index that cannot be negative: numba then omits the test for indices that count from the end."""


@njit(cache=True)
def on_board(board: Board, row: int, column: int) -> bool:
    """Whether a cell is on the board."""
    height, width = board.shape
    return bool((row | column | (height - 1 - row) | (width - 1 - column)) >= 0)


@njit(cache=True)
def run(board: Board, row: int, column: int, down: int, right: int, colour: int) -> int:
    """Count the stones of ``colour`` in a row that starts at the cell after (row, column), in one direction."""
    height, width = board.shape
    found = 0
    row, column = row + down, column + right
    # One test, of the sign, for all four edges: with four of them this loop takes three times as long.
    while (row | column | (height - 1 - row) | (width - 1 - column)) >= 0 and board[At(row), At(column)] == colour:
        found += 1
        row, column = row + down, column + right
    return found


@njit(cache=True)
def line_at(board: Board, row: int, column: int, colour: int, line: int, kind: int) -> bool:
    """Whether a stone of ``colour`` on a cell, placed or not, makes a winning line; see `moves.kind_of_line`."""
    # Written out for each direction instead of a loop.
    exact = kind == EXACTLY
    if kind > EXACTLY:
        return bool(_open_line_at(board, row, column, colour, line))
    length = 1 + run(board, row, column, 0, 1, colour) + run(board, row, column, 0, -1, colour)
    if length == line or (length > line and not exact):
        return True
    length = 1 + run(board, row, column, 1, 0, colour) + run(board, row, column, -1, 0, colour)
    if length == line or (length > line and not exact):
        return True
    length = 1 + run(board, row, column, 1, 1, colour) + run(board, row, column, -1, -1, colour)
    if length == line or (length > line and not exact):
        return True
    length = 1 + run(board, row, column, 1, -1, colour) + run(board, row, column, -1, 1, colour)
    return length == line or (length > line and not exact)


@njit(cache=True)
def _open_line_at(board: Board, row: int, column: int, colour: int, line: int) -> bool:
    """`line_at` for the kind `ONE_END_OPEN`: a line of exactly the winning length needs an end that is not blocked."""
    for d in range(4):
        down, right = (0, 1) if d == 0 else (1, d - 2)
        ahead, behind = run(board, row, column, down, right, colour), run(board, row, column, -down, -right, colour)
        if ahead + behind + 1 < line:
            continue
        if ahead + behind + 1 > line:
            return True
        shut = _stone(board, row + (ahead + 1) * down, column + (ahead + 1) * right)
        if not (shut and _stone(board, row - (behind + 1) * down, column - (behind + 1) * right)):
            return True
    return False


@njit(cache=True)
def _stone(board: Board, row: int, column: int) -> bool:
    return bool(on_board(board, row, column) and board[At(row), At(column)] != EMPTY)
