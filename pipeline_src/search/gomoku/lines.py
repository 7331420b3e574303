"""A board with the pattern and class of each side's stone on every empty cell, updated move by move.

Cells lie in one array with a border of at least five cells that all directions share: a cell and its neighbours are at
fixed distances, and the only test for edges is whether a cell belongs to the border. Stones are removed in the reverse
order of their placing. So cells with stones need no updates: their surroundings are the same when they are empty again.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.gomoku.board import CARO, LINE, RENJU, RULE, GomokuState
from pipeline_src.games.gomoku.renju import forbidden
from pipeline_src.jit import Need, njit
from pipeline_src.search.gomoku.patterns import THREE, WIDE_THREE, WINS, Patterns, fill, forbid, make_patterns
from pipeline_src.search.gomoku.worth import CLASS, MOVER_WORTH, ORDER, WAITER_WORTH, make_points

BORDER = 3
MARGIN = 5
Int: Any = np.int64
"""Turns a constant into an ordinary argument, since numba compiles a kernel for each constant that it is called
with."""
At: Any = np.uint64
"""Type of an index that cannot be negative (`games.gomoku.moves`)."""
STRIDE, HALF, FIRST, LAST, EMPTY_CELLS, ENDS, FORBIDS = range(7)
"""Entries of `Lines.sizes`: distance from a cell to the one below; cells of a key on each side; first cell of the
board; cell after its last; number of empty cells; 1 if lines win only with an open end; 1 if cells are forbidden to
Black."""
_RNG = np.random.default_rng(20)


class Lines(NamedTuple):
    """The board. C: cells including the border, c: colour less one (0 black, 1 white)."""

    cells: npt.NDArray[np.int8]
    """[C]: 0 empty, 1 black, 2 white, `BORDER`."""
    rows: npt.NDArray[np.int8]
    """[R, stride]: the memory of ``cells``, row by row."""
    near: npt.NDArray[np.int32]
    """[C, 4]: keys of the four lines through a cell."""
    packed: npt.NDArray[np.uint16]
    """[2, C]: patterns of a stone of colour c on a cell, four bits a line."""
    classes: npt.NDArray[np.uint8]
    """[2, C]: classes of cells; 0 for those that are not empty."""
    words: npt.NDArray[np.uint64]
    """[2, C / 8]: the memory of ``classes``, eight cells at a time."""
    counts: npt.NDArray[np.int32]
    """[2, 16]: number of empty cells of each class."""
    worth: npt.NDArray[np.int64]
    """[2, 2]: sums of ``points`` over the empty cells, for a side that is to move and for one that is not, less
    those of the empty board, so that the value of being to move does not depend on the board's size."""
    hash: npt.NDArray[np.uint64]
    """[1]: hash of the stones, without the side to move."""
    sizes: npt.NDArray[np.int64]
    steps: npt.NDArray[np.int64]
    """[4]: distance of neighbours along a row, a column and both diagonals."""
    keys: npt.NDArray[np.uint64]
    """[2, C]: random numbers of the hash."""
    table: npt.NDArray[np.uint8]
    """See `Patterns`."""
    points: npt.NDArray[np.int16]
    """[2, 16^4, 4]: points of a cell by its patterns, for colour c: `worth.MOVER_WORTH` and the other columns."""
    scores: npt.NDArray[np.int32]
    """[C]: points of empty cells for the order of moves, of both colours; 0 elsewhere."""


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


_KEYS = _RNG.integers(0, 1 << 64, (2, 1088), dtype=np.uint64)
"""Random numbers of the hash for boards of up to 25x25."""


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
