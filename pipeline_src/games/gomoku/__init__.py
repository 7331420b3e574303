"""Gomoku: five in a row, on a board of any size and with lines of any length.

Black and White in turn place a stone, Black first. In ``freestyle`` a line of five or more of one colour wins, in
``exact`` a line of exactly five; `board.RULES` describes ``renju`` and ``caro``. A full board is a draw.

Here are the Python functions, and the rules as the searches see them; `board` holds the state and the texts, `moves`
the kernels that read and change a state.
"""

import re
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.gomoku import moves
from pipeline_src.games.gomoku.board import (
    BLACK,
    DRAWN,
    FILES,
    FIRST,
    GOING,
    KEYS,
    MAX_SIDE,
    MIN_SIDE,
    PLY,
    RULES,
    SECOND,
    SIDE,
    SIDE_KEY,
    STANDING,
    WHITE,
    WON,
    GomokuState,
    copy_state,
    format_variant,
    parse_variant,
    to_play,
)
from pipeline_src.games.gomoku.moves import any_line, nowhere_to_play
from pipeline_src.games.kernels import divide, perft
from pipeline_src.games.stones import bad, read_ranks, stone_diagram, write_ranks
from pipeline_src.jit import njit

# Positions from a size, a board or a text. The docstring of `board` describes the text.


def initial_state(size: int = 15, variant: str = "freestyle") -> GomokuState:
    """Return the empty board.

    Raises:
        ZugwerkError: the size is outside 3..25, the variant is unknown, or its line is longer than the board.
    """
    if not MIN_SIDE <= size <= MAX_SIDE:
        raise ZugwerkError(f"no Gomoku board of size {size}; sizes go from {MIN_SIDE} to {MAX_SIDE}")
    return from_board(np.zeros((size, size), np.int8), FIRST, variant)


def from_board(board: npt.NDArray[np.int8], side: int, variant: str = "freestyle") -> GomokuState:
    """Return the state for a board, int8 [H, W], with ``side`` to move and no known history. The board is copied.

    Raises:
        ZugwerkError: the variant is unknown, or its line is longer than the board.
    """
    line, rule = parse_variant(variant)
    if line > max(board.shape):
        raise ZugwerkError(f"a line of {line} does not fit a board of {board.shape[0]}x{board.shape[1]}")
    board = np.array(board, dtype=np.int8, order="C")
    stones = np.flatnonzero(board)
    keys = KEYS[board.ravel()[stones] - 1, stones]
    key = np.bitwise_xor.reduce(keys, initial=np.uint64(0)) ^ (SIDE_KEY * np.uint64(side))
    state = GomokuState(
        board,
        np.full(board.size, -1, np.int16),
        np.array([side, len(stones), GOING, line, rule], np.int16),
        np.array([key], np.uint64),
    )
    if any_line(state, BLACK if side == SECOND else WHITE):
        state.turn[STANDING] = WON
    elif len(stones) == board.size or nowhere_to_play(state):
        state.turn[STANDING] = DRAWN
    return state


def from_fen(fen: str) -> GomokuState:
    """Read a position text; the docstring of `board` describes the format.

    Raises:
        FenError: wrong fields, an unknown letter, ranks of unequal length, a size outside 3..25, numbers of stones that
            do not fit the side to move, or a winning line of the side to move.
    """
    fields = fen.split()
    if len(fields) not in (2, 3) or fields[1] not in ("b", "w"):
        raise bad(fen, "expected ranks, a space, 'b' or 'w', and perhaps a variant")
    board, side = read_ranks(fields[0], fen, MIN_SIDE, MAX_SIDE, "cells"), "bw".index(fields[1])
    more = int((board == BLACK).sum()) - int((board == WHITE).sum())
    if more != side:
        raise bad(fen, f"{more} more black than white stones with {fields[1]!r} to move")
    state = from_board(board, side, fields[2] if len(fields) == 3 else "freestyle")
    if any_line(state, BLACK if side == FIRST else WHITE):
        raise bad(fen, "the side to move has a line already")
    return state


def to_fen(state: GomokuState) -> str:
    """Return the position text of a state."""
    variant = format_variant(state)
    return write_ranks(state.board) + " " + "bw"[to_play(state)] + ("" if variant == "freestyle" else f" {variant}")


NAME = "gomoku"
VERSION = 1  # Version of the rules and of the action numbering. Models store it.
SIZES = tuple(range(MIN_SIDE, MAX_SIDE + 1))
VARIANTS = RULES  # Names of the variants. All but `renju` take another length of the winning line, e.g. `freestyle-4`.

__all__ = [
    "NAME",
    "SIZES",
    "VARIANTS",
    "VERSION",
    "divide",
    "format_move",
    "from_fen",
    "initial_state",
    "is_legal",
    "legal_actions",
    "parse_move",
    "perft",
    "play",
    "to_fen",
    "to_play",
    "winner",
]


# The rules of Gomoku as Python functions. Each takes a state as a value and does not change it.


def legal_actions(state: GomokuState) -> npt.NDArray[np.int32]:
    """Return the empty cells that are not forbidden, int32 [A], ascending; empty if the game is over."""
    out = np.empty(state.board.size, np.int32)
    return out[: moves.write_actions(state, out)]


def is_legal(state: GomokuState, action: int) -> bool:
    """Whether the game is unfinished and ``action``, any int, is an empty cell that is not forbidden."""
    return bool(0 <= action < state.board.size and moves.legal(state, action))


def play(state: GomokuState, action: int) -> GomokuState:
    """Return the state after a legal action.

    Raises:
        ZugwerkError: the action is not legal.
    """
    if not is_legal(state, action):
        raise ZugwerkError(f"action {action} is not legal here")
    after = copy_state(state)
    moves.play(after, action)
    return after


def winner(state: GomokuState) -> Literal["first", "second", "draw"] | None:
    """Return the result of a finished game: ``first`` is Black; None for an unfinished game."""
    if state.turn[STANDING] == GOING:
        return None
    if state.turn[STANDING] != WON:
        return "draw"
    return "second" if state.turn[SIDE] == 0 else "first"


# Text of cells: ``h8``, file and rank, rank 1 at the bottom; and of boards.


_CELL = re.compile(r"([a-y])([1-9][0-9]?)", re.IGNORECASE | re.ASCII)


class MoveTextError(ZugwerkError):
    """A text is not a cell, or names one outside the board."""


def parse_move(text: str, height: int = 15, width: int = 15) -> int:
    """Return the action id of a move's text, in upper or lower case. The form is checked, the legality is not.

    Raises:
        MoveTextError: not a cell, or not on the board.
    """
    match = _CELL.fullmatch(text.strip())
    if not match:
        raise MoveTextError(f"not a move: {text!r}; expected e.g. h8")
    column, rank = FILES.index(match[1].lower()), int(match[2])
    if column >= width or rank > height:
        raise MoveTextError(f"no such cell on a {height}x{width} board: {text!r}")
    return (height - rank) * width + column


def format_move(action: int, height: int = 15, width: int = 15) -> str:
    """Return the text of an action id, e.g. ``h8``."""
    return f"{FILES[action % width]}{height - action // width}"


_COLOURS = {"first": "Black", "second": "White"}


def diagram(state: GomokuState) -> str:
    """Return the lines of a board, top rank first: ``x`` black, ``o`` white, ``[x]`` the last stone if it is known."""
    return stone_diagram(state.board, last_cell(state), FILES)


def standing(state: GomokuState) -> str:
    """Return a sentence with the side to move or the winner, the number of plies and the rule."""
    played = f"{state.turn[PLY]} plies, {format_variant(state)}"
    result = winner(state)
    if result is None:
        return f"{'White' if to_play(state) else 'Black'} to move after {played}"
    return f"Drawn after {played}" if result == "draw" else f"{_COLOURS[result]} won after {played}"


def last_cell(state: GomokuState) -> int:
    """Return the last cell, or -1 if it is not known."""
    ply = int(state.turn[PLY])
    return int(state.moves[ply - 1]) if ply else -1


# Gomoku for searches: an action is the cell of a stone; a step is an action.


@njit(cache=True)
def _to_play(state: GomokuState) -> int:
    return int(state.turn[SIDE])


@njit(cache=True)
def _position_hash(state: GomokuState) -> Any:
    return state.hash[0]


@njit(cache=True)
def _outcome(state: GomokuState) -> tuple[bool, float]:
    return state.turn[STANDING] != GOING, -1.0 if state.turn[STANDING] == WON else 0.0


@njit(cache=True)
def _room(state: GomokuState) -> int:
    return int(state.board.size)


for generic, kernel in (
    (kernels.copy_into, moves.copy_into),
    (kernels.to_play, _to_play),
    (kernels.position_hash, _position_hash),
    (kernels.outcome, _outcome),
    (kernels.max_actions, _room),
    (kernels.max_steps, _room),
    (kernels.write_actions, moves.write_actions),
    (kernels.is_legal, moves.legal),
    (kernels.play, moves.play),
    (kernels.take_back, moves.take_back),
    (kernels.write_steps, moves.write_actions),
    (kernels.play_step, moves.play),
):
    kernels.implement(generic, GomokuState, kernel)
