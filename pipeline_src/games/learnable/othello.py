"""Othello: a disc turns those of the other side between it and another of its own; more discs at the end win.

An action is a cell, or H * W for the pass of a side that can turn none. The game ends when neither side can.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.grid import implement_game
from pipeline_src.jit import njit

SIZES = (8, 6)
SIDE, PLY, STANDING, DISCS = 0, 1, 2, 3  # Entries of ``turn``; DISCS and the next one are the sides' numbers of discs
GOING, PASSING, OVER = 0, 1, 2  # How a game stands: there are cells to play, or none for this side, or none at all
KEYS = np.random.default_rng(0).integers(0, 1 << 64, (2, 8 * 8), dtype=np.uint64)
SIDE_KEY = np.uint64(0x9E3779B97F4A7C15)  # Random number for the second side to move


class OthelloState(NamedTuple):
    """A position."""

    board: npt.NDArray[np.int8]  # [H, W]: 0 empty, 1 first's, 2 second's
    turn: npt.NDArray[np.int16]  # [5]: side to move, ply, standing, discs of the first and of the second side
    hash: npt.NDArray[np.uint64]  # [1]
    turned: npt.NDArray[np.int32]  # [2 * H * W]: discs that each ply turned, three bits for each of eight directions


def initial_state(size: int) -> OthelloState:
    """Return the start position."""
    board, half = np.zeros((size, size), np.int8), size // 2
    board[half - 1 : half + 1, half - 1 : half + 1] = [[2, 1], [1, 2]]
    key = np.uint64(0)
    for cell in np.flatnonzero(board):
        key ^= KEYS[board.flat[cell] - 1, cell]
    turn, turned = np.array([0, 0, GOING, 2, 2], np.int16), np.zeros(2 * size * size, np.int32)
    return OthelloState(board, turn, np.array([key], np.uint64), turned)


@njit(cache=True)
def _step(d: int) -> tuple[int, int]:
    """Return (rows, columns) to the next cell in direction ``d`` of eight."""
    return (d if d < 4 else d + 1) // 3 - 1, (d if d < 4 else d + 1) % 3 - 1


@njit(cache=True)
def _turned(board: npt.NDArray[np.int8], side: int, row: int, column: int) -> int:
    """Return how many discs a disc of ``side`` on a cell would turn, as `OthelloState.turned`; 0 if it is taken."""
    turned = 0
    for d in range(8 if board[row, column] == 0 else 0):
        down, right = _step(d)
        count, r, c = 0, row + down, column + right
        while 0 <= r < board.shape[0] and 0 <= c < board.shape[1] and board[r, c] == 2 - side:
            count, r, c = count + 1, r + down, c + right
        if 0 <= r < board.shape[0] and 0 <= c < board.shape[1] and board[r, c] == side + 1:
            turned |= count << 3 * d
    return turned


@njit(cache=True)
def _may_place(board: npt.NDArray[np.int8], side: int) -> bool:
    for cell in range(board.size):
        if _turned(board, side, cell // board.shape[1], cell % board.shape[1]):
            return True
    return False


@njit(cache=True)
def margin(state: OthelloState) -> float:
    """Return the lead of the side to move in discs, as a share of the board, -1 to 1."""
    side = int(state.turn[SIDE])
    return float((state.turn[DISCS + side] - state.turn[DISCS + 1 - side]) / state.board.size)


@njit(cache=True)
def _outcome(state: OthelloState) -> tuple[bool, float]:
    return state.turn[STANDING] == OVER, float(np.sign(margin(state))) if state.turn[STANDING] == OVER else 0.0


@njit(cache=True)
def _is_legal(state: OthelloState, action: int) -> bool:
    standing, size, width = state.turn[STANDING], state.board.size, state.board.shape[1]
    if standing != GOING or not 0 <= action < size:
        return bool(standing == PASSING and action == size)
    return bool(_turned(state.board, int(state.turn[SIDE]), action // width, action % width))


@njit(cache=True)
def _turn(state: OthelloState, action: int, turned: int, code: int) -> None:
    """Make discs around a cell those of ``code``."""
    width = state.board.shape[1]
    for d in range(8):
        down, right = _step(d)
        for i in range(1, (turned >> 3 * d & 7) + 1):
            row, column = action // width + i * down, action % width + i * right
            state.board[row, column] = code
            state.hash[0] ^= KEYS[0, row * width + column] ^ KEYS[1, row * width + column]
            state.turn[DISCS + code - 1] += 1
            state.turn[DISCS + 2 - code] -= 1


@njit(cache=True)
def _play(state: OthelloState, action: int) -> None:
    board, turn, side, turned = state.board, state.turn, int(state.turn[SIDE]), 0
    if action < board.size:
        row, column = action // board.shape[1], action % board.shape[1]
        turned = _turned(board, side, row, column)
        _turn(state, action, turned, side + 1)
        board[row, column] = side + 1
        state.hash[0] ^= KEYS[side, action]
        turn[DISCS + side] += 1
    state.turned[turn[PLY]] = turned
    state.hash[0] ^= SIDE_KEY
    turn[SIDE] = 1 - side
    turn[PLY] += 1
    turn[STANDING] = GOING if _may_place(board, 1 - side) else PASSING if _may_place(board, side) else OVER


@njit(cache=True)
def _take_back(state: OthelloState, action: int) -> None:
    board, turn, side = state.board, state.turn, 1 - int(state.turn[SIDE])
    turn[PLY] -= 1
    if action < board.size:
        board[action // board.shape[1], action % board.shape[1]] = 0
        state.hash[0] ^= KEYS[side, action]
        turn[DISCS + side] -= 1
        _turn(state, action, int(state.turned[turn[PLY]]), 2 - side)
    state.turned[turn[PLY]] = 0
    state.hash[0] ^= SIDE_KEY
    turn[SIDE] = side
    turn[STANDING] = GOING if action < board.size else PASSING


implement_game(OthelloState, outcome=_outcome, is_legal=_is_legal, play=_play, take_back=_take_back)
