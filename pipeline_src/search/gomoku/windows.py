"""The windows of a Gomoku board: the effect of one more stone, for all cells, in two passes over each line.

A *window* is ``line`` cells in a row: the place of a line that wins. Those that hold stones of one colour only are open
to that colour. A *span* is a window and one cell more, whose two ends are empty; with all cells between its ends but
one filled by one colour, it is called an open three: one more stone there threatens to win at both ends.

All is seen by the side that has just moved, here called own; the other side is to move. A window's *index* is the
number of its own stones plus ``OTHER`` times that of the other side's; where only just a line wins, plus ``OWN_NEXT``
and ``OTHER_NEXT`` where a stone of that side lies next to it, for a longer line would be nothing. What is to be known
of each index lies in tables, so that the passes only slide sums along.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.gomoku.board import EXACT, LINE, MAX_SIDE, RENJU, RULE, GomokuState
from pipeline_src.jit import njit

OTHER, OWN_NEXT, OTHER_NEXT, INDICES = 32, 1024, 2048, 4096
DEAD = 1 + OTHER
"""Index of a window that is open to neither side."""
SUM, COUNTS, GAIN, FOUND, NEXT_GAIN, NEXT_FOUND = range(6)
"""Columns of the tables: worth to own; `OWN_FOURS` and so on; the worth that an own stone inside adds,
and what is found by it, `WINS` and so on; the worth that one next to a window adds, and what one on an end of a span
finds."""
OWN_FOURS, OTHER_FOURS, OWN_THREES, OTHER_THREES = 0, 16, 32, 48
"""Where in `COUNTS` they are counted: windows that lack one stone, spans that are open threes."""
WINS, BLOCKS, FOURS, SHUT, THREES, USED = 0, 8, 16, 24, 32, 40
"""Where in `FOUND` they are counted, by cell: an own stone there fills a window; shuts the other side's window that
lacks one stone; makes a window lack one; shuts an open three of the other side's; makes one; uses or shuts an own."""
LACKING = 6
"""Largest number of missing stones for which a window has a weight."""


Cells = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int64]


class Windows(NamedTuple):
    """Tables for one board size and rule, and scratch space for one thread."""

    weights: Ints
    """[LACKING + 1], in thousandths: of a window, by the stones it lacks."""
    made_for: Ints
    """[4]: height, width and line length of the tables below, and whether only exactly that length counts."""
    lines: npt.NDArray[np.int32]
    """[L + 1, 3]: first cell, step and length of each line that can hold a window; then a length of 0."""
    windows: Ints
    """[INDICES, 6]"""
    spans: Ints
    """[INDICES, 6]: by the index of the cells between the ends; spans have no worth."""
    values: Ints
    """[MAX_SIDE]: of the cells of a line, 0 empty, 1 own, OTHER."""
    kinds: Ints
    """[2, MAX_SIDE]: of the windows and spans of a line."""
    gain: Ints
    """[N]: by cell, the worth that an own stone there adds."""
    found: Ints
    """[N]: by cell, the counts from `WINS` on."""


def make_windows(weights: Ints) -> Windows:
    """Scratch space; the tables follow when the first board is seen."""
    cells = MAX_SIDE * MAX_SIDE
    return Windows(
        weights,
        np.zeros(4, np.int64),
        np.zeros((8 * MAX_SIDE, 3), np.int32),
        np.zeros((INDICES, 6), np.int64),
        np.zeros((INDICES, 6), np.int64),
        np.zeros(MAX_SIDE, np.int64),
        np.zeros((2, MAX_SIDE), np.int64),
        np.zeros(cells, np.int64),
        np.zeros(cells, np.int64),
    )


@njit(cache=True)
def _worth(weights: Ints, stones: int, lacking: int) -> int:
    return weights[lacking] if stones > 0 and lacking < weights.size else 0


@njit(cache=True)
def _fill_window(row: Ints, own: int, other: int, shut: int, line: int, weights: Ints) -> None:
    """``shut`` has bit 0 where no own line can come here, bit 1 where none of the other side can."""
    is_own, is_other = other == 0 and shut & 1 == 0, own == 0 and shut & 2 == 0
    mine = _worth(weights, own, line - own) if is_own else 0
    theirs = _worth(weights, other, line - other) if is_other else 0
    more = _worth(weights, own + 1, line - own - 1) if is_own and own < line else 0
    own_four, other_four = is_own and own == line - 1, is_other and other == line - 1
    row[SUM], row[GAIN], row[NEXT_GAIN] = mine - theirs, more - mine + theirs, -mine
    row[COUNTS] = (int(own_four) << OWN_FOURS) + (int(other_four) << OTHER_FOURS)
    row[FOUND] = (int(own_four) << WINS) + (int(other_four) << BLOCKS) + (int(is_own and own == line - 2) << FOURS)


@njit(cache=True)
def _fill_span(row: Ints, own: int, other: int, line: int) -> None:
    own_three, other_three = other == 0 and own == line - 2, own == 0 and other == line - 2
    row[COUNTS] = (int(own_three) << OWN_THREES) + (int(other_three) << OTHER_THREES)
    row[NEXT_FOUND] = (int(other_three) << SHUT) + (int(own_three) << USED)
    row[FOUND] = row[NEXT_FOUND] + (int(other == 0 and own == line - 3) << THREES)


@njit(cache=True)
def prepare(tables: Windows, state: GomokuState) -> None:
    """Fit the tables to a board's size and rule, unless they fit already."""
    height, width = state.board.shape
    line, made = state.turn[LINE], tables.made_for
    exact = np.int64(state.turn[RULE] == EXACT or state.turn[RULE] == RENJU)
    if made[0] == height and made[1] == width and made[2] == line and made[3] == exact:
        return
    made[0], made[1], made[2], made[3] = height, width, line, exact
    n = 0
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for row in range(height):
            for column in range(width):
                if row - down >= 0 and 0 <= column - right < width:
                    continue  # not the first cell of its line
                length = width if down == 0 else height - row
                if down == 1 and right != 0:
                    length = min(length, width - column if right == 1 else column + 1)
                if length >= line:
                    tables.lines[n, 0], tables.lines[n, 1] = row * width + column, down * width + right
                    tables.lines[n, 2] = length
                    n += 1
    tables.lines[n, 2] = 0
    tables.windows[:], tables.spans[:] = 0, 0
    for own in range(line + 1):
        for other in range(line + 1 - own):
            for shut in range(4):
                at = own + OTHER * other + OWN_NEXT * shut
                _fill_window(tables.windows[at], own, other, shut, line, tables.weights)
            if own + other < line and line > 1:
                _fill_span(tables.spans[own + OTHER * other], own, other, line)


@njit(cache=True)
def _read(
    cells: Cells, start: int, step: int, length: int, line: int, exact: bool, own: int, values: Ints, kinds: Any
) -> None:
    """Write the indices of the windows and spans of a line to ``kinds``; ``values`` is scratch space."""
    for i in range(length):
        stone = cells[start + i * step]
        values[i] = 0 if stone == 0 else 1 if stone == own else OTHER
    total = np.int64(0)
    for i in range(line):
        total += values[i]
    n = length - line + 1
    kinds[0, 0] = total
    for i in range(1, n):
        total += values[i + line - 1] - values[i - 1]
        kinds[0, i] = total
    for i in range(n - 1):
        kinds[1, i] = kinds[0, i] if values[i] == 0 and values[i + line] == 0 else DEAD
    if exact:
        for i in range(n):
            before = values[i - 1] if i > 0 else 0
            after = values[i + line] if i + line < length else 0
            kinds[0, i] += OWN_NEXT if before == 1 or after == 1 else 0
            kinds[0, i] += OTHER_NEXT if before == OTHER or after == OTHER else 0


@njit(cache=True)
def sums(tables: Windows, cells: Cells, own: int) -> tuple[int, int]:
    """Return (sum of weights, counts) of a board after `prepare`; ``own`` is the colour that has just moved."""
    # Loops first take their arrays out of the tuple: passing a tuple counts references to all of its arrays.
    lines, windows, spans, values, kinds = tables.lines, tables.windows, tables.spans, tables.values, tables.kinds
    line, exact = tables.made_for[2], tables.made_for[3] == 1
    worth, counts, at = np.int64(0), np.int64(0), 0
    while lines[at, 2] > 0:
        n = lines[at, 2] - line + 1
        _read(cells, lines[at, 0], lines[at, 1], lines[at, 2], line, exact, own, values, kinds)
        for i in range(n):
            worth += windows[kinds[0, i], SUM]
            counts += windows[kinds[0, i], COUNTS]
        for i in range(n - 1):
            counts += spans[kinds[1, i], COUNTS]
        at += 1
    return int(worth), int(counts)


@njit(cache=True)
def changes(tables: Windows, cells: Cells, own: int) -> tuple[int, int]:
    """`sums`, and ``tables.gain`` and ``tables.found`` for all cells; those of cells with stones mean nothing."""
    lines, windows, spans, values, kinds = tables.lines, tables.windows, tables.spans, tables.values, tables.kinds
    line, exact, gain, found = tables.made_for[2], tables.made_for[3] == 1, tables.gain, tables.found
    for cell in range(cells.size):
        gain[cell], found[cell] = 0, 0
    worth, counts, at = np.int64(0), np.int64(0), 0
    while lines[at, 2] > 0:
        start, step, length = lines[at, 0], lines[at, 1], lines[at, 2]
        n = length - line + 1
        _read(cells, start, step, length, line, exact, own, values, kinds)
        gains, founds = np.int64(0), np.int64(0)
        for i in range(length):  # window i covers the cells i to i + line - 1; inside span i are i + 1 to i + line - 1
            cell = start + i * step
            if i < n:
                kind = kinds[0, i]
                worth += windows[kind, SUM]
                counts += windows[kind, COUNTS]
                gains += windows[kind, GAIN]
                founds += windows[kind, FOUND]
            if 1 <= i < n:
                kind = kinds[1, i - 1]
                counts += spans[kind, COUNTS]
                founds += spans[kind, FOUND]
                found[cell - step] += spans[kind, NEXT_FOUND]
            if i >= line:
                kind = kinds[0, i - line]
                gains -= windows[kind, GAIN]
                founds -= windows[kind, FOUND]
                kind = kinds[1, i - line]
                founds -= spans[kind, FOUND]
                found[cell] += spans[kind, NEXT_FOUND]
            gain[cell] += gains
            found[cell] += founds
        for i in range(n if exact else 0):
            if i > 0:
                gain[start + (i - 1) * step] += windows[kinds[0, i], NEXT_GAIN]
            if i + line < length:
                gain[start + (i + line) * step] += windows[kinds[0, i], NEXT_GAIN]
        at += 1
    return int(worth), int(counts)
