"""Board and state of Gomoku, the start position, and the position text (FEN).

Coordinates: cell = row * W + column, row 0 is the top one (rank H), column 0 is file a; ``board[row, column]``, and an
action is the cell of the stone it places. Text names file and rank: on 15x15 cell 0 is ``a15``, cell 112 ``h8``.

FEN: ranks from the top one down, ``x`` a black stone, ``o`` a white one, numbers for runs of empty cells; then ``b`` or
``w`` to move; then, if it is not ``freestyle``, the variant.
"""

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError

EMPTY, BLACK, WHITE = 0, 1, 2
FIRST, SECOND = 0, 1
"""Sides as ``to_play``: Black moves first."""
GOING, WON, DRAWN = 0, 1, 2
"""How a game stands: nobody has won yet, the last stone won, or the board is full."""
SIDE, PLY, STANDING, LINE, RULE = 0, 1, 2, 3, 4
"""Entries of ``turn``."""
MIN_SIDE, MAX_SIDE = 3, 25
FILES = "abcdefghijklmnopqrstuvwxy"
RULES = ("freestyle", "exact", "renju", "caro")
"""``freestyle``: a line of at least the length wins; ``exact``: one of just the length, and a longer one is nothing.

``renju``: five in a row; for Black just five, and a cell that makes a longer row, two fours or two threes is not legal
(`renju`), for White at least five. ``caro``: a line of just the length does not win where the other side has a stone at
both of its ends; a longer one wins. For Caro see the manual and the protocol of Piskvork, the manager of the Gomocup
("five in a row must not be blocked by opponent at both ends"; ``INFO rule`` has bits of their own for exact fives, 1,
and for Caro, 8), and "Caro" in Wikipedia's article on Gomoku, by which longer rows are not subject to that."""
FREESTYLE, EXACT, RENJU, CARO = range(4)
LINE_LENGTH = 5
AT_LEAST, EXACTLY, ONE_END_OPEN = 0, 1, 2
"""Which lines win: of at least the length; of just that; of more, or just that with no stone of the other side's at one
end at least."""

KEYS = np.random.default_rng(0).integers(0, 1 << 64, (2, MAX_SIDE * MAX_SIDE), dtype=np.uint64)
"""uint64 [2, 625]: random numbers of a Zobrist hash (Zobrist, 1970), by colour and cell."""
SIDE_KEY = np.uint64(0x9E3779B97F4A7C15)
"""Of White to move."""


class FenError(ZugwerkError):
    """A position text that cannot be read; says what is wrong with it."""


class GomokuState(NamedTuple):
    """A position and the stones that led to it. Arrays, so that numba kernels take it whole; treat it as a value.

    The kernels in `moves` change it in place; the functions in `turns` copy first.
    """

    board: npt.NDArray[np.int8]
    """[H, W]: EMPTY, BLACK or WHITE; row 0 is the top."""
    moves: npt.NDArray[np.int16]
    """[N]: cells in the order of play, ``ply`` of them, -1 where that is not known; -1 too in what follows."""
    turn: npt.NDArray[np.int16]
    """[5]: side to move, ply, standing (GOING, WON or DRAWN), length of a line, rule (place in `RULES`)."""
    hash: npt.NDArray[np.uint64]
    """[1]: Zobrist hash of board and side to move."""


def parse_variant(variant: str) -> tuple[int, int]:
    """Length of a winning line, and the rule's place in `RULES`, of ``freestyle``, ``exact``, or e.g. ``freestyle-4``.

    Raises:
        ZugwerkError: no such variant.
    """
    match = re.fullmatch(r"(?:renju|(freestyle|exact|caro)(?:-([1-9][0-9]?))?)", variant)
    if not match:
        raise ZugwerkError(
            f"no variant {variant!r} of Gomoku; there are {', '.join(RULES)}; all but renju with a length: freestyle-4"
        )
    return int(match[2] or LINE_LENGTH), RULES.index(match[1] or "renju")


def format_variant(state: GomokuState) -> str:
    """The variant's text, as `parse_variant` reads it."""
    line = int(state.turn[LINE])
    return RULES[int(state.turn[RULE])] + ("" if line == LINE_LENGTH else f"-{line}")


def copy_state(state: GomokuState) -> GomokuState:
    """A copy that shares no array with ``state``."""
    return GomokuState(state.board.copy(), state.moves.copy(), state.turn.copy(), state.hash.copy())


def to_play(state: GomokuState) -> int:
    """Side to move: 0 Black (first), 1 White (second)."""
    return int(state.turn[SIDE])
