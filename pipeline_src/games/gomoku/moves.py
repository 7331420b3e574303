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
    # Loops, since assigning slices costs numba 100 ns and more each; cells in one run, since that is one copy.
    for cell in range(state.board.size):
        other.board.flat[cell] = state.board.flat[cell]
    for ply in range(state.turn[PLY]):
        other.moves[ply] = state.moves[ply]
    for i in range(state.turn.size):
        other.turn[i] = state.turn[i]
    other.hash[0] = state.hash[0]


@njit(cache=True, forceinline=True)
def line_through(board: npt.NDArray[np.int8], cell: int, colour: int, line: int, exact: bool) -> bool:
    """Whether a stone of ``colour`` on ``cell`` (there or not) makes a winning line."""
    height, width = board.shape
    row, column = cell // width, cell % width
    below, right = height - 1 - row, width - 1 - column
    won = False
    for direction in range(4):
        if direction == 0:
            stride, ahead, behind = 1, right, column
        elif direction == 1:
            stride, ahead, behind = width, below, row
        elif direction == 2:
            stride, ahead, behind = width + 1, min(below, right), min(row, column)
        else:
            stride, ahead, behind = width - 1, min(below, column), min(row, right)
        length, i = 1, 1
        while i <= ahead and board.flat[cell + i * stride] == colour:
            length, i = length + 1, i + 1
        i = 1
        while i <= behind and board.flat[cell - i * stride] == colour:
            length, i = length + 1, i + 1
        won = won or length == line or (length > line and not exact)
    return won


@njit(cache=True)
def any_line(state: GomokuState, colour: int) -> bool:
    """Whether ``colour`` has a winning line anywhere."""
    board = state.board
    for cell in range(board.size):
        if board.flat[cell] == colour and line_through(board, cell, colour, state.turn[LINE], state.turn[EXACT] == 1):
            return True
    return False


@njit(cache=True)
def legal(state: GomokuState, action: int) -> bool:
    """Whether the game goes on and ``action``, any int, is an empty cell."""
    board = state.board
    if state.turn[STANDING] != GOING or not 0 <= action < board.size:
        return False
    return bool(board.flat[action] == EMPTY)


@njit(cache=True)
def write_actions(state: GomokuState, out: Ids) -> int:
    """Write the empty cells, ascending, to ``out``, none where the game is over; return how many."""
    if state.turn[STANDING] != GOING:
        return 0
    count = 0
    for cell in range(state.board.size):
        out[count] = cell
        count += 1 if state.board.flat[cell] == EMPTY else 0
    return count


@njit(cache=True)
def play(state: GomokuState, action: int) -> None:
    """Place a stone on an empty cell while the game goes on."""
    board, turn = state.board, state.turn
    side = turn[SIDE]
    board.flat[action] = side + 1
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
    board.flat[action] = EMPTY
    state.hash[0] ^= KEYS[side, action] ^ SIDE_KEY
    turn[SIDE] = side
    turn[PLY] -= 1
    turn[STANDING] = GOING
