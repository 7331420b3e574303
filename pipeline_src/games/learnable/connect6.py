"""Connect6: six stones in a row win; the first side begins with one stone, then each side places two in a turn.

An action is the cell of one stone, so that the same side makes two in a row. A full board is a draw.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.grid import implement_game
from pipeline_src.jit import njit

SIZES = (15, 19)
SIDE, STONES, STANDING = 0, 1, 2  # Entries of ``turn``
GOING, WON, DRAWN = 0, 1, 2  # How a game stands; it is the last stone that won
LINE = 6
KEYS = np.random.default_rng(0).integers(0, 1 << 64, (2, 19 * 19), dtype=np.uint64)
"""Random numbers of the hash, by side and cell; the side to move follows from the number of stones."""


class Connect6State(NamedTuple):
    """A position."""

    board: npt.NDArray[np.int8]  # [H, W]: 0 empty, 1 first's, 2 second's
    turn: npt.NDArray[np.int16]  # [3]: side to move, stones on the board, standing
    hash: npt.NDArray[np.uint64]  # [1]


def initial_state(size: int) -> Connect6State:
    """Return the empty board."""
    return Connect6State(np.zeros((size, size), np.int8), np.zeros(3, np.int16), np.zeros(1, np.uint64))


@njit(cache=True)
def _side_after(stones: int) -> int:
    """Return the side that places the next stone: one of the first side, then two each."""
    return ((stones + 1) // 2) % 2


@njit(cache=True)
def _in_line(board: npt.NDArray[np.int8], row: int, column: int) -> bool:
    """Whether the stone on a cell is one of six in a row."""
    height, width, stone = board.shape[0], board.shape[1], board[row, column]
    for d in range(4):
        down, right = (0, 1) if d == 0 else (1, d - 2)
        length = 1
        for sign in (1, -1):
            r, c = row + sign * down, column + sign * right
            while 0 <= r < height and 0 <= c < width and board[r, c] == stone:
                length += 1
                r, c = r + sign * down, c + sign * right
        if length >= LINE:
            return True
    return False


@njit(cache=True)
def _outcome(state: Connect6State) -> tuple[bool, float]:
    if state.turn[STANDING] != WON:
        return state.turn[STANDING] == DRAWN, 0.0
    winner = _side_after(state.turn[STONES] - 1)
    return True, 1.0 if winner == state.turn[SIDE] else -1.0  # with the first stone of two, it is still to move


@njit(cache=True)
def _is_legal(state: Connect6State, action: int) -> bool:
    if state.turn[STANDING] != GOING or not 0 <= action < state.board.size:
        return False
    return bool(state.board.flat[action] == 0)


@njit(cache=True)
def _play(state: Connect6State, action: int) -> None:
    side, row, column = int(state.turn[SIDE]), action // state.board.shape[1], action % state.board.shape[1]
    state.board[row, column] = side + 1
    state.hash[0] ^= KEYS[side, action]
    state.turn[STONES] += 1
    state.turn[SIDE] = _side_after(state.turn[STONES])
    if _in_line(state.board, row, column):
        state.turn[STANDING] = WON
    elif state.turn[STONES] == state.board.size:
        state.turn[STANDING] = DRAWN


@njit(cache=True)
def _take_back(state: Connect6State, action: int) -> None:
    state.turn[STONES] -= 1
    side = _side_after(state.turn[STONES])
    state.board[action // state.board.shape[1], action % state.board.shape[1]] = 0
    state.hash[0] ^= KEYS[side, action]
    state.turn[SIDE] = side
    state.turn[STANDING] = GOING


implement_game(Connect6State, outcome=_outcome, is_legal=_is_legal, play=_play, take_back=_take_back)
