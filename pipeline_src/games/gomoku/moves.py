"""The rules of Gomoku as kernels that change a state in place."""

import numpy as np
import numpy.typing as npt

from pipeline_src.games.gomoku.board import (
    AT_LEAST,
    BLACK,
    CARO,
    DRAWN,
    EMPTY,
    EXACT,
    EXACTLY,
    FIRST,
    GOING,
    KEYS,
    LINE,
    ONE_END_OPEN,
    PLY,
    RENJU,
    RULE,
    SIDE,
    SIDE_KEY,
    STANDING,
    WON,
    GomokuState,
)
from pipeline_src.games.gomoku.renju import count_near, forbidden, may_be_forbidden
from pipeline_src.games.gomoku.rows import At, line_at
from pipeline_src.jit import njit

Ids = npt.NDArray[np.int32]


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
def kind_of_line(state: GomokuState, colour: int) -> int:
    """Return the kind of line that wins for a colour: `AT_LEAST`, `EXACTLY` or `ONE_END_OPEN`."""
    rule = state.turn[RULE]
    if rule == RENJU:
        return EXACTLY if colour == BLACK else AT_LEAST
    return ONE_END_OPEN if rule == CARO else EXACTLY if rule == EXACT else AT_LEAST


@njit(cache=True)
def line_through(board: npt.NDArray[np.int8], cell: int, colour: int, line: int, kind: int) -> bool:
    """Whether a stone of ``colour`` on ``cell``, already placed or not, makes a winning line; see `kind_of_line`."""
    row = cell // board.shape[1]
    return bool(line_at(board, row, cell - row * board.shape[1], colour, line, kind))


@njit(cache=True)
def any_line(state: GomokuState, colour: int) -> bool:
    """Whether ``colour`` has a winning line anywhere."""
    board, line, kind = state.board, int(state.turn[LINE]), kind_of_line(state, colour)
    for row in range(board.shape[0]):
        for column in range(board.shape[1]):
            if board[row, column] == colour and line_at(board, row, column, colour, line, kind):
                return True
    return False


@njit(cache=True)
def nowhere_to_play(state: GomokuState) -> bool:
    """Whether it is Black's turn in Renju and every empty cell is forbidden, which is a draw."""
    if state.turn[RULE] != RENJU or state.turn[SIDE] != FIRST:
        return False
    board = state.board
    for row in range(board.shape[0]):
        for column in range(board.shape[1]):
            if board[row, column] == EMPTY and not forbidden(board, row, column):
                return False
    return True


@njit(cache=True)
def legal(state: GomokuState, action: int) -> bool:
    """Whether the game is unfinished and ``action``, any int, is an empty cell that Renju does not forbid."""
    board = state.board
    if state.turn[STANDING] != GOING or not 0 <= action < board.size:
        return False
    row = action // board.shape[1]
    if board[row, action - row * board.shape[1]] != EMPTY:
        return False
    if state.turn[RULE] != RENJU or state.turn[SIDE] != FIRST:
        return True
    return not forbidden(board, row, action - row * board.shape[1])


@njit(cache=True)
def write_actions(state: GomokuState, out: Ids) -> int:
    """Write the legal cells, ascending, to ``out``, or nothing if the game is over; return their number."""
    if state.turn[STANDING] != GOING:
        return 0
    cells, count = state.board.flat, 0
    if state.turn[RULE] == RENJU and state.turn[SIDE] == FIRST:
        width = state.board.shape[1]
        count_near(state.board, out)  # the counts of cells that are still to come lie behind the cells written
        for cell in range(state.board.size):
            doubtful = may_be_forbidden(int(out[At(cell)]))
            if cells[cell] == EMPTY and not (doubtful and forbidden(state.board, cell // width, cell % width)):
                out[At(count)] = cell
                count += 1
        return count
    for cell in range(state.board.size):
        out[At(count)] = cell  # without a branch: the next write replaces a cell that is not empty
        count += int(cells[cell] == EMPTY)
    return count


@njit(cache=True)
def play(state: GomokuState, action: int) -> None:
    """Place a stone on a legal cell, in place."""
    board, turn = state.board, state.turn
    side, ply, cell = int(turn[SIDE]), int(turn[PLY]), int(action)
    row = cell // board.shape[1]
    column = cell - row * board.shape[1]
    board[At(row), At(column)] = side + 1
    state.moves[At(ply)] = cell
    state.hash[0] ^= KEYS[At(side), At(cell)] ^ SIDE_KEY
    turn[SIDE] = 1 - side
    turn[PLY] = ply + 1
    if line_at(board, row, column, side + 1, int(turn[LINE]), kind_of_line(state, side + 1)):
        turn[STANDING] = WON
    elif ply + 1 == board.size or nowhere_to_play(state):
        turn[STANDING] = DRAWN


@njit(cache=True)
def take_back(state: GomokuState, action: int) -> None:
    """Undo the last action, in place."""
    board, turn = state.board, state.turn
    side, ply, cell = 1 - int(turn[SIDE]), int(turn[PLY]) - 1, int(action)
    row = cell // board.shape[1]
    board[At(row), At(cell - row * board.shape[1])] = EMPTY
    state.moves[At(ply)] = -1
    state.hash[0] ^= KEYS[At(side), At(cell)] ^ SIDE_KEY
    turn[SIDE] = side
    turn[PLY] = ply
    turn[STANDING] = GOING
