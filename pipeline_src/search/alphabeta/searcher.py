"""`AlphaBeta`: iterative deepening around the compiled search of `nodes`."""

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline_src.games.kernels import max_actions, outcome
from pipeline_src.jit import Need
from pipeline_src.search.alphabeta import nodes
from pipeline_src.search.alphabeta.table import make_table
from pipeline_src.search.limits import Limit, Line, OnInfo, SearchResult, StopFlag, repeated, searching_seconds

MAX_DEPTH = 96
"""Greatest depth of a search in plies, for any limit."""


@dataclass(frozen=True)
class Options:
    """Options of the search: the actions that it examines, and their order."""

    widths: tuple[int, ...] = (100, 40, 20)
    """Number of actions of a node, the best by one-ply value, that are searched deeper: with 2 plies of remaining
    depth, with 3, and so on. The last number applies to all greater depths. 0 is all."""
    table_mb: float = 32.0
    """Size of the transposition table in MiB; 0 for none."""
    scout: bool = True
    """Whether all actions of a node but the first are tried with a minimal window."""
    killers: int = 8
    """Number of killer actions, the last to cause a cutoff at a ply, that are tried before a node one ply above the
    horizon is ranked."""
    inner_killers: int = 4
    """Largest number of killers for nodes further up that are searched with a minimal window."""
    reduce_after: int = 8
    """Number of actions of a node after which the others are first searched one ply less deep; 0 is never."""
    breadth: int = 0
    """Number of likely moves of a position examined one ply above the horizon (`evaluator.shortlist`); 0 is all."""
    inner_breadth: int = 0
    """`breadth` further above the horizon, except at the root."""
    proofs: bool = True
    """Whether values beyond `nodes.DECIDED` are proofs. If a node loses by all actions within its width, the others are
    searched too; if some remain unsearched even then, the loss is a belief (`nodes.LOST`)."""
    futility: float = math.inf
    """With two plies left to search, an action with a one-ply value this far below alpha is left out, with all
    lower-ranked ones (Heinz, "Extended futility pruning", ICCA Journal 21, 1998)."""

    def __post_init__(self) -> None:
        if not self.widths:
            raise ValueError("widths must not be empty")
        for name in ("widths", "killers", "inner_killers", "reduce_after", "breadth", "inner_breadth"):
            value = getattr(self, name)
            if min(value if isinstance(value, tuple) else (value,)) < 0:
                raise ValueError(f"{name} must be 0 or more, not {value}")
        if not 0 <= self.table_mb < 1e6:
            raise ValueError(f"table_mb must be 0 or more and finite, not {self.table_mb}")
        if not self.futility >= 0:
            raise ValueError(f"futility must be 0 or more, not {self.futility}")


class AlphaBeta:
    """Alpha-beta with iterative deepening, for any game with kernels and an evaluation; see `limits.Searcher`.

    ``AlphaBeta(make_evaluator()).search(state, Limit(depth=3))`` searches a position of the Amazons three plies deep;
    the evaluator is that of `search.amazons.evaluation`.
    """

    def __init__(self, evaluator: Any, options: Options | None = None) -> None:
        """``evaluator`` is made by ``make_evaluator`` of a game's evaluation. It has scratch space: do not share it."""
        self.evaluator, self.options = evaluator, options or Options()
        self._stop = StopFlag()
        self._table = make_table(self.options.table_mb)
        self._space: nodes.Space | None = None
        self._generation = 0

    def stop(self) -> None:
        """End the running search, from another thread. It still answers with a legal action.

        A search clears the request when it begins, so an earlier one is lost.
        """
        self._stop.set()

    def use_memory(self, size: int) -> None:
        """Limit the table to a size in bytes, if that is less than the options set."""
        self._table = make_table(min(self.options.table_mb, size / 1e6))

    def take_memory(self, size: int) -> None:
        """Set the size of the table in bytes, in place of the options' size."""
        self._table = make_table(size / 1e6)

    def needs(self, state: Any) -> list[Need]:
        """See `Searcher`."""
        space = nodes.make_space(1, 1, self.options.widths, self.options.killers, self._stop.raised)
        line = np.empty(MAX_DEPTH + 1, np.int32)
        return [
            Need(outcome, (state,)),
            Need(max_actions, (state,)),
            Need(nodes.search_root, (state, self.evaluator, space, self._table, 1)),
            Need(nodes.read_variation, (state, space, self._table, 1, line)),
        ]

    def search(
        self,
        state: Any,
        limit: Limit,
        seed: int = 0,  # noqa: ARG002
        on_info: OnInfo | None = None,
    ) -> SearchResult:
        """Search an unfinished position, which is not changed. Nothing is random, so ``seed`` is ignored.

        An interrupted search answers with the best action of the unfinished iteration, if that has searched the
        previous best action to its end, and otherwise of the last finished one. ``on_info`` receives a report after
        each iteration, and finally the answer (`repeated`).

        Raises:
            ValueError: the game is over, or none of ``limit.actions`` is legal.
        """
        began = time.perf_counter()
        self._stop.clear()
        if outcome(state)[0]:
            raise ValueError("the game is over: there is nothing to search")
        state = type(state)(*(array.copy() for array in state))
        space = self._start(state, limit)
        seconds = None
        if limit.movetime_ms is not None:
            seconds = searching_seconds(limit.movetime_ms) - (time.perf_counter() - began)
        with self._stop.after(seconds), repeated(on_info, limit, lambda: int(space.counts[nodes.NODES])) as tell:
            return self._deepen(state, limit, space, began, tell)

    def _start(self, state: Any, limit: Limit) -> nodes.Space:
        """Return the memory, prepared for a new search."""
        room = int(max_actions(state))
        if self._space is None or self._space.root.size < room:
            self._space = nodes.make_space(
                MAX_DEPTH, room, self.options.widths, self.options.killers, self._stop.raised
            )
        space = self._space
        space.switches[nodes.SCOUT] = self.options.scout
        space.switches[nodes.REDUCE_AFTER] = self.options.reduce_after
        space.switches[nodes.INNER_KILLERS] = self.options.inner_killers
        space.switches[nodes.BREADTH] = self.options.breadth
        space.switches[nodes.INNER_BREADTH] = self.options.inner_breadth
        space.switches[nodes.PROOFS] = self.options.proofs
        space.futility[0] = self.options.futility
        self._generation += 1
        space.counts[:] = 0
        space.killers[:] = -1
        space.counts[nodes.GENERATION] = self._generation
        space.counts[nodes.NODE_LIMIT] = limit.nodes if limit.nodes is not None else np.iinfo(np.int64).max
        return space

    def _deepen(
        self, state: Any, limit: Limit, space: nodes.Space, began: float, on_info: OnInfo | None
    ) -> SearchResult:
        room = np.empty(MAX_DEPTH + 1, np.int32)
        self._search(state, space, 1)
        actions = int(space.counts[nodes.ROOT_ACTIONS])
        if limit.actions:
            kept = np.flatnonzero(np.isin(space.root[:actions], limit.actions))
            if not (actions := kept.size):
                raise ValueError("none of the actions that may be chosen is legal")
            space.root[:actions], space.values[0, :actions] = space.root[kept], space.values[0, kept]
            space.counts[nodes.ROOT_ACTIONS] = actions
        count = min(limit.lines, actions)
        values = [float(value) for value in space.values[0, :count]]
        told = nodes.told if self.options.proofs else float  # without proofs there are no beliefs
        lines = [Line((int(space.root[k]),), told(values[k]), 1) for k in range(count)]

        def read(rank: int, depth: int, looked: int) -> Line:
            length = nodes.read_variation(state, _below(space, rank), self._table, looked, room)
            return Line(tuple(room[:length].tolist()), told(values[rank]), depth)

        def report() -> SearchResult:
            evaluated, seconds, best = int(space.counts[nodes.NODES]), time.perf_counter() - began, lines[0]
            several = tuple(lines) if limit.lines > 1 else ()
            result = SearchResult(best.pv[0], best.value, best.depth, evaluated, best.pv, seconds, several)
            if on_info:
                on_info(result)
            return result

        result = report()
        if actions == 1 and limit.movetime_ms is not None:
            return result
        last, cut = min(limit.depth or MAX_DEPTH, MAX_DEPTH), False
        for depth in range(2, last + 1):
            if cut or all(abs(value) > nodes.DECIDED for value in values) or self._stop.raised[0]:
                break
            found: list[Line] = []
            for rank in range(count):  # each further line is searched without the actions of those before it
                space.counts[nodes.ROOT_ACTIONS] = actions - rank
                value = self._search(state, _below(space, rank), depth)
                cut = bool(space.counts[nodes.STOPPED])
                if cut and count > 1:  # lines of different depths cannot be compared
                    break
                if not cut or space.counts[nodes.ROOT_DONE]:
                    values[rank] = value
                found.append(read(rank, depth - cut, depth))
            if len(found) == count:
                lines = sorted(found, key=lambda line: -line.value)
                result = report()
        return result

    def _search(self, state: Any, space: nodes.Space, depth: int) -> float:
        return float(nodes.search_root(state, self.evaluator, space, self._table, depth))


def _below(space: nodes.Space, rank: int) -> nodes.Space:
    """Return the memory of a search that leaves out the first ``rank`` of the root's actions."""
    return space._replace(root=space.root[rank:])
