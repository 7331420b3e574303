"""Breakthrough: a piece moves one row ahead, straight or diagonally, and takes diagonally alone; the far row wins.

The first side begins on the two lowest rows and moves up. An action is from * H * W + to.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.grid import implement_game
from pipeline_src.jit import njit

SIZES = (8, 6)
SYMMETRIES = "mirror"
SIDE, PLY, STANDING, LEFT = 0, 1, 2, 3  # Entries of ``turn``; LEFT and the next one are the sides' numbers of pieces
GOING, WON = 0, 1  # How a game stands; it is the last move that won
KEYS = np.random.default_rng(0).integers(0, 1 << 64, (2, 8 * 8), dtype=np.uint64)
SIDE_KEY = np.uint64(0x9E3779B97F4A7C15)  # Random number for the second side to move


class BreakthroughState(NamedTuple):
    """A position."""

    board: npt.NDArray[np.int8]  # [H, W]: 0 empty, 1 first's, 2 second's
    turn: npt.NDArray[np.int16]  # [5]: side to move, ply, standing, pieces of the first and of the second side
    hash: npt.NDArray[np.uint64]  # [1]
    took: npt.NDArray[np.bool_]  # [4 * H * W]: whether the move of each ply took a piece


def initial_state(size: int) -> BreakthroughState:
    """Return the start position."""
    board = np.zeros((size, size), np.int8)
    board[:2], board[-2:] = 2, 1
    turn, key = np.array([0, 0, 0, 2 * size, 2 * size], np.int16), np.uint64(0)
    for cell in range(size * size):
        code = board[cell // size, cell % size]
        if code:
            key ^= KEYS[code - 1, cell]
    return BreakthroughState(board, turn, np.array([key], np.uint64), np.zeros(4 * size * size, np.bool_))


@njit(cache=True)
def _outcome(state: BreakthroughState) -> tuple[bool, float]:
    won = state.turn[STANDING] == WON
    return won, -1.0 if won else 0.0


@njit(cache=True)
def _max_actions(state: BreakthroughState) -> int:
    return int(6 * state.board.shape[1])  # three moves of each piece


@njit(cache=True)
def _may_move(board: npt.NDArray[np.int8], side: int, row: int, column: int, right: int) -> bool:
    """Whether a piece of ``side`` on a cell may move ahead and so many columns to the right, -1 to 1."""
    to_row, to_column = row + 2 * side - 1, column + right
    if not (0 <= to_row < board.shape[0] and 0 <= to_column < board.shape[1]) or board[row, column] != side + 1:
        return False
    return bool(board[to_row, to_column] == 0 or (right != 0 and board[to_row, to_column] == 2 - side))


@njit(cache=True)
def _is_legal(state: BreakthroughState, action: int) -> bool:
    board, side = state.board, int(state.turn[SIDE])
    size, width = board.size, board.shape[1]
    if state.turn[STANDING] != GOING or not 0 <= action < size * size:
        return False
    source, target = action // size, action % size
    right = target % width - source % width
    ahead = target // width - source // width == 2 * side - 1
    return bool(ahead and abs(right) <= 1 and _may_move(board, side, source // width, source % width, right))


@njit(cache=True)
def _write_actions(state: BreakthroughState, out: npt.NDArray[np.int32]) -> int:
    if state.turn[STANDING] != GOING:
        return 0
    board, side, count = state.board, int(state.turn[SIDE]), 0
    width = board.shape[1]
    for row in range(board.shape[0]):
        for column in range(width):
            for right in range(-1, 2):
                if _may_move(board, side, row, column, right):
                    out[count] = (row * width + column) * board.size + (row + 2 * side - 1) * width + column + right
                    count += 1
    return count


@njit(cache=True)
def _squares(state: BreakthroughState, action: int) -> tuple[int, int]:
    return action // state.board.size, action % state.board.size


@njit(cache=True)
def _play(state: BreakthroughState, action: int) -> None:
    board, turn, side = state.board, state.turn, int(state.turn[SIDE])
    width, source, target = board.shape[1], action // board.size, action % board.size
    row, column = target // width, target % width
    took = board[row, column] != 0
    if took:
        state.hash[0] ^= KEYS[1 - side, target]
        turn[LEFT + 1 - side] -= 1
    board[source // width, source % width], board[row, column] = 0, side + 1
    state.hash[0] ^= KEYS[side, source] ^ KEYS[side, target] ^ SIDE_KEY
    state.took[turn[PLY]] = took
    turn[SIDE] = 1 - side
    turn[PLY] += 1
    if row == side * (board.shape[0] - 1) or turn[LEFT + 1 - side] == 0:
        turn[STANDING] = WON


@njit(cache=True)
def _take_back(state: BreakthroughState, action: int) -> None:
    board, turn, side = state.board, state.turn, 1 - int(state.turn[SIDE])
    width, source, target = board.shape[1], action // board.size, action % board.size
    turn[PLY] -= 1
    took = state.took[turn[PLY]]
    state.took[turn[PLY]] = False
    board[source // width, source % width], board[target // width, target % width] = side + 1, 0
    state.hash[0] ^= KEYS[side, source] ^ KEYS[side, target] ^ SIDE_KEY
    if took:
        board[target // width, target % width] = 2 - side
        state.hash[0] ^= KEYS[1 - side, target]
        turn[LEFT + 1 - side] += 1
    turn[SIDE] = side
    turn[STANDING] = GOING


implement_game(
    BreakthroughState,
    outcome=_outcome,
    max_actions=_max_actions,
    write_actions=_write_actions,
    is_legal=_is_legal,
    play=_play,
    take_back=_take_back,
    squares=_squares,
)
