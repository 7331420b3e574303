"""Positions from a size, a board or a text. The docstring of `board` describes the text."""

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import (
    BLACK,
    DRAWN,
    FIRST,
    GOING,
    KEYS,
    MAX_SIDE,
    MIN_SIDE,
    SECOND,
    SIDE_KEY,
    STANDING,
    WHITE,
    WON,
    GomokuState,
    format_variant,
    parse_variant,
    to_play,
)
from pipeline_src.games.gomoku.moves import any_line, nowhere_to_play
from pipeline_src.games.stone_fen import bad, read_ranks, write_ranks


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
