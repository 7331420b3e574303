"""Connect Four: a stone falls to the lowest empty cell of its column; four in a row of one colour win.

Coordinates: ``board[row, column]``, row 0 is the top one; an action is a column, 0 being file ``a``.

FEN: ranks from the top one down, ``x`` the first side's stones, ``o`` the second's, numbers for runs of empty cells.
The side to move follows from the number of stones.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.rules import divide, is_legal, legal_actions, perft, play, to_play, winner
from pipeline_src.games.stones import bad, read_ranks, write_ranks
from pipeline_src.jit import njit

__all__ = ["divide", "is_legal", "legal_actions", "perft", "play", "to_play", "winner"]  # beside what is defined here

NAME = "connect_four"
VERSION = 1
SIZES = tuple(range(4, 13))  # Columns; there is one rank less
VARIANTS = ("standard",)
FILES = "abcdefghijkl"
GOING, WON, DRAWN = 0, 1, 2  # How a game stands; it is the last stone that won
SIDE, PLY, STANDING = 0, 1, 2  # Entries of ``turn``
KEYS = np.random.default_rng(0).integers(0, 1 << 64, (2, 11, 12), dtype=np.uint64)
"""Random numbers of a Zobrist hash, by colour, row and column."""


class ConnectFourState(NamedTuple):
    """A position. Arrays, so that kernels take it whole; treat it as a value."""

    board: npt.NDArray[np.int8]  # [H, W]: 0 empty, 1 first, 2 second
    turn: npt.NDArray[np.int16]  # [3]: side to move, ply, standing
    hash: npt.NDArray[np.uint64]  # [1]


def initial_state(size: int = 7, variant: str = "standard") -> ConnectFourState:
    """The empty board of ``size`` columns."""
    if size not in SIZES or variant not in VARIANTS:
        raise ZugwerkError(f"no Connect Four of {size} columns, {variant!r}; columns: 4 to 12, variant: standard")
    return ConnectFourState(np.zeros((size - 1, size), np.int8), np.zeros(3, np.int16), np.zeros(1, np.uint64))


def from_fen(fen: str) -> ConnectFourState:
    """Read a position text; see the module's head."""
    board = read_ranks(fen.strip(), fen, 3, 12, "cells")
    if board.shape[0] + 1 != board.shape[1]:
        raise bad(fen, "expected one rank less than cells in each")
    state = initial_state(board.shape[1])
    state.board[:] = board
    counts = [int((state.board == colour).sum()) for colour in (1, 2)]
    floats = ((state.board[:-1] != 0) & (state.board[1:] == 0)).any()
    if counts[0] - counts[1] not in (0, 1) or floats:
        raise bad(fen, f"{counts[0]} x and {counts[1]} o, or a stone above an empty cell")
    state.turn[SIDE], state.turn[PLY] = counts[0] - counts[1], sum(counts)
    for row, column in zip(*np.nonzero(state.board), strict=True):
        colour = int(state.board[row, column])
        state.hash[0] ^= KEYS[colour - 1, row, column]
        if _line_at(state.board, row, column, colour):
            if colour - 1 == state.turn[SIDE]:
                raise bad(fen, "the side to move has four in a row already")
            state.turn[STANDING] = WON
    if state.turn[STANDING] == GOING and sum(counts) == state.board.size:
        state.turn[STANDING] = DRAWN
    return state


def to_fen(state: ConnectFourState) -> str:
    """Position text of a state."""
    return write_ranks(state.board)


def parse_move(text: str, height: int = 6, width: int = 7) -> int:
    """Column of a file's letter, in either case."""
    column = FILES.find(text.strip().lower()) if len(text.strip()) == 1 else -1
    if not 0 <= column < width:
        raise ZugwerkError(f"not a move: {text!r}; expected a column, a to {FILES[width - 1]}")
    return column


def format_move(action: int, height: int = 6, width: int = 7) -> str:
    """The column's letter."""
    return FILES[action]


@njit(cache=True)
def _line_at(board: npt.NDArray[np.int8], row: int, column: int, colour: int) -> bool:
    """Whether the stone of ``colour`` at (row, column) is in a line of four."""
    height, width = board.shape
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        length = 1
        for sign in (1, -1):
            r, c = row + sign * down, column + sign * right
            while 0 <= r < height and 0 <= c < width and board[r, c] == colour:
                length += 1
                r, c = r + sign * down, c + sign * right
        if length >= 4:
            return True
    return False


@njit(cache=True)
def _top(board: npt.NDArray[np.int8], column: int) -> int:
    """Row of a column's uppermost stone; the height where it is empty."""
    row = 0
    while row < board.shape[0] and board[row, column] == 0:
        row += 1
    return row


@njit(cache=True, allocates=True)
def _copy_into(state: ConnectFourState, other: ConnectFourState) -> None:
    other.board[:] = state.board
    other.turn[:] = state.turn
    other.hash[:] = state.hash


@njit(cache=True)
def _outcome(state: ConnectFourState) -> tuple[bool, float]:
    return state.turn[STANDING] != GOING, -1.0 if state.turn[STANDING] == WON else 0.0


@njit(cache=True)
def _is_legal(state: ConnectFourState, action: int) -> bool:
    inside = 0 <= action < state.board.shape[1]
    return bool(inside and state.turn[STANDING] == GOING and state.board[0, action] == 0)


@njit(cache=True)
def _write_actions(state: ConnectFourState, out: npt.NDArray[np.int32]) -> int:
    count = 0
    if state.turn[STANDING] == GOING:
        for column in range(state.board.shape[1]):
            if state.board[0, column] == 0:
                out[count] = column
                count += 1
    return count


@njit(cache=True)
def _play(state: ConnectFourState, action: int) -> None:
    board, turn, side = state.board, state.turn, int(state.turn[SIDE])
    row = _top(board, action) - 1
    board[row, action] = side + 1
    state.hash[0] ^= KEYS[side, row, action]
    turn[SIDE] = 1 - side
    turn[PLY] += 1
    if _line_at(board, row, action, side + 1):
        turn[STANDING] = WON
    elif turn[PLY] == board.size:
        turn[STANDING] = DRAWN


@njit(cache=True)
def _take_back(state: ConnectFourState, action: int) -> None:
    side, row = 1 - int(state.turn[SIDE]), _top(state.board, action)
    state.board[row, action] = 0
    state.hash[0] ^= KEYS[side, row, action]
    state.turn[SIDE] = side
    state.turn[PLY] -= 1
    state.turn[STANDING] = GOING


@njit(cache=True)
def _room(state: ConnectFourState) -> int:
    return int(state.board.shape[1])


kernels.implement_game(
    ConnectFourState,
    copy_into=_copy_into,
    outcome=_outcome,
    max_actions=_room,
    write_actions=_write_actions,
    is_legal=_is_legal,
    play=_play,
    take_back=_take_back,
)
