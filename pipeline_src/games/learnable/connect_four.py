"""Connect Four: a stone falls to the lowest empty cell of its column; four in a row of one side win.

An action is a column, 0 being file ``a``; row 0 of the board is the top one.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.grid import implement_game
from pipeline_src.jit import njit

SIZES = (7,)  # Columns; there are six rows
SYMMETRIES = "mirror"
SIDE, PLY, STANDING = 0, 1, 2  # Entries of ``turn``
GOING, WON, DRAWN = 0, 1, 2  # How a game stands; it is the last stone that won
KEYS = np.random.default_rng(0).integers(0, 1 << 64, (2, 6, 7), dtype=np.uint64)
"""Random numbers of the hash, by side, row and column; the side to move follows from the number of stones."""


class ConnectFourState(NamedTuple):
    """A position."""

    board: npt.NDArray[np.int8]  # [6, 7]: 0 empty, 1 first's, 2 second's
    turn: npt.NDArray[np.int16]  # [3]: side to move, ply, standing
    hash: npt.NDArray[np.uint64]  # [1]


def initial_state(size: int) -> ConnectFourState:
    """Return the empty board."""
    return ConnectFourState(np.zeros((size - 1, size), np.int8), np.zeros(3, np.int16), np.zeros(1, np.uint64))


@njit(cache=True)
def _in_line(board: npt.NDArray[np.int8], row: int, column: int) -> bool:
    """Whether the stone on a cell is one of four in a row."""
    height, width, stone = board.shape[0], board.shape[1], board[row, column]
    for d in range(4):
        down, right = (0, 1) if d == 0 else (1, d - 2)
        length = 1
        for sign in (1, -1):
            r, c = row + sign * down, column + sign * right
            while 0 <= r < height and 0 <= c < width and board[r, c] == stone:
                length += 1
                r, c = r + sign * down, c + sign * right
        if length >= 4:
            return True
    return False


@njit(cache=True)
def _lowest(board: npt.NDArray[np.int8], column: int) -> int:
    """Return the row of a column's lowest empty cell; -1 if it is full."""
    row = 0
    while row < board.shape[0] and board[row, column] == 0:
        row += 1
    return row - 1


@njit(cache=True)
def _outcome(state: ConnectFourState) -> tuple[bool, float]:
    return state.turn[STANDING] != GOING, -1.0 if state.turn[STANDING] == WON else 0.0


@njit(cache=True)
def _max_actions(state: ConnectFourState) -> int:
    return int(state.board.shape[1])


@njit(cache=True)
def _is_legal(state: ConnectFourState, action: int) -> bool:
    inside = 0 <= action < state.board.shape[1]
    return bool(inside and state.turn[STANDING] == GOING and state.board[0, action] == 0)


@njit(cache=True)
def _play(state: ConnectFourState, action: int) -> None:
    side, row = int(state.turn[SIDE]), _lowest(state.board, action)
    state.board[row, action] = side + 1
    state.hash[0] ^= KEYS[side, row, action]
    state.turn[SIDE] = 1 - side
    state.turn[PLY] += 1
    if _in_line(state.board, row, action):
        state.turn[STANDING] = WON
    elif state.turn[PLY] == state.board.size:
        state.turn[STANDING] = DRAWN


@njit(cache=True)
def _take_back(state: ConnectFourState, action: int) -> None:
    side, row = 1 - int(state.turn[SIDE]), _lowest(state.board, action) + 1
    state.board[row, action] = 0
    state.hash[0] ^= KEYS[side, row, action]
    state.turn[SIDE] = side
    state.turn[PLY] -= 1
    state.turn[STANDING] = GOING


@njit(cache=True)
def _squares(state: ConnectFourState, action: int) -> tuple[int, int]:
    return -1, _lowest(state.board, action) * state.board.shape[1] + action


implement_game(
    ConnectFourState,
    outcome=_outcome,
    max_actions=_max_actions,
    is_legal=_is_legal,
    play=_play,
    take_back=_take_back,
    squares=_squares,
)


def format_move(action: int, height: int, width: int) -> str:
    """Return the letter of a column."""
    return "abcdefg"[action]


def parse_move(text: str, height: int, width: int) -> int:
    """Return the column of a letter. Raises ZugwerkError: there is no such column."""
    column = "abcdefg".find(text.strip().lower() or "-")
    if column < 0 or len(text.strip()) != 1:
        raise ZugwerkError(f"not a move: {text!r}; expected a column, a to g")
    return column
