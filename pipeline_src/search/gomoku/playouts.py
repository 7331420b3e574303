"""Uniformly random playouts of Gomoku.

The final state of a playout is not needed, so it is played on a copy of the board with a border, where neighbours of a
cell are at fixed distances: no divisions and no bounds checks.
"""

import numpy as np
import numpy.typing as npt

from pipeline_src.games.gomoku import (
    BLACK,
    EMPTY,
    EXACTLY,
    LINE,
    ONE_END_OPEN,
    RENJU,
    RULE,
    SIDE,
    STANDING,
    WON,
    GomokuState,
    forbidden,
    kind_of_line,
)
from pipeline_src.games.kernels import high_below, implement
from pipeline_src.jit import njit
from pipeline_src.search.mcts.playouts import playout

BORDER = 3


@njit(cache=True)
def _stones(board: npt.NDArray[np.int8], cell: int, step: int) -> int:
    """Return the length of the line through a stone, in both directions of ``step``."""
    colour, length = board[cell], 1
    at = cell + step
    while board[at] == colour:
        length += 1
        at += step
    at = cell - step
    while board[at] == colour:
        length += 1
        at -= step
    return length


@njit(cache=True)
def _shut(board: npt.NDArray[np.int8], cell: int, step: int) -> bool:
    """Whether both ends of the line through a stone are blocked by the other side."""
    colour, end, start = board[cell], cell, cell
    while board[end] == colour:
        end += step
    while board[start] == colour:
        start -= step
    return bool(board[end] == 3 - colour and board[start] == 3 - colour)


@njit(cache=True, allocates=True)
def _playout(state: GomokuState, actions: npt.NDArray[np.int32], random: npt.NDArray[np.uint64]) -> float:
    """Play a random game. Drawing cells without replacement gives every order of stones the same probability."""
    side, line, renju = np.int64(state.turn[SIDE]), np.int64(state.turn[LINE]), state.turn[RULE] == RENJU
    if state.turn[STANDING] == WON:
        return -1.0
    height, width = state.board.shape
    wide = width + 1  # one border cell a row does for both its sides
    board = np.full((height + 2) * wide + 1, BORDER, np.int8)
    rows = board[: (height + 2) * wide].reshape(height + 2, wide)
    n = 0
    for row in range(height):
        for column in range(width):
            cell = (row + 1) * wide + column + 1
            board[cell] = state.board[row, column]
            if board[cell] == EMPTY:
                actions[n] = cell
                n += 1
    mover = side
    for left in range(n, 0, -1):
        at = high_below(random, left)
        if renju and mover + 1 == BLACK:
            tried = 0
            while tried < left and forbidden(rows, actions[at] // wide, actions[at] % wide):
                at, tried = (at + 1) % left, tried + 1
            if tried == left:
                return 0.0
        cell = actions[at]
        actions[at] = actions[left - 1]
        board[cell] = mover + 1
        kind = kind_of_line(state, int(mover) + 1)
        for step in (1, wide - 1, wide, wide + 1):
            length = _stones(board, cell, step)
            if length == line:
                if kind != ONE_END_OPEN or not _shut(board, cell, step):
                    return 1.0 if mover == side else -1.0
            elif length > line and kind != EXACTLY:
                return 1.0 if mover == side else -1.0
        mover = 1 - mover
    return 0.0


implement(playout, GomokuState, _playout)
