"""`SearchPlayer`, a search as a player, and the limits that its options set."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from pipeline_src.games.kernels import max_actions, write_actions
from pipeline_src.jit import Need
from pipeline_src.players.player import NO_BOUNDS, Bounds, Options, Player, Position, Thought
from pipeline_src.project.params import Count, Positive
from pipeline_src.search.limits import Limit, OnInfo, Searcher, expected_plies, movetime_ms


class Nodes(Options):
    """Limits of a move by nodes or time."""

    DEFAULT: ClassVar[Limit]
    """Limit if no option sets one."""

    nodes: Count | None = None
    """Nodes per move: positions, or simulations of a tree search."""
    movetime: Positive | None = None
    """Milliseconds per move."""

    @property
    def limit(self) -> Limit:
        """Return the limits that are given, or the default."""
        given = Limit(getattr(self, "depth", None), self.nodes, self.movetime)
        return self.DEFAULT if given == Limit() else given


class Depth(Options):
    """Limit of a move by depth."""

    depth: Count | None = None
    """Depth in plies."""


class Limits(Nodes, Depth):
    """Limits of a move by depth, nodes or time. The first one reached ends the search."""


@runtime_checkable
class Remembering(Protocol):
    """A search with a tree or a table."""

    def use_memory(self, size: int) -> None:
        """Limit its memory, in bytes."""


@runtime_checkable
class Growing(Protocol):
    """A search with a table of any size."""

    def take_memory(self, size: int) -> None:
        """Set the size of its table, in bytes."""


class SearchPlayer(Player):
    """A player that searches one position after the other."""

    searches = True
    limit: Limit

    def __init__(self, searcher: Searcher, limit: Limit) -> None:
        """``limit`` applies to every move, unless the game is played on a clock."""
        self.searcher, self.limit = searcher, limit

    def consider(self, positions: Sequence[Position]) -> list[Thought]:
        """See `Player.consider`."""
        return [self._search(position, NO_BOUNDS) for position in positions]

    def think(self, position: Position, bounds: Bounds = NO_BOUNDS, on_info: OnInfo | None = None) -> Thought:
        """See `Player.think`."""
        return self._search(position, bounds, on_info)

    def _search(self, position: Position, bounds: Bounds, on_info: OnInfo | None = None) -> Thought:
        seed = int(position.rng.integers(1 << 62))
        found = self.searcher.search(position.state, self._limit(position, bounds), seed, on_info)
        return Thought(found.action, found, found.nodes)

    def _limit(self, position: Position, bounds: Bounds) -> Limit:
        if bounds.infinite:
            return Limit(lines=bounds.lines, actions=bounds.actions)
        if (bounds.depth, bounds.nodes, bounds.movetime_ms) != (None, None, None):
            time_ms = bounds.movetime_ms
            if time_ms is None and position.clock is not None:
                time_ms = time_on_clock(position)
            return Limit(bounds.depth, bounds.nodes, time_ms, bounds.lines, bounds.actions)
        return replace(self.limit_at(position), lines=bounds.lines, actions=bounds.actions)

    def _warm_up(self, position: Position) -> None:
        self.think(position, Bounds(depth=1 if self.limit.depth is not None else None, nodes=1))  # minimax needs depth

    def use_memory(self, size: int) -> None:
        """See `Player.use_memory`."""
        if isinstance(self.searcher, Remembering):
            self.searcher.use_memory(size)

    def take_memory(self, size: int) -> None:
        """See `Player.take_memory`."""
        if isinstance(self.searcher, Growing):
            self.searcher.take_memory(size)

    def stop(self) -> None:
        """See `Player.stop`."""
        self.searcher.stop()

    def needs(self, start: Any) -> list[Need]:
        """Return the kernels that the player calls in games on boards like that of ``start``."""
        on_a_clock = Need(write_actions, (start, np.empty(1, np.int32)))
        return [*self.searcher.needs(start), Need(max_actions, (start,)), on_a_clock]

    def limit_at(self, position: Position) -> Limit:
        """Return the player's own limit, or the time that the game's clock allows for this move."""
        return self.limit if position.clock is None else Limit(movetime_ms=time_on_clock(position))


def time_on_clock(position: Position) -> float:
    """Return the milliseconds that the position's clock allows for this move."""
    assert position.clock is not None
    played = len(position.actions)
    legal = int(write_actions(position.state, np.empty(max_actions(position.state), np.int32)))
    return movetime_ms(position.clock, played, expected_plies(played, legal))
