"""A board that knows what a stone on each empty cell would make: patterns and classes for both sides, kept by move.

Cells lie in one row with a border, five wide or more, that all directions share: a cell and its neighbours are fixed
distances apart, and nothing has to be asked about edges but whether a cell is of the border. Stones are taken back in
the reverse order of their placing. So nothing has to be kept for cells with stones: what is near them is the same when
they are empty again.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.gomoku.board import EXACT, LINE, GomokuState
from pipeline_src.jit import njit
from pipeline_src.jit.needs import Need
from pipeline_src.search.gomoku.patterns import AT_LEAST, EXACTLY, WINS, Patterns, fill, make_patterns
from pipeline_src.search.gomoku.worth import MOVER, ORDER, WAITER, make_points

BORDER = 3
MARGIN = 5
Int: Any = np.int64
"""Makes of a constant an argument like all others: numba compiles a kernel anew for each constant it is called with."""
At: Any = np.uint64
"""Type of an index that cannot be negative (`games.gomoku.moves`)."""
STRIDE, HALF, FIRST, LAST, EMPTY_CELLS, ENDS = range(6)
"""Entries of `Lines.sizes`: from a cell to the one below; cells of a key to each side; the first cell of the board, and
that after its last; how many are empty; 1 where lines win only with an open end."""
_RNG = np.random.default_rng(20)


class Lines(NamedTuple):
    """The board. C: cells with the border, c: colour less one (0 black, 1 white)."""

    cells: npt.NDArray[np.int8]
    """[C]: 0 empty, 1 black, 2 white, `BORDER`."""
    near: npt.NDArray[np.int32]
    """[C, 4]: keys of the four lines through a cell."""
    packed: npt.NDArray[np.uint16]
    """[2, C]: patterns of a stone of colour c on a cell, four bits a line."""
    classes: npt.NDArray[np.uint8]
    """[2, C]: of cells; 0 of those that are not empty."""
    words: npt.NDArray[np.uint64]
    """[2, C / 8]: the memory of ``classes``, eight cells at a time."""
    counts: npt.NDArray[np.int32]
    """[2, 16]: how many empty cells have a class."""
    worth: npt.NDArray[np.int64]
    """[2, 2]: sums of ``values`` over the empty cells."""
    hash: npt.NDArray[np.uint64]
    """[1]: of the stones, whoever is to move."""
    sizes: npt.NDArray[np.int64]
    steps: npt.NDArray[np.int64]
    """[4]: distance of neighbours along a row, a column and both diagonals."""
    keys: npt.NDArray[np.uint64]
    """[2, C]: random numbers of the hash."""
    table: npt.NDArray[np.uint8]
    """See `Patterns`."""
    class_of: npt.NDArray[np.uint8]
    """[2, 16^4]: see `Patterns.classes`."""
    values: npt.NDArray[np.int16]
    """[2, 16^4, 2]: worth of a cell to colour c by its patterns, while it is to move and while it is not."""
    orders: npt.NDArray[np.int16]
    """[2, 16^4, 1]: the same for the order of moves."""


def make_lines(state: GomokuState, values: npt.NDArray[np.int16] | None = None) -> Lines:
    """The board of a state.

    Args:
        state: unfinished or not.
        values: int16 [2, 16^4, 2], see `Lines.values`; those of `worth` if not given.

    Raises:
        ZugwerkError: its rule has lines that patterns do not know.
    """
    line, exact = int(state.turn[LINE]), state.turn[EXACT] == 1
    lines = _blank(state, make_patterns(line, EXACTLY if exact else AT_LEAST), values)
    height, width = state.board.shape
    for row in range(height):
        at = cell_of(row * width, width, lines)
        lines.cells[at : at + width] = 0
    begin(lines)
    for action in np.flatnonzero(state.board):
        place(lines, cell_of(int(action), width, lines), int(state.board.flat[action]))
    return lines


def _blank(state: GomokuState, patterns: Patterns, values: npt.NDArray[np.int16] | None) -> Lines:
    """All border, and nothing filled in."""
    height, width = state.board.shape
    stride = max(width, MARGIN) + MARGIN
    first = MARGIN * (stride + 1)
    size = -(-(first + (height + MARGIN) * stride) // 8) * 8
    classes = np.zeros((2, size), np.uint8)
    return Lines(
        np.full(size, BORDER, np.int8),
        np.zeros((size, 4), np.int32),
        np.zeros((2, size), np.uint16),
        classes,
        classes.view(np.uint64),
        np.zeros((2, 16), np.int32),
        np.zeros((2, 2), np.int64),
        np.zeros(1, np.uint64),
        np.array([stride, patterns.half, first, first + (height - 1) * stride + width, state.board.size, 0]),
        np.array([1, stride, stride + 1, stride - 1]),
        _KEYS[:, :size],
        patterns.table,
        np.stack([patterns.classes] * 2),
        make_points(MOVER, WAITER) if values is None else values,
        make_points(ORDER),
    )


def lines_need(state: GomokuState) -> tuple[Lines, list[Need]]:
    """Lines as those of `make_lines`, but with nothing in them; and the kernels that fill them, and place and lift."""
    lines = _blank(state, Patterns(1, np.zeros(1, np.uint8), np.zeros(1, np.uint8)), None)
    kernels = [Need(fill, (lines.table, 1, 1, 1)), Need(begin, (lines,))]
    return lines, [*kernels, Need(place, (lines, 0, 1)), Need(lift, (lines, 0))]


_KEYS = _RNG.integers(0, 1 << 64, (2, 1088), dtype=np.uint64)
"""For boards of up to 25x25."""


def cell_of(action: int, width: int, lines: Lines) -> int:
    """The cell of an action on a board so wide."""
    return int(lines.sizes[FIRST]) + action // width * int(lines.sizes[STRIDE]) + action % width


def action_of(cell: int, width: int, lines: Lines) -> int:
    """The action of a cell."""
    row, column = divmod(cell - int(lines.sizes[FIRST]), int(lines.sizes[STRIDE]))
    return row * width + column


@njit(cache=True)
def begin(lines: Lines) -> None:
    """Fill in what belongs to the empty board."""
    for cell in range(lines.sizes[FIRST], lines.sizes[LAST]):
        if lines.cells[cell] != 0:
            continue
        for d in range(4):
            key, step = Int(0), lines.steps[d]
            # Beyond the first cell off the board lie others. To shift by less than 0 would be undefined.
            for k in range(1, lines.sizes[HALF] + 1):
                off = Int(lines.cells[cell - k * step] == BORDER or (k > 1 and (key >> (4 * k - 8)) & 3 == 3))
                key |= 3 * off << (4 * k - 4)
                off = Int(lines.cells[cell + k * step] == BORDER or (k > 1 and (key >> (4 * k - 6)) & 3 == 3))
                key |= 3 * off << (4 * k - 2)
            lines.near[cell, d] = key
            both = lines.table[key]
            lines.packed[0, cell] |= (both & 15) << 4 * d
            lines.packed[1, cell] |= (both >> 4) << 4 * d
        for c in range(2):
            packed = lines.packed[c, cell]
            lines.classes[c, cell] = lines.class_of[c, packed]
            lines.counts[c, lines.classes[c, cell]] += 1
            for role in range(2):
                lines.worth[c, role] += lines.values[c, packed, role]


@njit(cache=True)
def _renew(lines: Lines, cell: int, d: int, key: int) -> None:
    """Bring an empty cell up to date with a new key of one of its lines."""
    lines.near[At(cell), At(d)] = key
    both, shift = Int(lines.table[At(key)]), 4 * d
    for c in range(2):
        old = Int(lines.packed[At(c), At(cell)])
        new = (old & ~(15 << shift)) | ((both >> 4 * c) & 15) << shift
        if new != old:
            lines.packed[At(c), At(cell)] = new
            lines.worth[At(c), 0] += Int(lines.values[At(c), At(new), 0]) - Int(lines.values[At(c), At(old), 0])
            lines.worth[At(c), 1] += Int(lines.values[At(c), At(new), 1]) - Int(lines.values[At(c), At(old), 1])
            was, now = lines.classes[At(c), At(cell)], lines.class_of[At(c), At(new)]
            if was != now:
                lines.classes[At(c), At(cell)] = now
                lines.counts[At(c), At(was)] -= 1
                lines.counts[At(c), At(now)] += 1


@njit(cache=True)
def _spread(lines: Lines, cell: int, code: int) -> None:
    """Turn the two bits ``code`` of ``cell`` over in the keys of all empty cells that see it."""
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
        lines.worth[At(c), 0] -= Int(lines.values[At(c), At(packed), 0])
        lines.worth[At(c), 1] -= Int(lines.values[At(c), At(packed), 1])
    lines.cells[At(cell)] = colour
    lines.hash[0] ^= lines.keys[At(colour - 1), At(cell)]
    lines.sizes[At(EMPTY_CELLS)] -= 1
    _spread(lines, cell, colour)


@njit(cache=True)
def lift(lines: Lines, cell: int) -> None:
    """Take back the stone placed last."""
    colour = Int(lines.cells[At(cell)])
    _spread(lines, cell, colour)
    lines.sizes[At(EMPTY_CELLS)] += 1
    lines.hash[0] ^= lines.keys[At(colour - 1), At(cell)]
    lines.cells[At(cell)] = 0
    for c in range(2):
        packed = lines.packed[At(c), At(cell)]
        lines.classes[At(c), At(cell)] = lines.class_of[At(c), At(packed)]
        lines.counts[At(c), At(lines.classes[At(c), At(cell)])] += 1
        lines.worth[At(c), 0] += Int(lines.values[At(c), At(packed), 0])
        lines.worth[At(c), 1] += Int(lines.values[At(c), At(packed), 1])


def wins(lines: Lines, cell: int, colour: int) -> bool:
    """Whether a stone of ``colour`` on an empty cell wins."""
    return bool(lines.classes[colour - 1, cell] == WINS)
