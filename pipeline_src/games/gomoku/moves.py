"""The rules as kernels that change a state in place."""

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline_src.games.gomoku.board import (
    DRAWN,
    EMPTY,
    EXACT,
    GOING,
    KEYS,
    LINE,
    PLY,
    SIDE,
    SIDE_KEY,
    STANDING,
    WON,
    GomokuState,
)

Ids = npt.NDArray[np.int32]


@njit(cache=True)
def copy_into(state: GomokuState, other: GomokuState) -> None:
    """Make ``other``, a state of the same board size, equal to ``state``."""
    other.board[:] = state.board
    other.moves[:] = state.moves
    other.turn[:] = state.turn
    other.hash[0] = state.hash[0]


@njit(cache=True)
def _run(board: npt.NDArray[np.int8], row: int, column: int, down: int, right: int, colour: int) -> int:
    """Stones of ``colour`` in a row from the cell after (row, column) on, in one direction."""
    height, width = board.shape
    found = 0
    row, column = row + down, column + right
    while 0 <= row < height and 0 <= column < width and board[row, column] == colour:
        found += 1
        row, column = row + down, column + right
    return found


@njit(cache=True)
def line_through(board: npt.NDArray[np.int8], cell: int, colour: int, line: int, exact: bool) -> bool:
    """Whether a stone of ``colour`` on ``cell`` (there or not) makes a winning line."""
    row, column = cell // board.shape[1], cell % board.shape[1]
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        length = 1 + _run(board, row, column, down, right, colour) + _run(board, row, column, -down, -right, colour)
        if length == line or (length > line and not exact):
            return True
    return False


@njit(cache=True)
def any_line(state: GomokuState, colour: int) -> bool:
    """Whether ``colour`` has a winning line anywhere."""
    board = state.board
    for cell in range(board.size):
        if board[cell // board.shape[1], cell % board.shape[1]] == colour and line_through(
            board, cell, colour, state.turn[LINE], state.turn[EXACT] == 1
        ):
            return True
    return False


@njit(cache=True)
def legal(state: GomokuState, action: int) -> bool:
    """Whether the game goes on and ``action``, any int, is an empty cell."""
    board = state.board
    if state.turn[STANDING] != GOING or not 0 <= action < board.size:
        return False
    return bool(board[action // board.shape[1], action % board.shape[1]] == EMPTY)


@njit(cache=True)
def write_actions(state: GomokuState, out: Ids) -> int:
    """Write the empty cells, ascending, to ``out``, none where the game is over; return how many."""
    if state.turn[STANDING] != GOING:
        return 0
    count, cell = 0, 0
    for row in range(state.board.shape[0]):
        for column in range(state.board.shape[1]):
            if state.board[row, column] == EMPTY:
                out[count] = cell
                count += 1
            cell += 1
    return count


@njit(cache=True)
def play(state: GomokuState, action: int) -> None:
    """Place a stone on an empty cell while the game goes on."""
    board, turn = state.board, state.turn
    side = turn[SIDE]
    board[action // board.shape[1], action % board.shape[1]] = side + 1
    state.moves[turn[PLY]] = action
    state.hash[0] ^= KEYS[side, action] ^ SIDE_KEY
    turn[SIDE] = 1 - side
    turn[PLY] += 1
    if line_through(board, action, side + 1, turn[LINE], turn[EXACT] == 1):
        turn[STANDING] = WON
    elif turn[PLY] == board.size:
        turn[STANDING] = DRAWN


@njit(cache=True)
def take_back(state: GomokuState, action: int) -> None:
    """Undo the action just played."""
    board, turn = state.board, state.turn
    side = 1 - turn[SIDE]
    board[action // board.shape[1], action % board.shape[1]] = EMPTY
    state.hash[0] ^= KEYS[side, action] ^ SIDE_KEY
    turn[SIDE] = side
    turn[PLY] -= 1
    turn[STANDING] = GOING
