"""Board and state of Gomoku, the start position, and the position text (FEN).

Coordinates: cell = row * W + column, row 0 is the top one (rank H), column 0 is file a; ``board[row, column]``, and an
action is the cell of the stone it places. Text names file and rank: on 15x15 cell 0 is ``a15``, cell 112 ``h8``.

FEN: the ranks from the top down with ``x`` for a black stone, ``o`` for a white one and a number for a run of empty
cells; then ``b`` or ``w`` for the side to move; then the variant, if it is not ``freestyle``.
"""

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError

EMPTY, BLACK, WHITE = 0, 1, 2
FIRST, SECOND = 0, 1  # The sides, as `to_play` numbers them: Black moves first
GOING, WON, DRAWN = 0, 1, 2  # Standing of a game: unfinished, won by the last stone, or drawn
SIDE, PLY, STANDING, LINE, RULE = 0, 1, 2, 3, 4  # Indices of the entries of `turn`
MIN_SIDE, MAX_SIDE = 3, 25
FILES = "abcdefghijklmnopqrstuvwxy"
RULES = ("freestyle", "exact", "renju", "caro")
"""``freestyle``: a line of at least the winning length wins. ``exact``: only a line of exactly that length wins.

``renju``: five in a row wins. Black needs exactly five, and a cell that makes a longer row, two fours or two threes is
illegal for Black (`renju`); White needs at least five. ``caro``: a line of exactly the winning length wins only if at
least one of its ends is not blocked by a stone of the opponent; a longer line always wins. Sources for Caro: the manual
and the protocol of Piskvork, the manager of the Gomocup ("five in a row must not be blocked by opponent at both ends";
``INFO rule`` has separate bits for exact fives, 1, and for Caro, 8), and "Caro" in Wikipedia's article on Gomoku, which
exempts longer rows."""
FREESTYLE, EXACT, RENJU, CARO = range(4)
LINE_LENGTH = 5
AT_LEAST, EXACTLY, ONE_END_OPEN = 0, 1, 2
"""Kinds of winning lines: at least the winning length; exactly that length; longer, or exactly that length with at
least one end that is not blocked."""

KEYS = np.random.default_rng(0).integers(0, 1 << 64, (2, MAX_SIDE * MAX_SIDE), dtype=np.uint64)
"""uint64 [2, 625]: random numbers of the Zobrist hash (Zobrist, 1970), by colour and cell."""
SIDE_KEY = np.uint64(0x9E3779B97F4A7C15)  # Random number for White to move


class GomokuState(NamedTuple):
    """A position and the stones that led to it: arrays only, so that numba kernels accept it. Treat it as a value.

    The kernels in `moves` change it in place; the functions in `turns` copy it first.
    """

    board: npt.NDArray[np.int8]  # [H, W]: EMPTY, BLACK or WHITE; row 0 is the top
    moves: npt.NDArray[np.int16]
    """[N]: the first ``ply`` entries are the cells in the order of play, -1 where unknown; the others are -1."""
    turn: npt.NDArray[np.int16]
    """[5]: side to move, ply, standing (GOING, WON or DRAWN), length of a winning line, rule (index in `RULES`)."""
    hash: npt.NDArray[np.uint64]  # [1]: Zobrist hash of the board and the side to move


def parse_variant(variant: str) -> tuple[int, int]:
    """Read a variant such as ``freestyle-4``: the length of a winning line and the rule's index in `RULES`.

    Raises:
        ZugwerkError: the text is not a variant.
    """
    match = re.fullmatch(r"(?:renju|(freestyle|exact|caro)(?:-([1-9][0-9]?))?)", variant)
    if not match:
        raise ZugwerkError(
            f"no variant {variant!r} of Gomoku; there are {', '.join(RULES)}; all but renju take a length: freestyle-4"
        )
    return int(match[2] or LINE_LENGTH), RULES.index(match[1] or "renju")


def format_variant(state: GomokuState) -> str:
    """Return the variant's text, as `parse_variant` reads it."""
    line = int(state.turn[LINE])
    return RULES[int(state.turn[RULE])] + ("" if line == LINE_LENGTH else f"-{line}")


def copy_state(state: GomokuState) -> GomokuState:
    """Return a copy that shares no array with ``state``."""
    return GomokuState(state.board.copy(), state.moves.copy(), state.turn.copy(), state.hash.copy())


def to_play(state: GomokuState) -> int:
    """Return the side to move: 0 Black (first), 1 White (second)."""
    return int(state.turn[SIDE])
