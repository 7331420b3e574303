"""Positions from a size, a board or a text. The docstring of `board` describes the text."""

import re

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import (
    BLACK,
    DRAWN,
    EMPTY,
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
    FenError,
    GomokuState,
    format_variant,
    parse_variant,
    to_play,
)
from pipeline_src.games.gomoku.moves import any_line, nowhere_to_play


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
        raise _bad(fen, "expected ranks, a space, 'b' or 'w', and perhaps a variant")
    ranks = [_read_rank(text, fen) for text in fields[0].split("/")]
    height, width = len(ranks), max(map(len, ranks))
    if not (MIN_SIDE <= height <= MAX_SIDE and MIN_SIDE <= width <= MAX_SIDE):
        raise _bad(fen, f"board {height}x{width}; sides go from {MIN_SIDE} to {MAX_SIDE}")
    if any(len(rank) != width for rank in ranks):
        raise _bad(fen, f"its ranks have {', '.join(str(len(rank)) for rank in ranks)} cells")
    board, side = np.array(ranks, np.int8), "bw".index(fields[1])
    more = int((board == BLACK).sum()) - int((board == WHITE).sum())
    if more != side:
        raise _bad(fen, f"{more} more black than white stones with {fields[1]!r} to move")
    state = from_board(board, side, fields[2] if len(fields) == 3 else "freestyle")
    if any_line(state, BLACK if side == FIRST else WHITE):
        raise _bad(fen, "the side to move has a line already")
    return state


_CODE = {"x": BLACK, "o": WHITE}
_SHOWN = 700
"""Number of characters of a bad text that an error message quotes: more than any board needs."""


def _bad(fen: str, what: str) -> FenError:
    return FenError(f"bad FEN {fen[:_SHOWN]!r}: {what}")


def _read_rank(text: str, fen: str) -> list[int]:
    cells: list[int] = []
    for number, letter in re.findall(r"([0-9]+)|(.)", text):
        if number:
            if len(number) > 2 or int(number) == 0:
                raise _bad(fen, f"a run of {number[:20]} empty cells")
            cells += [EMPTY] * int(number)
        elif letter in _CODE:
            cells.append(_CODE[letter])
        else:
            raise _bad(fen, f"unknown letter {letter!r}; known are x o and numbers")
    return cells


def to_fen(state: GomokuState) -> str:
    """Return the position text of a state."""
    ranks = []
    for row in state.board:
        text = "".join(".xo"[code] for code in row)
        ranks.append(re.sub(r"\.+", lambda run: str(len(run[0])), text))
    variant = format_variant(state)
    return "/".join(ranks) + " " + "bw"[to_play(state)] + ("" if variant == "freestyle" else f" {variant}")
