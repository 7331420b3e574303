"""Line patterns: the effect of a stone on one line through its cell, looked up by the neighbouring cells.

A *key* holds the cells within a few steps of a cell on one line, two bits each, the nearest ones in the lowest bits:
0 empty, 1 black, 2 white, 3 off the board. A pattern is the distance of a stone on the cell from a winning line:

* ``FIVE`` is a winning line. ``FOUR`` lacks one stone, and the other side can block it. ``OPEN_FOUR`` lacks one stone
  and cannot be blocked: two cells complete it.
* ``THREE`` becomes an open four by one more stone, ``WIDE_THREE`` on more than one cell; ``CLOSED_THREE`` a four.
* ``TWO`` becomes a three, ``WIDE_TWO`` on three cells and more; ``CLOSED_TWO`` a closed three; ``ONE`` and
  ``CLOSED_ONE`` in turn those. ``LOST`` is a line that is full and does not win: too long, or shut; and in Renju, for
  Black, two fours in one line, which are forbidden.

The names are those for lines of five; the definitions hold for any length. Only lines through the cell count. The
patterns of a cell's four lines together give its *class*, named after a stone there.

Strong Gomoku programs commonly use pattern tables. The threats are those of Allis, van den Herik and Huntjens, "Go-Moku
and threat-space search" (1993).
"""

from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import AT_LEAST, CARO, EXACT, EXACTLY, ONE_END_OPEN, RENJU
from pipeline_src.jit import njit

NONE, CLOSED_ONE, ONE, CLOSED_TWO, TWO, WIDE_TWO, CLOSED_THREE, THREE, WIDE_THREE, FOUR, OPEN_FOUR, FIVE, LOST = range(
    13
)
PATTERNS = 13
LINES = range(3, 6)
"""Lengths of lines that the tables support."""
QUIET, ONE_THREE, THREE_MORE, TWO_THREES, ONE_FOUR, FOUR_MORE, FOUR_THREE, SURE, WINS = 0, 8, 9, 10, 11, 12, 13, 14, 15
"""Classes of cells: a stone there makes no threat; a three; one next to a closed three or twos; two threes; a four; one
next to such; one next to a three; an open four or two fours, so that the next stone wins; a line that wins."""
COMPLETES = 128
"""Bit of an entry while a table is being made: one more stone wins."""

Bytes = npt.NDArray[np.uint8]


class Patterns(NamedTuple):
    """Tables of a rule. ``half`` is the number of cells of a key on each side."""

    half: int
    table: Bytes
    """[4^(2 half)]: by key, black's pattern, and 16 times white's."""


@njit(cache=True)
def _beside(key: int, half: int) -> tuple[int, int]:
    """Numbers of own stones in a row on the two sides of a key's cell, own stones being 1."""
    before, after = 0, 0
    while before < half and (key >> 4 * before) & 3 == 1:
        before += 1
    while after < half and (key >> (4 * after + 2)) & 3 == 1:
        after += 1
    return before, after


@njit(cache=True)
def _full(key: int, half: int, line: int, rule: int) -> int:
    """`FIVE` or `LOST` of a stone amid a key, own stones being 1; `NONE` if they are too few."""
    before, after = _beside(key, half)
    length = 1 + before + after
    if length < line:
        return NONE
    if rule == AT_LEAST:
        return FIVE
    if length > line:
        return FIVE if rule == ONE_END_OPEN else LOST
    shut = (key >> 4 * before) & 3 == 2 and (key >> (4 * after + 2)) & 3 == 2
    return LOST if rule == ONE_END_OPEN and shut else FIVE


@njit(cache=True, allocates=True)
def fill(table: Bytes, half: int, line: int, rule: int) -> None:
    """Write the patterns of own stones to ``table`` [4^(2 half)], by key: those of fuller lines come first."""
    found = np.zeros(COMPLETES, np.int64)
    for key in range(table.size - 1, -1, -1):
        table[key] = _full(key, half, line, rule)
        if table[key] != NONE:
            continue
        found[:] = 0
        for at in range(0, 4 * half, 2):
            if (key >> at) & 3 == 0:
                found[table[key | 1 << at] & (COMPLETES - 1)] += 1
        if found[FIVE] > 0:
            table[key] = OPEN_FOUR | COMPLETES
            for at in range(0, 4 * half, 2):
                if (key >> at) & 3 == 0 and table[key | 2 << at] & COMPLETES == 0:
                    table[key] = FOUR | COMPLETES
        elif found[OPEN_FOUR] > 0:
            table[key] = WIDE_THREE if found[OPEN_FOUR] > 1 else THREE
        elif found[FOUR] > 0:
            table[key] = CLOSED_THREE
        elif found[THREE] + found[WIDE_THREE] > 0:
            table[key] = WIDE_TWO if found[THREE] + found[WIDE_THREE] > 2 else TWO
        elif found[CLOSED_THREE] > 0:
            table[key] = CLOSED_TWO
        elif found[TWO] + found[WIDE_TWO] > 0:
            table[key] = ONE
        elif found[CLOSED_TWO] > 0:
            table[key] = CLOSED_ONE
    for key in range(table.size):
        table[key] &= COMPLETES - 1


@lru_cache
def make_classes(renju: bool = False) -> Bytes:
    """[16^4]: class of a cell by the patterns of its four lines.

    For Black in ``renju``, cells that are certainly forbidden are `QUIET`. Two threes count as a four at most, because
    the patterns do not show whether the stones that would make them straight fours are allowed.
    """
    made = np.zeros((16,) * 4, np.uint8)
    for patterns in product(range(PATTERNS), repeat=4):
        fours, threes = patterns.count(FOUR), patterns.count(THREE) + patterns.count(WIDE_THREE)
        more = any(one in patterns for one in (CLOSED_THREE, TWO, WIDE_TWO))
        if FIVE in patterns:
            found = WINS
        elif renju and (LOST in patterns or fours + patterns.count(OPEN_FOUR) > 1):
            found = QUIET
        elif renju and threes > 1:
            found = FOUR_MORE if fours + patterns.count(OPEN_FOUR) else QUIET
        elif OPEN_FOUR in patterns or fours > 1:
            found = SURE
        elif fours:
            found = FOUR_THREE if threes else FOUR_MORE if more else ONE_FOUR
        elif threes:
            found = TWO_THREES if threes > 1 else THREE_MORE if more else ONE_THREE
        else:
            found = QUIET
        made[patterns] = found
    return made.ravel()


@lru_cache
def make_patterns(line: int, rule: int) -> Patterns:
    """Return the tables for a rule (`games.gomoku.board.RULES`) and a line length.

    Raises:
        ZugwerkError: the line is too short or too long for the tables.
    """
    if line not in LINES:
        raise ZugwerkError(f"the threat search knows lines of 3 to 5, not {line}")
    kind = {EXACT: EXACTLY, RENJU: EXACTLY, CARO: ONE_END_OPEN}.get(rule, AT_LEAST)
    half = line - 1 if kind == AT_LEAST else line
    black = np.zeros(1 << 4 * half, np.uint8)
    fill(black, half, line, kind)
    white = black
    if rule == RENJU:
        white = np.zeros_like(black)
        fill(white, half, line, AT_LEAST)
        forbid(black, half)
    keys = np.arange(black.size)
    low = int("01" * (2 * half), 2)
    return Patterns(half, black | white[(keys & low) << 1 | (keys >> 1) & low] << np.uint8(4))


@njit(cache=True)
def forbid(table: Bytes, half: int) -> None:
    """Make stones that have two fours in their line, which are forbidden to Black in Renju, `LOST`."""
    for key in range(table.size):
        if table[key] != OPEN_FOUR:
            continue
        before, after = _beside(key, half)
        if before + after != 3:
            table[key] = LOST
