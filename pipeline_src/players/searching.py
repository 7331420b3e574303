"""A search as a player, and the limits that its options may set."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pipeline_src.games.kernels import max_actions, write_actions
from pipeline_src.players.options import Options
from pipeline_src.players.player import Position
from pipeline_src.project.params import Count, Positive
from pipeline_src.search.clock import expected_plies, movetime_ms
from pipeline_src.search.limits import Limit, Searcher


class Nodes(Options):
    """Limits of a move by nodes or time."""

    DEFAULT: ClassVar[Limit]
    """Where no limit is given."""

    nodes: Count | None = None
    """Nodes that a move may take: positions, or simulations of a tree search."""
    movetime: Positive | None = None
    """Milliseconds that a move may take."""

    @property
    def limit(self) -> Limit:
        """The limits that are given, or the default."""
        given = Limit(getattr(self, "depth", None), self.nodes, self.movetime)
        return self.DEFAULT if given == Limit() else given


class Depth(Options):
    """Limit of a move by depth."""

    depth: Count | None = None
    """Plies to search."""


class Limits(Nodes, Depth):
    """Limits of a move by depth, nodes or time; the first one reached counts."""


class SearchPlayer:
    """Searches each position in turn."""

    def __init__(self, searcher: Searcher, limit: Limit) -> None:
        """``limit`` holds for every move, unless the game is played on a clock."""
        self.searcher, self.limit = searcher, limit

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`."""
        return [
            self.searcher.search(
                position.state, self.limit_at(position), seed=int(position.rng.integers(1 << 62))
            ).action
            for position in positions
        ]

    def limit_at(self, position: Position) -> Limit:
        """The player's own limit, or what the game's clock leaves for this move."""
        if position.clock is None:
            return self.limit
        played = len(position.actions)
        legal = int(write_actions(position.state, np.empty(max_actions(position.state), np.int32)))
        return Limit(movetime_ms=movetime_ms(position.clock, played, expected_plies(played, legal)))
