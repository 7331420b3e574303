"""Endings that need no search, because counting gives the turn."""

import time
from typing import Any

from pipeline_src.jit import Need
from pipeline_src.search.alphabeta.searcher import AlphaBeta
from pipeline_src.search.amazons.endgame import closing_needs, closing_turn
from pipeline_src.search.limits import Limit, OnInfo, Searcher, SearchResult


class ClosingFirst:
    """A search of the Amazons that is skipped where the areas are closed and counting gives the turn."""

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher

    def search(self, state: Any, limit: Limit, seed: int = 0, on_info: OnInfo | None = None) -> SearchResult:
        """See `Searcher.search`."""
        begin = time.perf_counter()
        filling = closing_turn(state)
        if filling is None or (limit.actions and filling.action not in limit.actions):
            return self.searcher.search(state, limit, seed, on_info)
        found = SearchResult(filling.action, filling.value, 1, 1, (filling.action,), time.perf_counter() - begin)
        if on_info is not None:
            on_info(found)
        return found

    def needs(self, state: Any) -> list[Need]:
        """See `Searcher.needs`."""
        return [*closing_needs(state), *self.searcher.needs(state)]

    def take_memory(self, size: int) -> None:
        """Set the size of the search's table in bytes, if it has one."""
        if isinstance(self.searcher, AlphaBeta):
            self.searcher.take_memory(size)

    def stop(self) -> None:
        """See `Searcher.stop`."""
        self.searcher.stop()
