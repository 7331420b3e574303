"""`Engine`: a search by threats, then iterative deepening with a compiled principal variation search."""

import contextlib
import math
import time
from collections.abc import Iterator
from threading import Thread
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku import SIDE, GomokuState, format_variant, winner
from pipeline_src.jit import Need, njit
from pipeline_src.project.params import Params
from pipeline_src.search.gomoku import threats
from pipeline_src.search.gomoku.lines import (
    EMPTY_CELLS,
    FIRST,
    LAST,
    ONE_FOUR,
    ONE_THREE,
    SURE,
    TEMPO,
    WINS,
    At,
    Int,
    Lines,
    action_of,
    cell_of,
    lift,
    lines_need,
    make_lines,
    may_play,
    place,
)
from pipeline_src.search.gomoku.threats import (
    FOUR_NODES,
    FourSpace,
    ThreatSpace,
    disturbs,
    first_cell,
    win_by_fours,
    write_cells,
    write_defences,
)
from pipeline_src.search.limits import Limit, Line, OnInfo, SearchResult, StopFlag, repeated, searching_seconds

# Compiled principal variation search of Gomoku on boards with patterns; one call is one iteration.
#
# Certain wins are not searched: a line on the next stone, two of them, an open four (`lines`). If the other side has
# a threat, the search tries only stones that meet it, since all others lose; a single answer costs no depth. Otherwise
# it tries the cells of most worth to either side, best first, the later ones at first less deep. A search by continuous
# fours (`threats`) finds wins of the side to move, at the horizon and above it. Further up it also finds wins that the
# other side would have if it were to move; then only stones that spoil its line are tried.
#
# Values are whole numbers for the side to move. A win is worth ``WIN`` less the plies from the root to its line.
#
# Sources: those of `search.alphabeta`; late move reductions are from chess programs of the 1990s.


NODES, NODE_LIMIT, STOPPED, GENERATION, THREAT_NODES, DEEPEST, OLDEST = range(7)
"""Entries of `Space.counts`: positions searched; their limit; whether the search was cut off; its number; positions of
searches by threats; the greatest ply; number of the first search whose table entries are valid."""
LEAF_FOURS, INNER_FOURS, GUARD, REDUCE_AFTER, WIDTH, TEMPO_SWITCH, FIRST_WIDTH, MORE_WIDTH, MARGIN = range(9)
"""Entries of `Space.switches`: the fields of `engine.Options` with the same names."""
ALPHA, BETA, FLOOR, BEST = range(4)
"""Entries of a row of `Space.bounds`: the window, its first lower end, the best value so far."""
DEPTH, COUNT, NEXT, STAGE, BEST_MOVE, MOVE = range(6)
"""Entries of a row of `Space.marks`: remaining depth; number of moves; number of moves begun; stage of the current
move; best move so far; current move."""
REDUCED, MINIMAL, WHOLE = range(3)
"""Stages of a move: at reduced depth with a minimal window; with a minimal window; with the whole window."""
EXACT, LOWER, UPPER = 0, 1, 2
WIN = 10_000
PROVEN = WIN - 500  # Values above it are forced wins, counted from the root
MOST = 5_000  # Largest absolute value of the evaluation
INFINITY = 2 * WIN
PLIES = 64
MOST_SEARCHES = (1 << 22) - 1  # Greatest number of a search that an entry of the table holds
MOST_HISTORY, KILLER = 100, 100  # Limit of the history score, and score of a killer, in the order of moves
LEAST_SCORE = 10  # Cells with this score or less are far from all stones, and not tried
MOVES = 64
SIDE_KEY = np.array([0x27D4EB2F165667C5, 0x85EBCA77C2B2AE63], np.uint64)


class Table(NamedTuple):
    """Transposition table, which several threads may read and write at a time.

    Entries form pairs. The even entry is replaced by a search that is later or at least as deep, the odd one by any.
    """

    slots: npt.NDArray[np.uint64]
    """[E, 2], E a power of two: key ^ data and data (see `_packed`), so that an entry of which two threads wrote a
    half each has the key of no position (Hyatt, Mann: A lock-less transposition table implementation, 2002)."""


class Space(NamedTuple):
    """Memory of one search. P: plies, M: moves of a node, C: cells."""

    moves: npt.NDArray[np.int32]  # [P, M]: moves, best first
    scores: npt.NDArray[np.int64]  # [P, M]: scores of the moves, in descending order
    marks: npt.NDArray[np.int64]  # [P, 6]
    bounds: npt.NDArray[np.int64]  # [P, 4]
    killers: npt.NDArray[np.int64]  # [P, 2]: the two moves that were the last to refute at a ply, -1 for none
    history: npt.NDArray[np.int64]  # [2, C]: history score of a colour's stone on a cell
    banned: npt.NDArray[np.uint8]  # [C]: 1 for cells that are not tried at the root
    counts: npt.NDArray[np.int64]
    switches: npt.NDArray[np.int64]
    stop: npt.NDArray[np.uint8]  # [1]: 0 until the search should end


def make_table(megabytes: float) -> Table:
    """Return an empty table. The number of entries is the largest power of two that fits, at least 2."""
    entries = 2
    while entries * 2 * 16 <= megabytes * 1e6:
        entries *= 2
    return Table(np.zeros((entries, 2), np.uint64))


def make_space(cells: int, stop: npt.NDArray[np.uint8]) -> Space:
    """Return the memory for boards of up to this number of cells."""
    return Space(
        np.zeros((PLIES + 1, MOVES), np.int32),
        np.zeros((PLIES + 1, MOVES), np.int64),
        np.zeros((PLIES + 1, 6), np.int64),
        np.zeros((PLIES + 1, 4), np.int64),
        np.full((PLIES + 1, 2), -1, np.int64),
        np.zeros((2, cells), np.int64),
        np.zeros(cells, np.uint8),
        np.zeros(7, np.int64),
        np.zeros(11, np.int64),
        stop,
    )


@njit(cache=True)
def _packed(value: int, move: int, depth: int, bound: int, generation: int) -> int:
    """Return the data of an entry. Values are to the side to move, with the plies to a win counted from there."""
    return int(value & 0xFFFF | (move & 0xFFFF) << 16 | depth << 32 | bound << 39 | generation << 41)


@njit(cache=True)
def _value_of(data: int) -> int:
    return int((data & 0xFFFF ^ 0x8000) - 0x8000)


@njit(cache=True)
def move_of(data: int) -> int:
    """Return the move of an entry's data, -1 for none."""
    return int((data >> 16 & 0xFFFF ^ 0x8000) - 0x8000)


@njit(cache=True)
def _depth_of(data: int) -> int:
    return int(data >> 32 & 0x7F)


@njit(cache=True)
def _place_of(table: Table, key: np.uint64, oldest: int) -> tuple[int, np.uint64]:
    """Return (place, data) of a position's entry; the place is -1 if no search since ``oldest`` has stored one."""
    slot = Int(key & np.uint64(len(table.slots) - 1))
    for at in (slot, slot ^ 1):
        data = table.slots[At(at), 1]
        if table.slots[At(at), 0] ^ data == key and Int(data >> np.uint64(41)) >= oldest:
            return int(at), data
    return -1, np.uint64(0)


@njit(cache=True)
def find(table: Table, key: np.uint64, oldest: int) -> int:
    """Return the data of a position's entry, -1 if no search since ``oldest`` has stored one."""
    at, data = _place_of(table, key, oldest)
    return int(Int(data)) if at >= 0 else -1


@njit(cache=True)
def expect(table: Table, key: np.uint64, oldest: int, move: int) -> None:
    """Replace the move of a position's entry, if there is one."""
    at, data = _place_of(table, key, oldest)
    if at >= 0:
        data = data & ~np.uint64(0xFFFF0000) | np.uint64(move) << np.uint64(16)
        table.slots[At(at), 0], table.slots[At(at), 1] = key ^ data, data


@njit(cache=True)
def store(
    table: Table, key: np.uint64, generation: int, depth: int, bound: int, value: int, move: int, ply: int
) -> None:
    """Store the value of a position at a ply, in place of an entry of less worth."""
    even = Int(key & np.uint64(len(table.slots) - 1)) & ~1
    first, second = table.slots[At(even), 1], table.slots[At(even + 1), 1]
    slot = even + 1
    if (
        table.slots[At(even), 0] ^ first == key
        or Int(first >> np.uint64(41)) != generation
        or _depth_of(Int(first)) <= depth
    ):
        slot = even
    if table.slots[At(even + 1), 0] ^ second == key and Int(second >> np.uint64(41)) == generation:
        slot = even + 1
    value += ply if value > PROVEN else -ply if value < -PROVEN else 0
    data = np.uint64(_packed(value, move, depth, bound, generation))
    table.slots[At(slot), 0], table.slots[At(slot), 1] = key ^ data, data


@njit(cache=True)
def position_key(lines: Lines, c: int) -> np.uint64:
    """Return the key of the position with colour c to move."""
    return np.uint64(lines.hash[0] ^ SIDE_KEY[At(c)])


@njit(cache=True)
def static_value(lines: Lines, c: int, space: Space) -> int:
    """Return the value of a quiet position to colour c, to move: the difference of the worth of the cells."""
    value = lines.worth[At(c), 0] - lines.worth[At(1 - c), 1] + space.switches[TEMPO_SWITCH]
    return int(min(Int(MOST), max(Int(-MOST), value)))


@njit(cache=True)
def _insert(lines: Lines, c: int, space: Space, ply: int, remembered: int, cell: int, n: int, most: int) -> int:
    """Insert a move into the ``n`` best of a node, of which ``most`` are kept; return the new number."""
    if not may_play(lines, c, cell):
        return n
    score = 4 * Int(lines.scores[At(cell)]) + space.history[At(c), At(cell)]
    if cell == space.killers[At(ply), 0] or cell == space.killers[At(ply), 1]:
        score += KILLER
    if cell == remembered:
        score += 1 << 40
    if n == most and space.scores[At(ply), At(n - 1)] >= score:
        return n
    at = n if n < most else n - 1
    while at > 0 and space.scores[At(ply), At(at - 1)] < score:
        space.scores[At(ply), At(at)] = space.scores[At(ply), At(at - 1)]
        space.moves[At(ply), At(at)] = space.moves[At(ply), At(at - 1)]
        at -= 1
    space.scores[At(ply), At(at)], space.moves[At(ply), At(at)] = score, cell
    return n + 1 if n < most else n


@njit(cache=True)
def _fours(lines: Lines, c: int, fours: FourSpace, space: Space, limit: int) -> int:
    """Return `win_by_fours` if colour c has a four to begin with, else 0."""
    some = Int(0)
    for k in range(ONE_FOUR, 16):
        some += lines.counts[At(c), At(k)]
    if some == 0 or limit == 0:
        return 0
    plies = Int(win_by_fours(lines, fours, c, limit))
    space.counts[THREAT_NODES] += fours.counts[FOUR_NODES]
    return int(plies)


@njit(cache=True)
def _open(
    lines: Lines,
    c: int,
    space: Space,
    table: Table,
    fours: FourSpace,
    threats: ThreatSpace,
    ply: int,
    depth: int,
    alpha: int,
    beta: int,
) -> tuple[bool, int]:
    """Return (whether the value of a position is known, the value if so); otherwise prepare the node and its moves."""
    counts, other, switches = lines.counts, 1 - c, space.switches
    space.counts[NODES] += 1
    space.counts[DEEPEST] = max(space.counts[DEEPEST], ply)
    if counts[At(c), WINS] > 0 and ply > 0:
        return True, Int(WIN - (ply + 1))
    if lines.sizes[EMPTY_CELLS] == 0 and ply > 0:
        return True, Int(0)
    forced = counts[At(other), WINS] > 0
    if counts[At(c), SURE] > 0 and not forced and ply > 0:
        return True, Int(WIN - (ply + 3))
    if ply >= PLIES:
        return True, Int(static_value(lines, c, space))
    pressed = counts[At(other), SURE] > 0
    quiet, value = not forced and not pressed, Int(static_value(lines, c, space))
    if depth <= 0 and quiet:
        if value >= beta:
            return True, value
        plies = Int(_fours(lines, c, fours, space, switches[LEAF_FOURS]))
        return True, Int(WIN - (ply + plies)) if plies > 0 else value
    key, remembered, known = position_key(lines, c), Int(-1), False
    data = Int(find(table, key, space.counts[OLDEST]))
    if data >= 0:
        known, remembered = True, Int(move_of(data))
        if _depth_of(data) >= depth and ply > 0:
            found, bound = Int(_value_of(data)), data >> 39 & 3
            found -= ply if found > PROVEN else -ply if found < -PROVEN else 0
            if bound == EXACT or (bound == LOWER and found >= beta) or (bound == UPPER and found <= alpha):
                return True, found
    if (
        quiet
        and beta - alpha == 1
        and depth <= 3
        and switches[MARGIN] > 0
        and -PROVEN < beta < PROVEN
        and value - switches[MARGIN] * depth >= beta
    ):
        return True, value
    if not forced and not known and ply > 0:
        plies = Int(_fours(lines, c, fours, space, switches[INNER_FOURS]))
        if plies > 0:
            store(table, key, space.counts[GENERATION], Int(PLIES), Int(EXACT), WIN - (ply + plies), Int(-1), ply)
            return True, Int(WIN - (ply + plies))
    n, listed, most = Int(0), Int(-1), Int(MOVES)
    if forced:
        listed = Int(write_defences(lines, other, Int(WINS), threats, Int(0)))
        if listed == 0 and ply > 0:
            return True, Int(ply + 2 - WIN)
        depth = max(depth, Int(0)) + 1
    elif pressed:
        listed = Int(write_defences(lines, other, Int(SURE), threats, Int(0)))
        listed = Int(write_cells(lines, c, Int(ONE_FOUR), threats.moves, Int(0), listed))
        if listed == 0 and ply > 0:
            return True, Int(ply + 4 - WIN)
        depth = max(depth, Int(1))
    elif 0 < switches[GUARD] <= depth and _fours(lines, other, fours, space, switches[INNER_FOURS]) > 0:
        listed = Int(disturbs(lines, other, fours, threats, Int(0)))
    if listed > 0:
        for i in range(listed):
            cell, new = Int(threats.moves[0, At(i)]), True
            for j in range(n):
                new &= space.moves[At(ply), At(j)] != cell
            if new:
                n = Int(_insert(lines, c, space, ply, remembered, cell, n, most))
        if n == 0 and ply > 0:  # all useful moves are forbidden
            return True, Int(ply + (2 if forced else 4 if pressed else 6) - WIN)
    if n == 0:  # at the root a lost position is searched for its longest line
        if ply > 0:
            most = min(switches[WIDTH], switches[FIRST_WIDTH] + depth * switches[MORE_WIDTH])
        least = LEAST_SCORE if ply > 0 else 0
        for cell in range(lines.sizes[FIRST], lines.sizes[LAST]):
            if lines.scores[At(cell)] > least:
                n = Int(_insert(lines, c, space, ply, remembered, Int(cell), n, most))
        if n == 0:
            for cell in range(lines.sizes[FIRST], lines.sizes[LAST]):
                if lines.cells[At(cell)] == 0:
                    n = Int(_insert(lines, c, space, ply, remembered, Int(cell), n, most))
    if n == 0 and ply > 0:
        return True, Int(0)
    marks, bounds = space.marks, space.bounds
    marks[At(ply), DEPTH], marks[At(ply), COUNT], marks[At(ply), NEXT] = depth, n, 0
    marks[At(ply), BEST_MOVE] = -1
    bounds[At(ply), ALPHA], bounds[At(ply), BETA], bounds[At(ply), FLOOR] = alpha, beta, alpha
    bounds[At(ply), BEST] = -INFINITY
    if ply == 0:
        kept = Int(0)
        for i in range(n):
            if space.banned[At(space.moves[0, At(i)])] == 0:
                space.moves[0, At(kept)] = space.moves[0, At(i)]
                kept += 1
        marks[0, COUNT] = kept
    return False, Int(0)


@njit(cache=True)
def _finish(lines: Lines, c: int, space: Space, table: Table, ply: int) -> int:
    """Store the value of a finished node and return it."""
    best, beta, floor = space.bounds[At(ply), BEST], space.bounds[At(ply), BETA], space.bounds[At(ply), FLOOR]
    move, depth = space.marks[At(ply), BEST_MOVE], space.marks[At(ply), DEPTH]
    bound = LOWER if best >= beta else EXACT if best > floor else UPPER
    if ply == 0 and bound == EXACT and space.banned.any():
        bound = LOWER  # a move that was not tried may be better
    if best >= beta and move >= 0:
        if space.killers[At(ply), 0] != move:
            space.killers[At(ply), 1] = space.killers[At(ply), 0]
            space.killers[At(ply), 0] = move
        history = space.history[At(c), At(move)] + depth * depth
        space.history[At(c), At(move)] = history
        if history > MOST_HISTORY:
            for cell in range(lines.sizes[FIRST], lines.sizes[LAST]):
                space.history[At(c), At(cell)] >>= 1
    store(table, position_key(lines, c), space.counts[GENERATION], depth, Int(bound), best, move, ply)
    return int(best)


@njit(cache=True)
def _resume(lines: Lines, c: int, space: Space, table: Table, ply: int, below: int) -> tuple[bool, bool, int]:
    """Take the value of a searched move.

    Returns:
        (whether the same move is searched again, whether the node is finished, its value if so).
    """
    marks, bounds, value = space.marks, space.bounds, -below
    stage = marks[At(ply), STAGE]
    if stage == REDUCED and value > bounds[At(ply), ALPHA]:
        marks[At(ply), STAGE] = MINIMAL
        return True, False, Int(0)
    if stage == MINIMAL and bounds[At(ply), ALPHA] < value < bounds[At(ply), BETA]:
        marks[At(ply), STAGE] = WHOLE
        return True, False, Int(0)
    move = marks[At(ply), MOVE]
    lift(lines, move)
    if value > bounds[At(ply), BEST]:
        bounds[At(ply), BEST], marks[At(ply), BEST_MOVE] = value, move
        bounds[At(ply), ALPHA] = max(bounds[At(ply), ALPHA], value)
        if value >= bounds[At(ply), BETA]:
            return False, True, Int(_finish(lines, c, space, table, ply))
    return False, False, Int(0)


@njit(cache=True, nogil=True)
def search(
    lines: Lines,
    c: int,
    space: Space,
    table: Table,
    fours: FourSpace,
    threats: ThreatSpace,
    depth: int,
) -> int:
    """Return the value of a position to colour c, to move, at ``depth`` plies. The board is not changed.

    The best move is left in the first row of ``space.marks``. After a search that was cut off it is the best of the
    moves that were searched to their end, -1 if there are none.
    """
    counts, marks, bounds = space.counts, space.marks, space.bounds
    ply, entering, value, side = Int(0), True, Int(0), c
    alpha, beta = Int(-INFINITY), Int(INFINITY)
    marks[0, BEST_MOVE] = -1
    while True:
        if space.stop[0] != 0 or counts[NODES] >= counts[NODE_LIMIT]:
            counts[STOPPED] = 1
            for above in range(ply - 1 if entering else ply, -1, -1):
                lift(lines, marks[At(above), MOVE])
            return int(bounds[0, BEST])
        again, done = False, False
        if entering:
            done, value = _open(lines, side, space, table, fours, threats, ply, depth, alpha, beta)
        else:
            again, done, value = _resume(lines, side, space, table, ply, value)
        if not done and not again:
            at = marks[At(ply), NEXT]
            if at >= marks[At(ply), COUNT]:
                done, value = True, Int(_finish(lines, side, space, table, ply))
            else:
                marks[At(ply), NEXT] = at + 1
                marks[At(ply), STAGE] = WHOLE
                if at > 0:
                    late = 0 < space.switches[REDUCE_AFTER] <= at and marks[At(ply), DEPTH] > 2
                    marks[At(ply), STAGE] = REDUCED if late else MINIMAL
                move = Int(space.moves[At(ply), At(at)])
                marks[At(ply), MOVE] = move
                place(lines, move, side + 1)
        if done:
            if ply == 0:
                return int(value)
            ply, entering, side = ply - 1, False, 1 - side
            continue
        depth = marks[At(ply), DEPTH] - 1
        if marks[At(ply), STAGE] == REDUCED:
            late = marks[At(ply), NEXT] - space.switches[REDUCE_AFTER]
            depth -= 1 + Int(late > 4 and depth > 3) + Int(late > 10 and depth > 5)
        beta = -bounds[At(ply), ALPHA]
        alpha = -bounds[At(ply), BETA] if marks[At(ply), STAGE] == WHOLE else beta - 1
        ply, entering, side = ply + 1, True, 1 - side


MAX_DEPTH = 60
SHARE = 0.15  # Largest share of a move's time for threat searches at the root
STEP = 1_000  # Positions of a threat search between two checks of the clock
EACH = 5_000  # Positions of the first threat search after the best move
PROOFS = 1 << 18  # Number of entries of the table of proofs
NEVER = 1 << 60
Number = Annotated[int, Field(ge=0, lt=1 << 30)]


class Options(Params):
    """Options of the search."""

    leaf_fours: Number = 20
    """Largest number of positions of a search by fours at the horizon; 0 is no search."""
    inner_fours: Number = 40
    """Largest number of positions of a search by fours above the horizon; 0 is no search."""
    guard: Number = 2
    """Least remaining depth at which the search checks whether the other side threatens to win by fours; 0 is never."""
    reduce_after: Number = 4
    """Number of moves of a node after which the others are first searched less deep; 0 is never."""
    width: Number = 24
    """Largest number of moves of a node."""
    first_width: Number = 4
    """Largest number of moves of a node at the horizon."""
    more_width: Number = 4
    """Number of further moves for each ply of remaining depth."""
    margin: Number = 300
    """Points above beta, per ply of remaining depth up to three, at which a static value ends a node; 0 is never."""
    tempo: Number = TEMPO
    """Points for being to move."""
    threats: Number = 1 << 20
    """Positions of searches by threats at the root and after its best moves; 0 is none."""
    table_mb: Annotated[float, Field(ge=0, lt=1e6)] = 32.0
    """Size of the transposition table in MB."""
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    """Number of threads of a search with no limit of nodes or depth. Others use one, which finds the same result each
    time."""


class Engine:
    """Alpha-beta of Gomoku; see `limits.Searcher`. ``Limit.nodes`` counts positions searched.

    A search with a time limit uses the tables of earlier searches, until `forget`. Other searches start with empty
    tables, so that their results depend on the position alone. Further threads search the same position and share the
    transposition table, so that each finds what the others have searched (lazy SMP).
    """

    def __init__(self, options: Options | None = None) -> None:
        """Make the tables. Memory for a board is made at the first search."""
        self.options = options or Options()
        self._stop = StopFlag()
        self.table, self.fours = make_table(self.options.table_mb), threats.make_four_space()
        self.proofs = threats.make_table(PROOFS)
        self.space = make_space(1, self._stop.raised)
        self.threats = threats.make_space(1, self._stop.raised)
        self.others: list[Space] = []
        self.generation, self.oldest = 0, 1
        self.board: tuple[int, str] = 0, ""

    def stop(self) -> None:
        """See `Searcher`."""
        self._stop.set()

    def use_memory(self, size: int) -> None:
        """Limit the tables to ``size`` bytes, if that is less than the default."""
        self.table = make_table(min(self.options.table_mb, 0.75 * size / 1e6))
        self.proofs = threats.make_table(min(PROOFS, 1 << max(4, (size // 4 // threats.ENTRY_BYTES).bit_length() - 1)))

    def forget(self) -> None:
        """Forget the results of earlier searches."""
        self.oldest = self.generation + 1

    @property
    def stopped(self) -> bool:
        """Whether the running search should end."""
        return bool(self._stop.raised[0])

    def needs(self, state: GomokuState) -> list[Need]:
        """See `Searcher`."""
        lines, found = lines_need(state)
        stones, proofs, table = self.fours, self.proofs, self.table
        return [
            *found,
            Need(first_cell, (lines, 0, 1)),
            Need(win_by_fours, (lines, stones, 0, 1)),
            Need(threats.prove, (lines, proofs, self.threats, stones, 0, False)),
            Need(search, (lines, 0, self.space, table, stones, self.threats, 1)),
            Need(position_key, (lines, 0)),
            Need(find, (table, np.uint64(0), 1)),
            Need(expect, (table, np.uint64(0), 1, 1)),
            Need(move_of, (1,)),
        ]

    def search(self, state: GomokuState, limit: Limit, seed: int = 0, on_info: OnInfo | None = None) -> SearchResult:  # noqa: ARG002
        """See `Searcher`. Nothing is random, so ``seed`` is ignored.

        Raises:
            ZugwerkError: the game is over, or the patterns do not support its rule.
        """
        if winner(state) is not None:
            raise ZugwerkError("the game is over: there is nothing to search")
        began = time.perf_counter()
        self._stop.clear()
        seconds = None
        board = state.board.size, format_variant(state)
        if limit.movetime_ms is None or board != self.board:
            self.forget()
        self.board = board
        if limit.movetime_ms is not None:
            seconds = searching_seconds(limit.movetime_ms)
        lines = make_lines(state)
        self._begin(lines, limit)
        threads = self.options.threads if limit.nodes is None and limit.depth is None else 1
        with self._stop.after(seconds), repeated(on_info, limit, self._nodes) as tell, self._helped(state, threads):
            return self._search(state, lines, limit, began, seconds, tell)

    def _nodes(self) -> int:
        return sum(int(space.counts[NODES]) for space in (self.space, *self.others))

    @contextlib.contextmanager
    def _helped(self, state: GomokuState, threads: int) -> Iterator[None]:
        """Have other threads search a position until the block ends."""
        stop = np.zeros(1, np.uint8)
        self.others = []
        crew = [Thread(target=self._help, args=(state, stop, k)) for k in range(1, threads)]
        for thread in crew:
            thread.start()
        try:
            yield
        finally:
            stop[0] = 1
            for thread in crew:
                thread.join()

    def _help(self, state: GomokuState, stop: npt.NDArray[np.uint8], number: int) -> None:
        """Search a position deeper and deeper in memory of this thread's own, but for the transposition table."""
        lines, c = make_lines(state), int(state.turn[SIDE])
        space, found = make_space(lines.cells.size, stop), threats.make_space(lines.cells.size, stop)
        stones = threats.make_four_space()
        self._set(space)
        self.others.append(space)
        for depth in range(1 + number % 2, MAX_DEPTH + 1):
            if not stop[0]:
                search(lines, c, space, self.table, stones, found, depth)

    def _search(
        self,
        state: GomokuState,
        lines: Lines,
        limit: Limit,
        began: float,
        seconds: float | None,
        on_info: OnInfo | None,
    ) -> SearchResult:
        c, width, space = int(state.turn[SIDE]), state.board.shape[1], self.space

        def line_of(pv: list[int], value: float, depth: int) -> Line:
            return Line(tuple(action_of(cell, width, lines) for cell in pv), value, depth)

        def report(best: list[Line]) -> SearchResult:
            nodes, seconds, first = max(1, self._nodes()), time.perf_counter() - began, best[0]
            several = tuple(best) if limit.lines > 1 else ()
            result = SearchResult(first.pv[0], first.value, first.depth, nodes, first.pv, seconds, several)
            if on_info:
                on_info(result)
            return result

        if not state.board.any():
            return report([line_of([cell_of(state.board.shape[0] // 2 * width + width // 2, width, lines)], 0.0, 0)])
        root = _Root(self, lines, c, began, seconds)
        won = root.win()
        if won is not None and limit.lines == 1:
            return report([line_of(*won)])
        sure = root.wins_at_once()[: limit.lines]  # the search does not see that the game is over after these
        wins = [line_of([cell], WIN - 1.0, 1) for cell in sure] or ([line_of(*won)] if won else [])
        winning = sure or ([won[0][0]] if won else [])
        told = wins or [line_of([root.by_worth()[0]], 0.0, 0)]
        result = report(told)
        depth, tried = 1, list[int]()
        while depth <= min(limit.depth or MAX_DEPTH, MAX_DEPTH):
            expected, found, tried, cut = tried, list(wins), list(winning), False
            while len(found) < limit.lines:  # each further line is searched without the moves of those before it
                space.banned[tried] = 1
                if limit.lines > 1 and len(tried) < len(expected):
                    self._expect(lines, c, expected[len(tried)])
                value = int(search(lines, c, space, self.table, self.fours, self.threats, depth))
                cut, best = bool(space.counts[STOPPED]), int(space.marks[0, BEST_MOVE])
                if best < 0 and not cut and root.banned and not found:
                    root.give_up()
                    continue
                if best >= 0 and not cut and value < PROVEN and root.loses(best):
                    continue
                if best < 0 or (cut and limit.lines > 1):  # lines of different depths cannot be compared
                    break
                found.append(line_of(self._variation(lines, c, best), float(value), depth - cut))
                tried.append(best)
                if cut:
                    break
            space.banned[tried] = 0
            if found and not (cut and limit.lines > 1):
                told = sorted(found, key=lambda line: -line.value)
                result = report(told)
            if cut or not found or all(abs(line.value) > PROVEN for line in found) or self._stop.raised[0]:
                break
            depth += 1
        return result

    def _expect(self, lines: Lines, c: int, best: int) -> None:
        """Have the next search try a move first, though the last one found another to be the best of the rest."""
        expect(self.table, np.uint64(position_key(lines, c)), self.oldest, best)

    def _begin(self, lines: Lines, limit: Limit) -> None:
        """Set up the memory for a new search."""
        if self.space.banned.size < lines.cells.size:
            self.space = make_space(lines.cells.size, self._stop.raised)
            self.threats = threats.make_space(lines.cells.size, self._stop.raised)
        if self.generation == MOST_SEARCHES:
            self.table.slots[:], self.generation, self.oldest = 0, 0, 1
        self.generation += 1
        self._set(self.space)
        self.space.counts[NODE_LIMIT] = limit.nodes if limit.nodes is not None else NEVER
        self.threats.counts[:] = 0
        self.threats.counts[threats.GENERATION] = self.oldest
        self.fours.counts[threats.SALT] = self.generation * 0x9E3779B97F4A7C1 & NEVER - 1

    def _set(self, space: Space) -> None:
        """Empty the memory of a thread's search, and give it the options."""
        options = self.options
        space.counts[:], space.killers[:], space.history[:], space.banned[:] = 0, -1, 0, 0
        space.counts[NODE_LIMIT] = NEVER
        space.counts[GENERATION], space.counts[OLDEST] = self.generation, self.oldest
        for switch, value in (
            (LEAF_FOURS, options.leaf_fours),
            (INNER_FOURS, options.inner_fours),
            (GUARD, options.guard),
            (REDUCE_AFTER, options.reduce_after),
            (WIDTH, options.width),
            (TEMPO_SWITCH, options.tempo),
            (FIRST_WIDTH, options.first_width),
            (MORE_WIDTH, options.more_width),
            (MARGIN, options.margin),
        ):
            space.switches[switch] = value

    def _variation(self, lines: Lines, c: int, best: int) -> list[int]:
        """Return the principal variation from the table, beginning with the best move."""
        line = [best]
        place(lines, best, c + 1)
        while len(line) < MAX_DEPTH:
            side = (c + len(line)) % 2
            data = find(self.table, np.uint64(position_key(lines, side)), self.oldest)
            move = -1 if data < 0 else move_of(data)
            if move < 0 or lines.cells[move] != 0 or lines.counts[side, WINS]:
                break
            line.append(move)
            place(lines, move, side + 1)
        for cell in reversed(line):
            lift(lines, cell)
        return line


class _Root:
    """Threat searches at the root, before the main search."""

    def __init__(self, engine: Engine, lines: Lines, c: int, began: float, seconds: float | None) -> None:
        self.engine, self.lines, self.c = engine, lines, c
        self.left, self.lost = engine.options.threats, False
        self.banned: list[int] = []
        self.asked: dict[int, int] = {}
        self.deadline = math.inf if seconds is None else began + SHARE * seconds

    def win(self) -> tuple[list[int], float, int] | None:
        """Return a forced win of the side to move as (first stone, value, plies), None if none was found."""
        lines, c = self.lines, self.c
        plies = int(win_by_fours(lines, self.engine.fours, c, 10_000))
        if plies:
            return [int(self.engine.fours.line[0])], float(WIN - plies), plies
        move, plies = self._prove(c, self.left // 4)
        return None if move < 0 else ([move], float(WIN - plies), plies)

    def wins_at_once(self) -> list[int]:
        """Return the cells that complete a line of the side to move."""
        return [cell for cell in self.by_worth() if self.lines.classes[self.c, cell] == WINS]

    def loses(self, cell: int) -> bool:
        """Whether the other side wins by threats after a move. If so, the move is not tried again.

        Each further call for the same move searches twice as many positions.
        """
        lines, other, asked = self.lines, 1 - self.c, self.asked.get(cell, 0)
        if self.lost or lines.counts[other, WINS]:
            return False
        place(lines, cell, self.c + 1)
        lost = self._prove(other, EACH << asked)[0] >= 0
        lift(lines, cell)
        self.asked[cell] = asked + 1
        if lost:
            self.banned.append(cell)
            self.engine.space.banned[cell] = 1
        return lost

    def give_up(self) -> None:
        """Allow all moves again if all of them lose, and search for no further refutations."""
        self.lost = True
        self.engine.space.banned[self.banned] = 0
        self.banned.clear()

    def by_worth(self) -> list[int]:
        """Return the legal cells, those of most worth to either side first."""
        lines = self.lines
        first, last = int(lines.sizes[FIRST]), int(lines.sizes[LAST])
        cells = first + np.flatnonzero(lines.cells[first:last] == 0)
        cells = cells[np.argsort(-lines.scores[cells], kind="stable")]
        return [int(cell) for cell in cells if may_play(lines, self.c, int(cell))]

    def _prove(self, c: int, limit: int) -> tuple[int, int]:
        """Return (first stone, plies) of a win of colour c if it were to move; (-1, 0) if none was found."""
        engine, counts = self.engine, self.engine.threats.counts
        spent = 0
        while spent < min(limit, self.left) and time.perf_counter() < self.deadline:
            counts[threats.NODES], counts[threats.NODE_LIMIT] = 0, min(STEP, limit - spent)
            counts[threats.KINDS] = ONE_THREE
            proof, disproof, move, plies = threats.prove(
                self.lines, engine.proofs, engine.threats, engine.fours, c, False
            )
            spent += max(1, int(counts[threats.NODES]))
            if proof == 0:
                self.left -= spent
                if move < 0:
                    move = first_cell(self.lines, c, WINS if self.lines.counts[c, WINS] else SURE)
                return int(move), int(plies)
            if disproof == 0 or engine.stopped:
                break
        self.left -= spent
        return -1, 0
