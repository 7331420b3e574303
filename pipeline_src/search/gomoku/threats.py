"""Threat search: proofs of forced wins by threats alone (Allis, 1994), compiled.

The attacker plays only *threats*: fours, which have a single answer, and threes, after which another stone wins for
certain (class `SURE`). So the defender has few answers: those that remove the threat, and fours of its own. All other
answers lose. No relevant answer is left out but those that Renju forbids, so a proof holds against every defence. A
failed search proves little, because wins by quiet moves are not searched.

The search is depth first by proof numbers (Nagai, "Df-pn algorithm for searching AND/OR trees and its applications",
2002). The *proof number* of a position is the least number of leaves that have to be won to prove it, the *disproof
number* the least number that have to fail to refute it. A node of the attacker has the smallest proof number of its
children and the sum of their disproof numbers; a node of the defender, the reverse.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.search.gomoku.lines import (
    BORDER,
    CLASS,
    ENDS,
    FIRST,
    FIVE,
    FORBIDS,
    FOUR,
    HALF,
    LAST,
    ONE_FOUR,
    ONE_THREE,
    ORDER,
    QUIET,
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

# Victory by continuous fours (VCF): every attacking stone makes a four, and the defender has a single answer.
#
# The search is depth first, with a table of positions without a win. A line that it finds is a proof, because the
# defender has no other answers. In Renju, White also wins by a four whose only answer is forbidden to Black.


FOURS, FOUR_NODES, FOUR_NODE_LIMIT, LENGTH, SALT, BARRED = range(6)
"""Entries of `FourSpace.counts`: positions of all searches, of this one, how many it may look at, how many stones its
line has, a number that separates this game's entries of the table from those of others, and whether the line ends in
a four whose answer is forbidden."""
FOUR_COUNT, NEXT, ANSWER = range(3)
"""Entries of a row of `FourSpace.marks`: moves of the node, the one to be tried next, the answer to the last."""
DEPTH = 32  # Largest number of fours in a line
FOUR_MOVES = 32
ATTACKER_KEY = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)


class FourSpace(NamedTuple):
    """Memory of one search. D: greatest depth in fours, M: moves of a node, E: entries, a power of two."""

    moves: npt.NDArray[np.int32]  # [D, M]
    marks: npt.NDArray[np.int64]  # [D, 3]
    line: npt.NDArray[np.int64]
    """[2 D]: the winning line, the attacker's stones and the answers in turn, without the last stone."""
    failed: npt.NDArray[np.uint64]  # [E]: keys of positions without a win
    counts: npt.NDArray[np.int64]


def make_four_space(entries: int = 1 << 16) -> FourSpace:
    """Return the memory for boards of any size."""
    return FourSpace(
        np.zeros((DEPTH, FOUR_MOVES), np.int32),
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
    counts[FOUR_NODES], counts[BARRED] = 0, 0
    while True:
        if entering:
            counts[FOUR_NODES] += 1
            key = lines.hash[0] ^ ATTACKER_KEY[At(c)] ^ np.uint64(counts[SALT])
            marks[At(depth), FOUR_COUNT], marks[At(depth), NEXT] = 0, 0
            if lines.counts[At(c), WINS] > 0:
                won = True
                break
            if lines.counts[At(c), SURE] > 0 and lines.counts[At(other), WINS] == 0:
                won = True
                break
            if counts[FOUR_NODES] >= limit:
                break
            if depth < DEPTH - 1 and space.failed[At(key & np.uint64(space.failed.size - 1))] != key:
                marks[At(depth), FOUR_COUNT] = _moves(lines, c, space, depth)
        if marks[At(depth), NEXT] >= marks[At(depth), FOUR_COUNT]:
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
    counts[FOURS] += counts[FOUR_NODES]
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


NODES, NODE_LIMIT, STOPPED, GENERATION, KINDS, QUIETS, FOUR_LIMIT = range(7)
"""Entries of `ThreatSpace.counts`: positions looked at; how many may be; whether the search was cut off; its number;
the weakest class of stones that the attacker tries; where that is `QUIET`, how many quiet moves of a node, and how many
positions each search by fours may look at."""
COUNT, CHILD, WORK = range(3)
"""Entries of a row of `ThreatSpace.marks`: moves of the node; the one being searched; nodes before it began."""
PLIES = 80
MOVES = 96
INFINITE = 1 << 30  # Proof number of a refuted position, and disproof number of a proven one
BUCKET, ENTRY_BYTES = 4, 28
LEAST_WORTH = 10  # Least points of a cell for a quiet move
THREE_PROOF, QUIET_PROOF = 2, 4  # Proof numbers of threes and of quiet moves before they are searched
DEFENDS_KEY = np.uint64(0x165667B19E3779F9)


class ProofTable(NamedTuple):
    """Transposition table: [E] each, E a power of two. Entries of another generation are empty."""

    keys: npt.NDArray[np.uint64]
    proofs: npt.NDArray[np.int32]
    disproofs: npt.NDArray[np.int32]
    works: npt.NDArray[np.int32]  # Positions searched for the entry. The entry with the least work is replaced.
    generations: npt.NDArray[np.int32]
    moves: npt.NDArray[np.int16]  # The cell to play; -1 for none
    plies: npt.NDArray[np.int16]  # Plies to the winning line, if proven


class ThreatSpace(NamedTuple):
    """Memory of one search. P: greatest depth in plies, M: moves of a node, C: cells."""

    moves: npt.NDArray[np.int32]  # [P, M]
    proofs: npt.NDArray[np.int32]  # [P, M]: proof numbers of the children
    disproofs: npt.NDArray[np.int32]  # [P, M]
    plies: npt.NDArray[np.int32]  # [P, M]: plies to the win of proven children
    limits: npt.NDArray[np.int64]  # [P, 2]: proof and disproof number at which a node is left
    marks: npt.NDArray[np.int64]  # [P, 3]
    stamps: npt.NDArray[np.int32]  # [C]: number of threats that a stone removes; zeros between two uses
    found: npt.NDArray[np.int32]  # [2, C]: scratch for threats and the stones that remove them, while moves are written
    counts: npt.NDArray[np.int64]
    stop: npt.NDArray[np.uint8]  # [1]: 0 until the search should end


def make_table(entries: int) -> ProofTable:
    """Return an empty table with a number of entries, a power of two."""
    return ProofTable(
        np.zeros(entries, np.uint64),
        np.zeros(entries, np.int32),
        np.zeros(entries, np.int32),
        np.zeros(entries, np.int32),
        np.zeros(entries, np.int32),
        np.zeros(entries, np.int16),
        np.zeros(entries, np.int16),
    )


def make_space(cells: int, stop: npt.NDArray[np.uint8]) -> ThreatSpace:
    """Return the memory for boards of up to this number of cells."""
    return ThreatSpace(
        np.zeros((PLIES + 1, MOVES), np.int32),
        np.zeros((PLIES + 1, MOVES), np.int32),
        np.zeros((PLIES + 1, MOVES), np.int32),
        np.zeros((PLIES + 1, MOVES), np.int32),
        np.zeros((PLIES + 1, 2), np.int64),
        np.zeros((PLIES + 1, 3), np.int64),
        np.zeros(cells, np.int32),
        np.zeros((2, cells), np.int32),
        np.zeros(7, np.int64),
        stop,
    )


@njit(cache=True)
def _shuts(lines: Lines, c: int, cell: int, least: int, space: ThreatSpace, i: int, n: int) -> int:
    """Stamp those of ``n`` cells, which meet the first ``i`` threats, that meet this one too; write them if ``i`` is 0.

    A threat is a cell with a class for c of at least ``least``. A stone of the other side meets it if it makes the
    class less.
    """
    stamps, out = space.stamps, space.found
    packed, code, shift = Int(lines.packed[At(c), At(cell)]), 2 - c, 4 * c
    if stamps[At(cell)] == i:
        stamps[At(cell)] = i + 1
        if i == 0:
            out[1, 0], n = cell, 1
    for d in range(4):
        pattern, key = (packed >> 4 * d) & 15, Int(lines.near[At(cell), At(d)])
        if pattern < FOUR:
            continue
        for back in range(2):
            step, at = lines.steps[d] * (1 - 2 * back), cell
            for k in range(lines.sizes[HALF]):
                at += step
                what = lines.cells[At(at)]
                if what == BORDER:
                    break
                if what != 0 or stamps[At(at)] != i:
                    continue
                left = (Int(lines.table[At(key ^ code << (4 * k + 2 - 2 * back))]) >> shift) & 15
                if left == pattern:
                    continue
                if lines.points[At(c), At((packed & ~(15 << 4 * d)) | left << 4 * d), CLASS] < least:
                    stamps[At(at)] = i + 1
                    if i == 0:
                        out[1, At(n)] = at
                        n += 1
    return n


@njit(cache=True)
def write_defences(lines: Lines, c: int, least: int, space: ThreatSpace, ply: int) -> int:
    """Write all stones that leave colour c no cell of class ``least`` or more as moves of a ply; return the number."""
    threats, n, kept = write_cells(lines, c, least, space.found, Int(0), Int(0)), Int(0), 0
    for i in range(threats):
        n = _shuts(lines, c, Int(space.found[0, At(i)]), least, space, i, n)
    for i in range(n):
        cell = space.found[1, At(i)]
        if space.stamps[At(cell)] == threats:
            space.moves[At(ply), At(kept)] = cell
            kept += 1
        space.stamps[At(cell)] = 0
    return kept


@njit(cache=True)
def _add_quiet(lines: Lines, c: int, space: ThreatSpace, ply: int, n: int) -> int:
    """Write the quiet cells with the most points for colour c after ``n`` moves; return the new number."""
    row, last = space.moves, min(n + space.counts[QUIETS], Int(MOVES))
    first = n
    for cell in range(lines.sizes[FIRST], lines.sizes[LAST]):
        if lines.cells[At(cell)] != 0 or lines.classes[At(c), At(cell)] >= ONE_THREE:
            continue
        worth = lines.points[At(c), At(lines.packed[At(c), At(cell)]), ORDER]
        if worth < LEAST_WORTH:
            continue
        at = n
        while at > first and lines.points[At(c), At(lines.packed[At(c), At(row[At(ply), At(at - 1)])]), ORDER] < worth:
            if at < last:
                row[At(ply), At(at)] = row[At(ply), At(at - 1)]
            at -= 1
        if at < last:
            row[At(ply), At(at)] = cell
            n = min(n + 1, last)
    return n


@njit(cache=True)
def _attacks(lines: Lines, c: int, space: ThreatSpace, ply: int) -> int:
    """Write the attacker's moves in a node without a win within three plies; return their number."""
    other, moves, kinds = 1 - c, space.moves, space.counts[KINDS]
    if lines.counts[At(other), WINS] > 0:
        return int(write_defences(lines, other, Int(WINS), space, ply))
    if lines.counts[At(other), SURE] == 0 or kinds >= ONE_FOUR:
        n = Int(write_cells(lines, c, max(kinds, Int(ONE_THREE)), moves, ply, Int(0)))
        return int(_add_quiet(lines, c, space, ply, n)) if kinds == QUIET else int(n)
    n = Int(0)  # except fours, only moves that meet the other side's threat
    for i in range(write_defences(lines, other, Int(SURE), space, ply)):
        cell = moves[At(ply), At(i)]
        if kinds <= lines.classes[At(c), At(cell)] < ONE_FOUR:
            moves[At(ply), At(n)] = cell
            n += 1
    return int(write_cells(lines, c, Int(ONE_FOUR), moves, ply, n))


@njit(cache=True)
def _allowed(lines: Lines, c: int, space: ThreatSpace, ply: int, n: int) -> int:
    """Remove moves that are forbidden to colour c; return the number left."""
    if c != 0 or lines.sizes[FORBIDS] == 0:
        return n
    kept = Int(0)
    for i in range(n):
        cell = Int(space.moves[At(ply), At(i)])
        if may_play(lines, c, cell):
            space.moves[At(ply), At(kept)] = cell
            kept += 1
    return int(kept)


@njit(cache=True)
def _note(space: ThreatSpace, ply: int, cell: int, n: int) -> int:
    """Write a cell after ``n`` moves unless it is among them; return the new number."""
    if space.stamps[At(cell)] == 0 and n < MOVES:
        space.stamps[At(cell)] = 1
        space.moves[At(ply), At(n)] = cell
        n += 1
    return n


@njit(cache=True)
def _add_allowing(lines: Lines, c: int, answer: int, space: ThreatSpace, ply: int, n: int) -> int:
    """Write the stones of colour c after which a forbidden answer is allowed, after ``n`` moves; return the number."""
    for cell in range(lines.sizes[FIRST], lines.sizes[LAST]):
        if lines.cells[At(cell)] != 0 or cell == answer:
            continue
        lines.cells[At(cell)] = c + 1  # patterns may stay as they are: only the rule is asked
        if may_play(lines, c, answer):
            n = _note(space, ply, Int(cell), n)
        lines.cells[At(cell)] = 0
    return n


@njit(cache=True)
def disturbs(lines: Lines, c: int, fours: FourSpace, space: ThreatSpace, ply: int) -> int:
    """Write all stones of the defender that could spoil the line of fours; return the number, -1 if too many.

    These are the cells of the line, those that could block one of its fours, fours of the defender on the way, and, if
    the line ends in a four whose answer is forbidden, stones after which it is not. Any other stone leaves each four
    and its answer unchanged.
    """
    n, length = Int(0), fours.counts[LENGTH]
    for i in range(length):
        cell, mover = fours.line[At(i)], (c if i & 1 == 0 else 1 - c)
        n = _note(space, ply, cell, n)
        if mover == c:
            for d in range(4):
                if (lines.packed[At(c), At(cell)] >> 4 * d) & 15 < FOUR:
                    continue
                for step in (lines.steps[d], -lines.steps[d]):
                    at = cell
                    for _ in range(lines.sizes[HALF]):
                        at += step
                        if lines.cells[At(at)] == BORDER:
                            break
                        if lines.cells[At(at)] == 0:
                            n = _note(space, ply, at, n)
            for k in range(write_cells(lines, 1 - c, Int(ONE_FOUR), space.found, Int(0), Int(0))):
                n = _note(space, ply, Int(space.found[0, At(k)]), n)
        if i < length - 1 or fours.counts[BARRED]:
            place(lines, cell, mover + 1)
    if fours.counts[BARRED]:
        n = _add_allowing(lines, 1 - c, Int(first_cell(lines, c, Int(WINS))), space, ply, n)
    for i in range(length - 2 + fours.counts[BARRED], -1, -1):
        lift(lines, fours.line[At(i)])
    for i in range(n):
        space.stamps[At(space.moves[At(ply), At(i)])] = 0
    return -1 if n == MOVES else n


@njit(cache=True)
def _answers(lines: Lines, c: int, space: ThreatSpace, ply: int) -> int:
    """Write the defender's answers to the threats of colour c, none of which wins at once; -1 if too many."""
    kept = write_defences(lines, c, Int(SURE), space, ply)
    n = write_cells(lines, 1 - c, Int(ONE_FOUR), space.moves, ply, kept)
    if n == MOVES:
        return -1
    last = kept
    for i in range(kept, n):
        cell, new = space.moves[At(ply), At(i)], True
        for j in range(kept):
            new &= space.moves[At(ply), At(j)] != cell
        if new:
            space.moves[At(ply), At(last)] = cell
            last += 1
    return int(last)


@njit(cache=True)
def _find(table: ProofTable, key: np.uint64, generation: int) -> int:
    """Return the index of a position's entry, -1 if it has none."""
    first = Int(key & np.uint64(table.keys.size - BUCKET))
    for slot in range(first, first + BUCKET):
        if table.keys[At(slot)] == key and table.generations[At(slot)] == generation:
            return int(slot)
    return -1


@njit(cache=True)
def _store(
    table: ProofTable, key: np.uint64, generation: int, proof: int, disproof: int, work: int, move: int, plies: int
) -> None:
    first = Int(key & np.uint64(table.keys.size - BUCKET))
    chosen, least = first, Int(1) << 40
    for slot in range(first, first + BUCKET):
        worth = Int(table.works[At(slot)])
        if table.generations[At(slot)] != generation:
            worth = -1
        elif table.keys[At(slot)] == key:
            worth = -2
        elif table.proofs[At(slot)] == 0:
            worth += INFINITE  # lines are read from the table
        if worth < least:
            chosen, least = slot, worth
    table.keys[At(chosen)], table.generations[At(chosen)] = key, generation
    table.proofs[At(chosen)], table.disproofs[At(chosen)] = proof, disproof
    table.works[At(chosen)] = min(work, INFINITE - 1)
    table.moves[At(chosen)], table.plies[At(chosen)] = move, plies


@njit(cache=True)
def position_key(lines: Lines, c: int, defends: bool) -> np.uint64:
    """Return the key of the question whether colour c wins, with the other side to move if ``defends``."""
    key = lines.hash[0] ^ ATTACKER_KEY[At(c)]
    return np.uint64(key ^ DEFENDS_KEY if defends else key)


@njit(cache=True)
def open_node(
    lines: Lines, c: int, defends: bool, space: ThreatSpace, fours: FourSpace, table: ProofTable, ply: int
) -> tuple[int, int, int]:
    """Return (proof number, disproof number, plies to the win) of a node; (1, 1, 0), and write its moves, if open."""
    counts, other, quiet = lines.counts, 1 - c, space.counts[KINDS] == QUIET
    space.counts[NODES] += 1
    if not defends:
        if counts[At(c), WINS] > 0:
            return 0, INFINITE, 1
        if counts[At(c), SURE] > 0 and counts[At(other), WINS] == 0:
            return 0, INFINITE, 3
        if ply >= PLIES:
            return INFINITE, 0, 0
        if quiet and _find(table, position_key(lines, c, False), space.counts[GENERATION]) < 0:
            plies = Int(win_by_fours(lines, fours, c, space.counts[FOUR_LIMIT]))
            space.counts[NODES] += fours.counts[FOUR_NODES]
            if plies > 0:
                return 0, INFINITE, plies
        n = Int(_allowed(lines, c, space, ply, Int(_attacks(lines, c, space, ply))))
    elif counts[At(other), WINS] > 0:
        return INFINITE, 0, 0
    elif counts[At(c), WINS] > 0:
        n = Int(_allowed(lines, other, space, ply, Int(write_defences(lines, c, Int(WINS), space, ply))))
        if n == 0:
            return 0, INFINITE, 2
    elif counts[At(c), SURE] > 0:
        if counts[At(other), SURE] > 0:
            return INFINITE, 0, 0
        n = Int(_allowed(lines, other, space, ply, Int(_answers(lines, c, space, ply))))
        if n == 0:
            return 0, INFINITE, 4
    else:
        n, plies = Int(0), Int(0)
        if quiet:
            plies = Int(win_by_fours(lines, fours, c, space.counts[FOUR_LIMIT]))
            space.counts[NODES] += fours.counts[FOUR_NODES]
        if plies > 0:
            n = Int(_allowed(lines, other, space, ply, Int(disturbs(lines, c, fours, space, ply))))
            if n == 0:
                return 0, INFINITE, 1 + plies
    if n <= 0:
        return INFINITE, 0, 0
    key = position_key(lines, c, not defends)
    mover, generation = other if defends else c, space.counts[GENERATION]
    for i in range(n):
        cell = space.moves[At(ply), At(i)]
        slot = _find(table, key ^ lines.keys[At(mover), At(cell)], generation)
        proof, disproof, plies = 1, 1, 0
        if slot >= 0:
            proof, disproof = Int(table.proofs[At(slot)]), Int(table.disproofs[At(slot)])
            plies = Int(table.plies[At(slot)])
        elif not defends and lines.classes[At(c), At(cell)] < ONE_FOUR:
            proof = THREE_PROOF if lines.classes[At(c), At(cell)] >= ONE_THREE else QUIET_PROOF
        space.proofs[At(ply), At(i)], space.disproofs[At(ply), At(i)] = proof, disproof
        space.plies[At(ply), At(i)] = plies
    space.marks[At(ply), COUNT] = n
    return 1, 1, 0


@njit(cache=True)
def _weigh(space: ThreatSpace, ply: int, defends: bool) -> tuple[int, int, int, int, int]:
    """Return (proof number, disproof number, best child, number of the second best, plies if proven) of a node."""
    smaller, greater = space.proofs, space.disproofs
    if defends:
        smaller, greater = greater, smaller
    least, second, total, best = INFINITE + 1, INFINITE + 1, Int(0), 0
    longest, shortest = Int(0), Int(1 << 20)
    for i in range(space.marks[At(ply), COUNT]):
        number = Int(smaller[At(ply), At(i)])
        total += Int(greater[At(ply), At(i)])
        plies = Int(space.plies[At(ply), At(i)])
        longest = max(longest, plies)
        if number < least or (number == 0 and plies < shortest):
            least, second, best = number, least, i
            shortest = plies
        elif number < second:
            second = number
    total = min(total, INFINITE)
    if defends:
        return int(total), int(least), int(best), int(second), int(1 + longest)
    return int(least), int(total), int(best), int(second), int(1 + shortest)


@njit(cache=True, nogil=True)
def prove(
    lines: Lines, table: ProofTable, space: ThreatSpace, fours: FourSpace, c: int, defends: bool
) -> tuple[int, int, int, int]:
    """Search for a win of colour c by threats; return (proof number, disproof number, move, plies).

    A proof number of 0 is a proof, with the first move of the win. A disproof number of 0 means that no win exists. The
    board is not changed.
    """
    counts, marks, limits = space.counts, space.marks, space.limits
    ply, entering, other = Int(0), True, 1 - c
    proof, disproof, plies, move = Int(1), Int(1), Int(0), Int(-1)
    limits[0, 0], limits[0, 1] = INFINITE, INFINITE
    while True:
        if space.stop[0] != 0 or counts[NODES] >= counts[NODE_LIMIT]:
            counts[STOPPED] = 1
            if not entering:
                ply += 1
            for above in range(ply - 1, -1, -1):
                lift(lines, Int(space.moves[At(above), At(marks[At(above), CHILD])]))
            return 1, 1, -1, 0
        leave, defending = False, defends ^ (ply & 1 == 1)
        if entering:
            marks[At(ply), WORK] = counts[NODES]
            proof, disproof, plies = open_node(lines, c, defending, space, fours, table, ply)
            leave, move = proof == 0 or disproof == 0, Int(-1)
        else:
            child = marks[At(ply), CHILD]
            lift(lines, Int(space.moves[At(ply), At(child)]))
            space.proofs[At(ply), At(child)], space.disproofs[At(ply), At(child)] = proof, disproof
            space.plies[At(ply), At(child)] = plies if proof == 0 else 0
        if not leave:
            proof, disproof, best, second, plies = _weigh(space, ply, defending)
            move = Int(space.moves[At(ply), At(best)])
            if proof >= limits[At(ply), 0] or disproof >= limits[At(ply), 1]:
                leave = True
            else:
                beyond = second + second // 4 + 1
                below, at = ply + 1, best
                if defending:
                    limits[At(below), 1] = min(limits[At(ply), 1], beyond)
                    limits[At(below), 0] = limits[At(ply), 0] - proof + space.proofs[At(ply), At(at)]
                else:
                    limits[At(below), 0] = min(limits[At(ply), 0], beyond)
                    limits[At(below), 1] = limits[At(ply), 1] - disproof + space.disproofs[At(ply), At(at)]
                marks[At(ply), CHILD] = at
                place(lines, move, (other if defending else c) + 1)
                ply, entering = below, True
                continue
        work = counts[NODES] - marks[At(ply), WORK]
        plies = plies if proof == 0 else Int(0)
        key = position_key(lines, c, defending)
        _store(table, key, counts[GENERATION], proof, disproof, work, move, plies)
        if ply == 0:
            return proof, disproof, move, plies
        ply, entering = ply - 1, False
