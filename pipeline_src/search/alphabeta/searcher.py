"""`AlphaBeta`: iterative deepening around the compiled search."""

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline_src.games.kernels import max_actions, outcome
from pipeline_src.jit.needs import Need
from pipeline_src.search.alphabeta import nodes
from pipeline_src.search.alphabeta.table import make_table
from pipeline_src.search.evaluator import WIN
from pipeline_src.search.limits import Limit, OnInfo, SearchResult, StopFlag, searching_seconds

MAX_DEPTH = 96
"""Plies that a search goes deep at most, whatever its limit."""


@dataclass(frozen=True)
class Options:
    """What a search looks at, and in what order."""

    widths: tuple[int, ...] = (100, 40, 20)
    """How many of a node's actions, best one-ply values first, are searched deeper: at 2 plies of remaining depth, at
    3, and so on; the last holds for all greater depths. 0 is all."""
    table_mb: float = 32.0
    """Size of the transposition table; 0 for a search without one."""
    scout: bool = True
    """Whether all actions of a node but the first are tried with a minimal window."""
    killers: int = 8
    """How many of the actions that last refuted at a ply are tried before a node just above the horizon is ranked."""
    inner_killers: int = 4
    """How many of them, at the most, where a node further up is searched with a minimal window."""
    reduce_after: int = 8
    """After how many actions of a node the others are first searched a ply less deep; 0 is never."""
    breadth: int = 0
    """Just above the horizon, how many likely moves of a position are looked at (`evaluator.shortlist`); 0 is all."""
    inner_breadth: int = 0
    """The same further up, but for the root."""
    proofs: bool = True
    """Whether values beyond `nodes.DECIDED` are proofs: where a node has lost by the actions that its width lets it
    search, the others are searched too, and if some are left even then, the loss is a belief (`nodes.LOST`)."""
    futility: float = math.inf
    """With two plies to go, an action is left out if its one-ply value is so far below alpha (Heinz, "Extended futility
    pruning", ICCA Journal 21, 1998), and with it all that rank below it."""
    aspiration: float = 0.0
    """Half the window around the last iteration's value in which the next one begins; 0 is the whole range."""

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
        if not 0 <= self.aspiration < WIN:
            raise ValueError(f"aspiration must be 0 or more and below {WIN:g}, not {self.aspiration}")


class AlphaBeta:
    """Alpha-beta with iterative deepening, for any game that has kernels and an evaluation; see `limits.Searcher`."""

    def __init__(self, evaluator: Any, options: Options | None = None) -> None:
        """``evaluator`` is a NamedTuple of arrays of the search's own, as the evaluations below `search` make them."""
        self.evaluator, self.options = evaluator, options or Options()
        self._stop = StopFlag()
        self._table = make_table(self.options.table_mb)
        self._space: nodes.Space | None = None
        self._generation = 0

    def stop(self) -> None:
        """End the search under way, from another thread; it still answers with a legal action.

        A search clears it when it begins, so a stop that comes before that is lost.
        """
        self._stop.set()

    def use_memory(self, size: int) -> None:
        """Let the table take so many bytes at most, where that is less than the options say."""
        self._table = make_table(min(self.options.table_mb, size / 1e6))

    def take_memory(self, size: int) -> None:
        """Let the table take so many bytes, whatever the options say."""
        self._table = make_table(size / 1e6)

    def needs(self, state: Any) -> list[Need]:
        """See `Searcher`."""
        space = nodes.make_space(1, 1, self.options.widths, self.options.killers, self._stop.raised)
        line = np.empty(MAX_DEPTH + 1, np.int32)
        return [
            Need(outcome, (state,)),
            Need(max_actions, (state,)),
            Need(nodes.search_root, (state, self.evaluator, space, self._table, 1, 0.0, 0.0)),
            Need(nodes.read_variation, (state, space, self._table, 1, line)),
        ]

    def search(
        self,
        state: Any,
        limit: Limit,
        seed: int = 0,  # noqa: ARG002
        on_info: OnInfo | None = None,
    ) -> SearchResult:
        """Search an unfinished position, which stays as it was; nothing is random, so ``seed`` is not used.

        The answer of a search that is cut off is the best action of the iteration under way, if that got past the
        action that was best before, and else of the last whole one. ``on_info`` is told after each iteration, and last
        of all the answer.

        Raises:
            ValueError: the game is over.
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
        with self._stop.after(seconds):
            return self._deepen(state, limit, space, began, on_info)

    def _start(self, state: Any, limit: Limit) -> nodes.Space:
        """The memory, as a new search wants it."""
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
        line = np.empty(MAX_DEPTH + 1, np.int32)

        def report(value: float, depth: int, looked: int) -> SearchResult:
            length = nodes.read_variation(state, space, self._table, looked, line)
            pv = tuple(line[:length].tolist())
            evaluated = int(space.counts[nodes.NODES])
            result = SearchResult(pv[0], nodes.told(value), depth, evaluated, pv, time.perf_counter() - began)
            if on_info:
                on_info(result)
            return result

        value = self._search(state, space, 1, -nodes.INFINITY, nodes.INFINITY)
        result = report(value, 1, 1)
        if space.counts[nodes.ROOT_ACTIONS] == 1 and limit.movetime_ms is not None:
            return result
        last = min(limit.depth or MAX_DEPTH, MAX_DEPTH)
        for depth in range(2, last + 1):
            if abs(value) > nodes.DECIDED or self._stop.raised[0]:
                break
            found = self._iteration(state, space, depth, value)
            whole = space.counts[nodes.STOPPED] == 0
            if whole or space.counts[nodes.ROOT_DONE]:
                value = found
            result = report(value, depth if whole else depth - 1, depth)
            if not whole:
                break
        return result

    def _iteration(self, state: Any, space: nodes.Space, depth: int, last: float) -> float:
        """Value at ``depth``; first in a window around the ``last`` value, if the options ask for it."""
        if self.options.aspiration:
            low, high = last - self.options.aspiration, last + self.options.aspiration
            value = self._search(state, space, depth, low, high)
            if low < value < high or space.counts[nodes.STOPPED]:
                return value
            done = int(space.counts[nodes.ROOT_DONE])
            low, high = (-nodes.INFINITY, high) if value <= low else (low, nodes.INFINITY)
            again = self._search(state, space, depth, low, high)
            if space.counts[nodes.ROOT_DONE] == 0:
                space.counts[nodes.ROOT_DONE] = done
                return value
            return again
        return self._search(state, space, depth, -nodes.INFINITY, nodes.INFINITY)

    def _search(self, state: Any, space: nodes.Space, depth: int, low: float, high: float) -> float:
        return float(nodes.search_root(state, self.evaluator, space, self._table, depth, low, high))
