"""Hex: the first side connects top and bottom with its stones, the second left and right; there are no draws, no swap.

A cell's neighbours are left and right of it, above and below it, and on the diagonal from top right to bottom left.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.grid import implement_game
from pipeline_src.jit import njit

SIZES = (7, 11)
SYMMETRIES = "turn"
LINES = ((0, 1), (1, 0), (1, -1))
SIDE, PLY, STANDING = 0, 1, 2  # Entries of ``turn``
GOING, WON = 0, 1  # How a game stands; it is the last stone that won
KEYS = np.random.default_rng(0).integers(0, 1 << 64, (2, 11 * 11), dtype=np.uint64)
"""Random numbers of the hash, by side and cell; the side to move follows from the number of stones."""


class HexState(NamedTuple):
    """A position."""

    board: npt.NDArray[np.int8]  # [H, W]: 0 empty, 1 first's, 2 second's
    turn: npt.NDArray[np.int16]  # [3]: side to move, ply, standing
    hash: npt.NDArray[np.uint64]  # [1]


def initial_state(size: int) -> HexState:
    """Return the empty board."""
    return HexState(np.zeros((size, size), np.int8), np.zeros(3, np.int16), np.zeros(1, np.uint64))


@njit(cache=True, allocates=True)
def _connects(board: npt.NDArray[np.int8], action: int) -> bool:
    """Whether the stones connected with the one on a cell reach both edges of their side."""
    size, stone = board.shape[0], board[action // board.shape[1], action % board.shape[1]]
    todo, seen = np.empty(board.size, np.int16), np.zeros(board.size, np.bool_)
    todo[0], seen[action] = action, True
    count, begins, ends = 1, False, False
    while count:
        count -= 1
        row, column = todo[count] // size, todo[count] % size
        along = row if stone == 1 else column
        begins |= along == 0
        ends |= along == size - 1
        for d in range(3):
            down, right = (0, 1) if d == 0 else (1, 1 - d)
            for sign in (1, -1):
                r, c = row + sign * down, column + sign * right
                if 0 <= r < size and 0 <= c < size and board[r, c] == stone and not seen[r * size + c]:
                    seen[r * size + c] = True
                    todo[count] = r * size + c
                    count += 1
    return begins and ends


@njit(cache=True)
def _outcome(state: HexState) -> tuple[bool, float]:
    won = state.turn[STANDING] == WON
    return won, -1.0 if won else 0.0


@njit(cache=True)
def _is_legal(state: HexState, action: int) -> bool:
    if state.turn[STANDING] != GOING or not 0 <= action < state.board.size:
        return False
    return bool(state.board.flat[action] == 0)


@njit(cache=True)
def _play(state: HexState, action: int) -> None:
    side = int(state.turn[SIDE])
    state.board[action // state.board.shape[1], action % state.board.shape[1]] = side + 1
    state.hash[0] ^= KEYS[side, action]
    state.turn[SIDE] = 1 - side
    state.turn[PLY] += 1
    if _connects(state.board, action):
        state.turn[STANDING] = WON


@njit(cache=True)
def _take_back(state: HexState, action: int) -> None:
    side = 1 - int(state.turn[SIDE])
    state.board[action // state.board.shape[1], action % state.board.shape[1]] = 0
    state.hash[0] ^= KEYS[side, action]
    state.turn[SIDE] = side
    state.turn[PLY] -= 1
    state.turn[STANDING] = GOING


implement_game(HexState, outcome=_outcome, is_legal=_is_legal, play=_play, take_back=_take_back)
