"""A board with the pattern and class of each side's stone on every empty cell, updated move by move.

Cells lie in one array with a border of at least five cells that all directions share: a cell and its neighbours are at
fixed distances, and the only test for edges is whether a cell belongs to the border. Stones are removed in the reverse
order of their placing. So cells with stones need no updates: their surroundings are the same when they are empty again.
"""

from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku import (
    AT_LEAST,
    CARO,
    EXACT,
    EXACTLY,
    LINE,
    ONE_END_OPEN,
    RENJU,
    RULE,
    GomokuState,
    forbidden,
)
from pipeline_src.jit import Need, njit

# Line patterns: the effect of a stone on one line through its cell, looked up by the neighbouring cells.
#
# A *key* holds the cells within a few steps of a cell on one line, two bits each, the nearest ones in the lowest bits:
# 0 empty, 1 black, 2 white, 3 off the board. A pattern is the distance of a stone on the cell from a winning line:
#
# * ``FIVE`` is a winning line. ``FOUR`` lacks one stone, and the other side can block it. ``OPEN_FOUR`` lacks one stone
#   and cannot be blocked: two cells complete it.
# * ``THREE`` becomes an open four by one more stone, ``WIDE_THREE`` on more than one cell; ``CLOSED_THREE`` a four.
# * ``TWO`` becomes a three, ``WIDE_TWO`` on three cells and more; ``CLOSED_TWO`` a closed three; ``ONE`` and
#   ``CLOSED_ONE`` in turn those. ``LOST`` is a line that is full and does not win: too long, or shut; and in Renju, for
#   Black, two fours in one line, which are forbidden.
#
# The names are those for lines of five; the definitions hold for any length. Only lines through the cell count. The
# patterns of a cell's four lines together give its *class*, named after a stone there.
#
# Strong Gomoku programs commonly use pattern tables. The threats are those of Allis, van den Herik and Huntjens,
# "Go-Moku and threat-space search" (1993).


NONE, CLOSED_ONE, ONE, CLOSED_TWO, TWO, WIDE_TWO, CLOSED_THREE, THREE, WIDE_THREE, FOUR, OPEN_FOUR, FIVE, LOST = range(
    13
)
PATTERNS = 13
LINES = range(3, 6)  # Lengths of lines that the tables support
QUIET, ONE_THREE, THREE_MORE, TWO_THREES, ONE_FOUR, FOUR_MORE, FOUR_THREE, SURE, WINS = 0, 8, 9, 10, 11, 12, 13, 14, 15
"""Classes of cells: a stone there makes no threat; a three; one next to a closed three or twos; two threes; a four; one
next to such; one next to a three; an open four or two fours, so that the next stone wins; a line that wins."""
COMPLETES = 128  # Bit of an entry while a table is being made: one more stone wins

Bytes = npt.NDArray[np.uint8]


class Patterns(NamedTuple):
    """Tables of a rule. ``half`` is the number of cells of a key on each side."""

    half: int
    table: Bytes  # [4^(2 half)]: by key, black's pattern, and 16 times white's


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
    """Return the tables for a rule (`games.gomoku.RULES`) and a line length.

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


# Points of cells, for the evaluation of positions and the order of moves.
#
# The value of a position is a sum of points over its empty cells, by the patterns that a stone there would make in the
# four lines, with different points for the side to move and the other side. The weights come from a
# logistic regression on results of engine games (bench/fit_gomoku.py of commit 115887a); 400 points are a factor of e
# in the odds.


MOVER_WORTH, WAITER_WORTH, ORDER, CLASS = range(4)
"""Columns of the points: for the side to move, for the other side, for the order of moves; and the class."""
Points = npt.NDArray[np.int16]


class Weights(NamedTuple):
    """Points by pattern, [13], and by class, [16], of a stone on a cell."""

    patterns: tuple[float, ...]
    classes: tuple[float, ...]


MOVER = Weights((0, 2, 0, 2, 14, 24, 24, 94, 112, 70, 0, 0, 0), (0,) * 8 + (0, 60, 200, 36, 87, 900, 0, 0))
WAITER = Weights((0, -1, 1, 6, 15, 20, 34, 48, 54, 43, 0, 0, 0), (0,) * 8 + (29, 28, 49, 18, 53, 584, 0, 0))
TEMPO = 364
"""Points for being to move. A search maximises: without this value, even and odd depths differ by 400 points and
reduced searches cannot be compared (docs/experiments.md)."""
ORDER_OF_MOVES = Weights((0, 0, 1, 2, 5, 6, 6, 14, 16, 20, 60, 100, 0), (0,) * 8 + (20, 45, 120, 40, 60, 250, 400, 900))
"""Points for the order of moves, of either side."""


@lru_cache
def make_points(renju: bool) -> Points:
    """Return points of a cell by the patterns of its four lines, int16 [2, 16^4, 4], by colour and by column.

    In Renju, Black has other classes.
    """
    return np.stack([_make(renju), _make(False)])


def _make(renju: bool) -> Points:
    made = np.zeros((16**4, 4), np.int16)
    made[:, CLASS] = make_classes(renju)
    for column, weights in ((MOVER_WORTH, MOVER), (WAITER_WORTH, WAITER), (ORDER, ORDER_OF_MOVES)):
        of = np.zeros(16)
        of[:PATTERNS] = weights.patterns
        total = of[:, None, None, None] + of[:, None, None] + of[:, None] + of
        made[:, column] = np.round(total.ravel() + np.array(weights.classes)[made[:, CLASS]])
    return made


BORDER = 3
MARGIN = 5
Int: Any = np.int64
"""Turns a constant into an ordinary argument, since numba compiles a kernel for each constant that it is called
with."""
At: Any = np.uint64  # Type of an index that cannot be negative (`games.gomoku`)
STRIDE, HALF, FIRST, LAST, EMPTY_CELLS, ENDS, FORBIDS = range(7)
"""Entries of `Lines.sizes`: distance from a cell to the one below; cells of a key on each side; first cell of the
board; cell after its last; number of empty cells; 1 if lines win only with an open end; 1 if cells are forbidden to
Black."""
_RNG = np.random.default_rng(20)


class Lines(NamedTuple):
    """The board. C: cells including the border, c: colour less one (0 black, 1 white)."""

    cells: npt.NDArray[np.int8]  # [C]: 0 empty, 1 black, 2 white, `BORDER`
    rows: npt.NDArray[np.int8]  # [R, stride]: the memory of `cells`, row by row
    near: npt.NDArray[np.int32]  # [C, 4]: keys of the four lines through a cell
    packed: npt.NDArray[np.uint16]  # [2, C]: patterns of a stone of colour c on a cell, four bits a line
    classes: npt.NDArray[np.uint8]  # [2, C]: classes of cells; 0 for those that are not empty
    words: npt.NDArray[np.uint64]  # [2, C / 8]: the memory of `classes`, eight cells at a time
    counts: npt.NDArray[np.int32]  # [2, 16]: number of empty cells of each class
    worth: npt.NDArray[np.int64]
    """[2, 2]: sums of ``points`` over the empty cells, for a side that is to move and for one that is not, less
    those of the empty board, so that the value of being to move does not depend on the board's size."""
    hash: npt.NDArray[np.uint64]  # [1]: hash of the stones, without the side to move
    sizes: npt.NDArray[np.int64]
    steps: npt.NDArray[np.int64]  # [4]: distance of neighbours along a row, a column and both diagonals
    keys: npt.NDArray[np.uint64]  # [2, C]: random numbers of the hash
    table: npt.NDArray[np.uint8]  # See `Patterns`
    points: npt.NDArray[np.int16]
    """[2, 16^4, 4]: points of a cell by its patterns, for colour c: `worth.MOVER_WORTH` and the other columns."""
    scores: npt.NDArray[np.int32]  # [C]: points of empty cells for the order of moves, of both colours; 0 elsewhere


def make_lines(state: GomokuState) -> Lines:
    """Return the board of a state, finished or not.

    Raises:
        ZugwerkError: patterns do not support the lines of its rule.
    """
    lines = _blank(state, make_patterns(int(state.turn[LINE]), int(state.turn[RULE])))
    height, width = state.board.shape
    for row in range(height):
        at = cell_of(row * width, width, lines)
        lines.cells[at : at + width] = 0
    begin(lines)
    for action in np.flatnonzero(state.board):
        place(lines, cell_of(int(action), width, lines), int(state.board.flat[action]))
    return lines


def _blank(state: GomokuState, patterns: Patterns) -> Lines:
    """Return a board with the border only."""
    rule = state.turn[RULE]
    height, width = state.board.shape
    stride = max(width, MARGIN) + MARGIN
    first = MARGIN * (stride + 1)
    size = -(-(first + (height + MARGIN) * stride) // 8) * 8
    classes, cells = np.zeros((2, size), np.uint8), np.full(size, BORDER, np.int8)
    sizes = [stride, patterns.half, first, first + (height - 1) * stride + width, state.board.size]
    return Lines(
        cells,
        cells[: size // stride * stride].reshape(-1, stride),
        np.zeros((size, 4), np.int32),
        np.zeros((2, size), np.uint16),
        classes,
        classes.view(np.uint64),
        np.zeros((2, 16), np.int32),
        np.zeros((2, 2), np.int64),
        np.zeros(1, np.uint64),
        np.array([*sizes, rule == CARO, rule == RENJU]),
        np.array([1, stride, stride + 1, stride - 1]),
        _KEYS[:, :size],
        patterns.table,
        make_points(bool(rule == RENJU)),
        np.zeros(size, np.int32),
    )


def lines_need(state: GomokuState) -> tuple[Lines, list[Need]]:
    """Return an empty board of the shape of `make_lines`, and the kernels that fill it and place and lift stones."""
    lines = _blank(state, Patterns(1, np.zeros(1, np.uint8)))
    kernels = [Need(fill, (lines.table, 1, 1, 1)), Need(begin, (lines,))]
    kernels += [Need(forbid, (lines.table, 1)), Need(may_play, (lines, 0, 0))]
    return lines, [*kernels, Need(place, (lines, 0, 1)), Need(lift, (lines, 0))]


_KEYS = _RNG.integers(0, 1 << 64, (2, 1088), dtype=np.uint64)  # Random numbers of the hash for boards of up to 25x25


def cell_of(action: int, width: int, lines: Lines) -> int:
    """Return the cell of an action on a board of a width."""
    return int(lines.sizes[FIRST]) + action // width * int(lines.sizes[STRIDE]) + action % width


def action_of(cell: int, width: int, lines: Lines) -> int:
    """Return the action of a cell."""
    row, column = divmod(cell - int(lines.sizes[FIRST]), int(lines.sizes[STRIDE]))
    return row * width + column


@njit(cache=True)
def begin(lines: Lines) -> None:
    """Remove all stones and fill in the values of the empty board."""
    for c in range(2):
        lines.worth[c, 0], lines.worth[c, 1] = 0, 0
        for k in range(16):
            lines.counts[c, k] = 0
    lines.hash[0], lines.sizes[EMPTY_CELLS] = 0, 0
    for cell in range(lines.sizes[FIRST], lines.sizes[LAST]):
        if lines.cells[cell] == BORDER:
            continue
        lines.cells[cell], lines.scores[cell] = 0, 0
        lines.packed[0, cell], lines.packed[1, cell] = 0, 0
        lines.sizes[EMPTY_CELLS] += 1
        for d in range(4):
            key, step, before, after = Int(0), lines.steps[d], Int(0), Int(0)
            for k in range(1, lines.sizes[HALF] + 1):  # beyond the first cell off the board lie others
                before |= Int(lines.cells[cell - k * step] == BORDER)
                after |= Int(lines.cells[cell + k * step] == BORDER)
                key |= 3 * before << (4 * k - 4) | 3 * after << (4 * k - 2)
            lines.near[cell, d] = key
            both = lines.table[key]
            lines.packed[0, cell] |= (both & 15) << 4 * d
            lines.packed[1, cell] |= (both >> 4) << 4 * d
        for c in range(2):
            packed = lines.packed[c, cell]
            lines.classes[c, cell] = lines.points[c, packed, CLASS]
            lines.counts[c, lines.classes[c, cell]] += 1
            lines.scores[cell] += lines.points[c, packed, ORDER]


@njit(cache=True)
def _renew(lines: Lines, cell: int, d: int, key: int) -> None:
    """Update an empty cell for a new key of one of its lines."""
    lines.near[At(cell), At(d)] = key
    both, shift = Int(lines.table[At(key)]), 4 * d
    for c in range(2):
        old = Int(lines.packed[At(c), At(cell)])
        new = (old & ~(15 << shift)) | ((both >> 4 * c) & 15) << shift
        if new != old:
            lines.packed[At(c), At(cell)] = new
            _exchange(lines, c, cell, old, new)
            was, now = Int(lines.classes[At(c), At(cell)]), Int(lines.points[At(c), At(new), CLASS])
            if was != now:
                lines.classes[At(c), At(cell)] = now
                lines.counts[At(c), At(was)] -= 1
                lines.counts[At(c), At(now)] += 1


@njit(cache=True)
def _exchange(lines: Lines, c: int, cell: int, old: int, new: int) -> None:
    """Replace the points of a cell's old patterns by those of the new ones in the sums."""
    points = lines.points
    lines.worth[At(c), 0] += Int(points[At(c), At(new), MOVER_WORTH]) - Int(points[At(c), At(old), MOVER_WORTH])
    lines.worth[At(c), 1] += Int(points[At(c), At(new), WAITER_WORTH]) - Int(points[At(c), At(old), WAITER_WORTH])
    lines.scores[At(cell)] += Int(points[At(c), At(new), ORDER]) - Int(points[At(c), At(old), ORDER])


@njit(cache=True)
def _spread(lines: Lines, cell: int, code: int) -> None:
    """Flip the two bits ``code`` of ``cell`` in the keys of all empty cells that see it."""
    half = lines.sizes[HALF]
    for d in range(4):
        step, near = lines.steps[d], cell
        for k in range(half):
            near += step
            what = lines.cells[At(near)]
            if what == 0:
                _renew(lines, near, d, lines.near[At(near), At(d)] ^ code << 4 * k)
            elif what == BORDER:
                break
        near = cell
        for k in range(half):
            near -= step
            what = lines.cells[At(near)]
            if what == 0:
                _renew(lines, near, d, lines.near[At(near), At(d)] ^ code << (4 * k + 2))
            elif what == BORDER:
                break


@njit(cache=True)
def place(lines: Lines, cell: int, colour: int) -> None:
    """Place a stone of ``colour``, 1 or 2, on an empty cell."""
    for c in range(2):
        lines.counts[At(c), At(lines.classes[At(c), At(cell)])] -= 1
        lines.classes[At(c), At(cell)] = 0
        packed = lines.packed[At(c), At(cell)]
        lines.worth[At(c), 0] -= Int(lines.points[At(c), At(packed), MOVER_WORTH])
        lines.worth[At(c), 1] -= Int(lines.points[At(c), At(packed), WAITER_WORTH])
    lines.scores[At(cell)] = 0
    lines.cells[At(cell)] = colour
    lines.hash[0] ^= lines.keys[At(colour - 1), At(cell)]
    lines.sizes[At(EMPTY_CELLS)] -= 1
    _spread(lines, cell, colour)


@njit(cache=True)
def lift(lines: Lines, cell: int) -> None:
    """Remove the stone placed last; `bring` removes others."""
    colour = Int(lines.cells[At(cell)])
    _spread(lines, cell, colour)
    lines.sizes[At(EMPTY_CELLS)] += 1
    lines.hash[0] ^= lines.keys[At(colour - 1), At(cell)]
    lines.cells[At(cell)] = 0
    for c in range(2):
        packed = lines.packed[At(c), At(cell)]
        lines.classes[At(c), At(cell)] = lines.points[At(c), At(packed), CLASS]
        lines.counts[At(c), At(lines.classes[At(c), At(cell)])] += 1
        lines.worth[At(c), 0] += Int(lines.points[At(c), At(packed), MOVER_WORTH])
        lines.worth[At(c), 1] += Int(lines.points[At(c), At(packed), WAITER_WORTH])
        lines.scores[At(cell)] += Int(lines.points[At(c), At(packed), ORDER])


@njit(cache=True)
def bring(lines: Lines, board: npt.NDArray[np.int8]) -> None:
    """Make the stones those of a board int8 [H, W]. Only what differs is lifted and placed, in any order."""
    for row in range(board.shape[0]):
        first = lines.sizes[FIRST] + row * lines.sizes[STRIDE]
        for column in range(board.shape[1]):
            cell, stone = first + column, Int(board[At(row), At(column)])
            if lines.cells[At(cell)] == stone:
                continue
            if lines.cells[At(cell)] != 0:
                _look_around(lines, cell)
                lift(lines, cell)
            if stone != 0:
                place(lines, cell, stone)


@njit(cache=True)
def _look_around(lines: Lines, cell: int) -> None:
    """Update the keys and patterns of a cell with a stone, which `lift` takes to be those of when it was placed."""
    for d in range(4):
        key, shift = Int(0), 4 * d
        for back in range(2):
            at, what = cell, Int(0)
            for k in range(lines.sizes[HALF]):
                if what != BORDER:
                    at += lines.steps[At(d)] * (1 - 2 * back)
                    what = Int(lines.cells[At(at)])
                key |= what << (4 * k + 2 - 2 * back)
        lines.near[At(cell), At(d)] = key
        both = Int(lines.table[At(key)])
        for c in range(2):
            packed = Int(lines.packed[At(c), At(cell)])
            lines.packed[At(c), At(cell)] = (packed & ~(15 << shift)) | ((both >> 4 * c) & 15) << shift


@njit(cache=True)
def may_play(lines: Lines, c: int, cell: int) -> bool:
    """Whether colour c may play on an empty cell."""
    if c != 0 or lines.sizes[FORBIDS] == 0:
        return True
    stride = lines.sizes[STRIDE]
    return not forbidden(lines.rows, cell // stride, cell % stride)


@njit(cache=True)
def may_surely_play(lines: Lines, c: int, cell: int) -> bool:
    """Whether colour c may play on an empty cell after any further stones of the other side as well.

    Two lines that might both become threes make the answer False.
    """
    if c != 0 or lines.sizes[FORBIDS] == 0:
        return True
    packed, threes = Int(lines.packed[0, At(cell)]), 0
    for d in range(4):
        pattern = (packed >> 4 * d) & 15
        threes += Int(THREE <= pattern <= WIDE_THREE)
    return threes < 2 and may_play(lines, c, cell)


def wins(lines: Lines, cell: int, colour: int) -> bool:
    """Whether a stone of ``colour`` on an empty cell wins."""
    return bool(lines.classes[colour - 1, cell] == WINS)
