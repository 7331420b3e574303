"""Victory by continuous fours (VCF): every attacking stone makes a four, and the defender has a single answer.

The search is depth first, with a table of positions without a win. A line that it finds is a proof, because the
defender has no other answers. In Renju, White also wins by a four whose only answer is forbidden to Black.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.search.gomoku.lines import (
    ENDS,
    FIRST,
    FIVE,
    FORBIDS,
    HALF,
    ONE_FOUR,
    SURE,
    WINS,
    At,
    Int,
    Lines,
    lift,
    may_play,
    may_surely_play,
    place,
)

FOURS, NODES, NODE_LIMIT, LENGTH, SALT, BARRED = range(6)
"""Entries of `FourSpace.counts`: positions of all searches, of this one, how many it may look at, how many stones its
line has, a number that separates this game's entries of the table from those of others, and whether the line ends in
a four whose answer is forbidden."""
COUNT, NEXT, ANSWER = range(3)
"""Entries of a row of `FourSpace.marks`: moves of the node, the one to be tried next, the answer to the last."""
DEPTH = 32  # Largest number of fours in a line
MOVES = 32
ATTACKER_KEY = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)


class FourSpace(NamedTuple):
    """Memory of one search. D: greatest depth in fours, M: moves of a node, E: entries, a power of two."""

    moves: npt.NDArray[np.int32]  # [D, M]
    marks: npt.NDArray[np.int64]  # [D, 3]
    line: npt.NDArray[np.int64]
    """[2 D]: the winning line, the attacker's stones and the answers in turn, without the last stone."""
    failed: npt.NDArray[np.uint64]  # [E]: keys of positions without a win
    counts: npt.NDArray[np.int64]


def make_space(entries: int = 1 << 16) -> FourSpace:
    """Return the memory for boards of any size."""
    return FourSpace(
        np.zeros((DEPTH, MOVES), np.int32),
        np.zeros((DEPTH, 3), np.int64),
        np.zeros(2 * DEPTH + 2, np.int64),
        np.zeros(entries, np.uint64),
        np.zeros(6, np.int64),
    )


@njit(cache=True)
def write_cells(lines: Lines, c: int, least: int, out: npt.NDArray[np.int32], row: int, n: int) -> int:
    """Write cells whose class for colour c is at least ``least``, that of a threat, to a row after ``n`` others.

    Returns the new number of cells; those beyond the end of the row are left out.
    """
    left = Int(0)
    for k in range(least, 16):
        left += lines.counts[At(c), At(k)]
    word = lines.sizes[FIRST] >> 3
    while left > 0 and n < out.shape[1]:
        if lines.words[At(c), At(word)] & np.uint64(0x0808080808080808) != 0:
            for cell in range(8 * word, 8 * word + 8):
                if lines.classes[At(c), At(cell)] >= least:
                    left -= 1
                    if n < out.shape[1]:
                        out[At(row), At(n)] = cell
                        n += 1
        word += 1
    return n


@njit(cache=True)
def first_cell(lines: Lines, c: int, least: int) -> int:
    """Return the first cell with a class for colour c of at least ``least``, that of a threat. One must exist."""
    word = lines.sizes[FIRST] >> 3
    while True:
        if lines.words[At(c), At(word)] & np.uint64(0x0808080808080808) != 0:
            for cell in range(8 * word, 8 * word + 8):
                if lines.classes[At(c), At(cell)] >= least:
                    return int(cell)
        word += 1


@njit(cache=True)
def only_answer(lines: Lines, c: int) -> int:
    """Return the only stone that keeps colour c from a line on its next move; -1 if none or several do."""
    if lines.counts[At(c), WINS] != 1:
        return -1
    cell = Int(first_cell(lines, c, Int(WINS)))
    if lines.sizes[ENDS] == 0:  # only the missing cell stops a line
        return int(cell)
    packed, code, shift = Int(lines.packed[At(c), At(cell)]), 2 - c, 4 * c
    ways, way = Int(0), Int(0)
    for d in range(4):
        if (packed >> 4 * d) & 15 == FIVE:
            ways, way = ways + 1, Int(d)
    key = Int(lines.near[At(cell), At(way)])
    for at in range(0, 4 * lines.sizes[HALF] if ways == 1 else 0, 2):  # no other stone stops lines of two ways
        if (key >> at) & 3 == 0 and (Int(lines.table[At(key | code << at)]) >> shift) & 15 != FIVE:
            return -1
    return int(cell)


@njit(cache=True)
def _sort(lines: Lines, c: int, moves: npt.NDArray[np.int32], row: int, n: int) -> None:
    """Sort by class, best first; equal ones by their place on the board."""
    for i in range(1, n):
        cell = moves[At(row), At(i)]
        what, at = lines.classes[At(c), At(cell)], i
        while at > 0 and lines.classes[At(c), At(moves[At(row), At(at - 1)])] < what:
            moves[At(row), At(at)] = moves[At(row), At(at - 1)]
            at -= 1
        moves[At(row), At(at)] = cell


@njit(cache=True)
def _moves(lines: Lines, c: int, space: FourSpace, depth: int) -> int:
    """Write the fours of a node in which nothing wins at once; return their number."""
    if lines.counts[At(1 - c), WINS] > 0:
        cell = only_answer(lines, 1 - c)
        if cell < 0 or lines.classes[At(c), At(cell)] < ONE_FOUR or not may_surely_play(lines, c, cell):
            return 0
        space.moves[At(depth), 0] = cell
        return 1
    n = write_cells(lines, c, Int(ONE_FOUR), space.moves, depth, Int(0))
    if c == 0 and lines.sizes[FORBIDS] != 0:
        kept = Int(0)
        for i in range(n):
            if may_surely_play(lines, c, Int(space.moves[At(depth), At(i)])):
                space.moves[At(depth), At(kept)] = space.moves[At(depth), At(i)]
                kept += 1
        n = kept
    _sort(lines, c, space.moves, depth, n)
    return int(n)


@njit(cache=True, nogil=True)
def win_by_fours(lines: Lines, space: FourSpace, c: int, limit: int) -> int:
    """Return the plies to a win by fours of colour c, to move; 0 if none was found within ``limit`` positions.

    The line is left in ``space``. The board is not changed.
    """
    counts, marks, moves = space.counts, space.marks, space.moves
    depth, entering, other, won = Int(0), True, 1 - c, False
    counts[NODES], counts[BARRED] = 0, 0
    while True:
        if entering:
            counts[NODES] += 1
            key = lines.hash[0] ^ ATTACKER_KEY[At(c)] ^ np.uint64(counts[SALT])
            marks[At(depth), COUNT], marks[At(depth), NEXT] = 0, 0
            if lines.counts[At(c), WINS] > 0:
                won = True
                break
            if lines.counts[At(c), SURE] > 0 and lines.counts[At(other), WINS] == 0:
                won = True
                break
            if counts[NODES] >= limit:
                break
            if depth < DEPTH - 1 and space.failed[At(key & np.uint64(space.failed.size - 1))] != key:
                marks[At(depth), COUNT] = _moves(lines, c, space, depth)
        if marks[At(depth), NEXT] >= marks[At(depth), COUNT]:
            key = lines.hash[0] ^ ATTACKER_KEY[At(c)] ^ np.uint64(counts[SALT])
            space.failed[At(key & np.uint64(space.failed.size - 1))] = key
            if depth == 0:
                break
            depth -= 1
            lift(lines, Int(marks[At(depth), ANSWER]))
            lift(lines, Int(moves[At(depth), At(marks[At(depth), NEXT] - 1)]))
            entering = False
            continue
        move = Int(moves[At(depth), At(marks[At(depth), NEXT])])
        marks[At(depth), NEXT] += 1
        if lines.classes[At(c), At(move)] >= SURE:  # and removes the other side's only threat
            marks[At(depth), NEXT] = 1
            won = True
            break
        place(lines, move, c + 1)
        answer = Int(-1)
        if lines.counts[At(other), WINS] == 0:
            answer = Int(only_answer(lines, c))
        if answer < 0:  # the answer wins, or is not an answer
            lift(lines, move)
            entering = False
            continue
        if not may_play(lines, other, answer):
            lift(lines, move)
            counts[BARRED], won = 1, True
            break
        marks[At(depth), ANSWER] = answer
        place(lines, answer, other + 1)
        depth, entering = depth + 1, True
    counts[FOURS] += counts[NODES]
    plies = Int(0)
    if won:
        plies = 2 * depth + (1 if lines.counts[At(c), WINS] > 0 else 3)
        counts[LENGTH] = 2 * depth + 1
        if counts[BARRED] or (lines.counts[At(other), WINS] > 0 and lines.counts[At(c), WINS] == 0):
            space.line[At(2 * depth)] = moves[At(depth), At(marks[At(depth), NEXT] - 1)]
        else:
            space.line[At(2 * depth)] = first_cell(lines, c, Int(WINS if lines.counts[At(c), WINS] > 0 else SURE))
    for above in range(depth - 1, -1, -1):
        answer, move = Int(marks[At(above), ANSWER]), Int(moves[At(above), At(marks[At(above), NEXT] - 1)])
        space.line[At(2 * above)], space.line[At(2 * above + 1)] = move, answer
        lift(lines, answer)
        lift(lines, move)
    return int(plies)
