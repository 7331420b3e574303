"""`Engine`: a search by threats, then iterative deepening with the compiled search of Gomoku (`pvs`)."""

import contextlib
import math
import time
from collections.abc import Iterator
from threading import Thread
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku import winner
from pipeline_src.games.gomoku.board import SIDE, GomokuState, format_variant
from pipeline_src.jit import Need
from pipeline_src.project.params import Params
from pipeline_src.search.gomoku import fours, pvs, threats
from pipeline_src.search.gomoku.fours import first_cell, win_by_fours
from pipeline_src.search.gomoku.lines import (
    FIRST,
    LAST,
    ONE_THREE,
    SURE,
    TEMPO,
    WINS,
    Lines,
    action_of,
    cell_of,
    lift,
    lines_need,
    make_lines,
    may_play,
    place,
)
from pipeline_src.search.limits import Limit, Line, OnInfo, SearchResult, StopFlag, repeated, searching_seconds

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
        self.table, self.fours = pvs.make_table(self.options.table_mb), fours.make_space()
        self.proofs = threats.make_table(PROOFS)
        self.space = pvs.make_space(1, self._stop.raised)
        self.threats = threats.make_space(1, self._stop.raised)
        self.others: list[pvs.Space] = []
        self.generation, self.oldest = 0, 1
        self.board: tuple[int, str] = 0, ""

    def stop(self) -> None:
        """See `Searcher`."""
        self._stop.set()

    def use_memory(self, size: int) -> None:
        """Limit the tables to ``size`` bytes, if that is less than the default."""
        self.table = pvs.make_table(min(self.options.table_mb, 0.75 * size / 1e6))
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
            Need(pvs.search, (lines, 0, self.space, table, stones, self.threats, 1)),
            Need(pvs.position_key, (lines, 0)),
            Need(pvs.find, (table, np.uint64(0), 1)),
            Need(pvs.expect, (table, np.uint64(0), 1, 1)),
            Need(pvs.move_of, (1,)),
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
        return sum(int(space.counts[pvs.NODES]) for space in (self.space, *self.others))

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
        space, found = pvs.make_space(lines.cells.size, stop), threats.make_space(lines.cells.size, stop)
        stones = fours.make_space()
        self._set(space)
        self.others.append(space)
        for depth in range(1 + number % 2, MAX_DEPTH + 1):
            if not stop[0]:
                pvs.search(lines, c, space, self.table, stones, found, depth)

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
        wins = [line_of([cell], pvs.WIN - 1.0, 1) for cell in sure] or ([line_of(*won)] if won else [])
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
                value = int(pvs.search(lines, c, space, self.table, self.fours, self.threats, depth))
                cut, best = bool(space.counts[pvs.STOPPED]), int(space.marks[0, pvs.BEST_MOVE])
                if best < 0 and not cut and root.banned and not found:
                    root.give_up()
                    continue
                if best >= 0 and not cut and value < pvs.PROVEN and root.loses(best):
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
            if cut or not found or all(abs(line.value) > pvs.PROVEN for line in found) or self._stop.raised[0]:
                break
            depth += 1
        return result

    def _expect(self, lines: Lines, c: int, best: int) -> None:
        """Have the next search try a move first, though the last one found another to be the best of the rest."""
        pvs.expect(self.table, np.uint64(pvs.position_key(lines, c)), self.oldest, best)

    def _begin(self, lines: Lines, limit: Limit) -> None:
        """Set up the memory for a new search."""
        if self.space.banned.size < lines.cells.size:
            self.space = pvs.make_space(lines.cells.size, self._stop.raised)
            self.threats = threats.make_space(lines.cells.size, self._stop.raised)
        if self.generation == pvs.MOST_SEARCHES:
            self.table.slots[:], self.generation, self.oldest = 0, 0, 1
        self.generation += 1
        self._set(self.space)
        self.space.counts[pvs.NODE_LIMIT] = limit.nodes if limit.nodes is not None else NEVER
        self.threats.counts[:] = 0
        self.threats.counts[threats.GENERATION] = self.oldest
        self.fours.counts[fours.SALT] = self.generation * 0x9E3779B97F4A7C1 & NEVER - 1

    def _set(self, space: pvs.Space) -> None:
        """Empty the memory of a thread's search, and give it the options."""
        options = self.options
        space.counts[:], space.killers[:], space.history[:], space.banned[:] = 0, -1, 0, 0
        space.counts[pvs.NODE_LIMIT] = NEVER
        space.counts[pvs.GENERATION], space.counts[pvs.OLDEST] = self.generation, self.oldest
        for switch, value in (
            (pvs.LEAF_FOURS, options.leaf_fours),
            (pvs.INNER_FOURS, options.inner_fours),
            (pvs.GUARD, options.guard),
            (pvs.REDUCE_AFTER, options.reduce_after),
            (pvs.WIDTH, options.width),
            (pvs.TEMPO, options.tempo),
            (pvs.FIRST_WIDTH, options.first_width),
            (pvs.MORE_WIDTH, options.more_width),
            (pvs.MARGIN, options.margin),
        ):
            space.switches[switch] = value

    def _variation(self, lines: Lines, c: int, best: int) -> list[int]:
        """Return the principal variation from the table, beginning with the best move."""
        line = [best]
        place(lines, best, c + 1)
        while len(line) < MAX_DEPTH:
            side = (c + len(line)) % 2
            data = pvs.find(self.table, np.uint64(pvs.position_key(lines, side)), self.oldest)
            move = -1 if data < 0 else pvs.move_of(data)
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
            return [int(self.engine.fours.line[0])], float(pvs.WIN - plies), plies
        move, plies = self._prove(c, self.left // 4)
        return None if move < 0 else ([move], float(pvs.WIN - plies), plies)

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
