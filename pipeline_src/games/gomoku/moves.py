"""The rules as kernels that change a state in place."""

import numpy as np
import numpy.typing as npt

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
from pipeline_src.jit import njit

Ids = npt.NDArray[np.int32]
At = np.uint64
"""Type of an index that cannot be negative: numba leaves out the test for those that count from the end."""


@njit(cache=True)
def copy_into(state: GomokuState, other: GomokuState) -> None:
    """Make ``other``, a state of the same board size, equal to ``state``."""
    cells, others = state.board.flat, other.board.flat  # entry by entry: slices take twenty times as long
    for cell in range(state.board.size):
        others[cell] = cells[cell]
    for ply in range(state.moves.size):
        other.moves[ply] = state.moves[ply]
    for entry in range(state.turn.size):
        other.turn[entry] = state.turn[entry]
    other.hash[0] = state.hash[0]


@njit(cache=True)
def _run(board: npt.NDArray[np.int8], row: int, column: int, down: int, right: int, colour: int) -> int:
    """Stones of ``colour`` in a row from the cell after (row, column) on, in one direction."""
    height, width = board.shape
    found = 0
    row, column = row + down, column + right
    # One test, of the sign, for all four edges: with four of them this loop takes three times as long.
    while (row | column | (height - 1 - row) | (width - 1 - column)) >= 0 and board[At(row), At(column)] == colour:
        found += 1
        row, column = row + down, column + right
    return found


@njit(cache=True)
def _line_at(board: npt.NDArray[np.int8], row: int, column: int, colour: int, line: int, exact: bool) -> bool:
    # Written out by direction, not looped over.
    length = 1 + _run(board, row, column, 0, 1, colour) + _run(board, row, column, 0, -1, colour)
    if length == line or (length > line and not exact):
        return True
    length = 1 + _run(board, row, column, 1, 0, colour) + _run(board, row, column, -1, 0, colour)
    if length == line or (length > line and not exact):
        return True
    length = 1 + _run(board, row, column, 1, 1, colour) + _run(board, row, column, -1, -1, colour)
    if length == line or (length > line and not exact):
        return True
    length = 1 + _run(board, row, column, 1, -1, colour) + _run(board, row, column, -1, 1, colour)
    return length == line or (length > line and not exact)


@njit(cache=True)
def line_through(board: npt.NDArray[np.int8], cell: int, colour: int, line: int, exact: bool) -> bool:
    """Whether a stone of ``colour`` on ``cell`` (there or not) makes a winning line."""
    row = cell // board.shape[1]
    return _line_at(board, row, cell - row * board.shape[1], colour, line, exact)


@njit(cache=True)
def any_line(state: GomokuState, colour: int) -> bool:
    """Whether ``colour`` has a winning line anywhere."""
    board, line, exact = state.board, int(state.turn[LINE]), state.turn[EXACT] == 1
    for row in range(board.shape[0]):
        for column in range(board.shape[1]):
            if board[row, column] == colour and _line_at(board, row, column, colour, line, exact):
                return True
    return False


@njit(cache=True)
def legal(state: GomokuState, action: int) -> bool:
    """Whether the game goes on and ``action``, any int, is an empty cell."""
    board = state.board
    if state.turn[STANDING] != GOING or not 0 <= action < board.size:
        return False
    row = action // board.shape[1]
    return bool(board[row, action - row * board.shape[1]] == EMPTY)


@njit(cache=True)
def write_actions(state: GomokuState, out: Ids) -> int:
    """Write the empty cells, ascending, to ``out``, none where the game is over; return how many."""
    if state.turn[STANDING] != GOING:
        return 0
    cells, count = state.board.flat, 0
    for cell in range(state.board.size):
        out[At(count)] = cell  # without a branch: what is not empty is written over
        count += int(cells[cell] == EMPTY)
    return count


@njit(cache=True)
def play(state: GomokuState, action: int) -> None:
    """Place a stone on an empty cell while the game goes on."""
    board, turn = state.board, state.turn
    side, ply, cell = int(turn[SIDE]), int(turn[PLY]), int(action)
    row = cell // board.shape[1]
    column = cell - row * board.shape[1]
    board[At(row), At(column)] = side + 1
    state.moves[At(ply)] = cell
    state.hash[0] ^= KEYS[At(side), At(cell)] ^ SIDE_KEY
    turn[SIDE] = 1 - side
    turn[PLY] = ply + 1
    if _line_at(board, row, column, side + 1, int(turn[LINE]), turn[EXACT] == 1):
        turn[STANDING] = WON
    elif ply + 1 == board.size:
        turn[STANDING] = DRAWN


@njit(cache=True)
def take_back(state: GomokuState, action: int) -> None:
    """Undo the action just played."""
    board, turn = state.board, state.turn
    side, ply, cell = 1 - int(turn[SIDE]), int(turn[PLY]) - 1, int(action)
    row = cell // board.shape[1]
    board[At(row), At(cell - row * board.shape[1])] = EMPTY
    state.moves[At(ply)] = -1
    state.hash[0] ^= KEYS[At(side), At(cell)] ^ SIDE_KEY
    turn[SIDE] = side
    turn[PLY] = ply
    turn[STANDING] = GOING
