"""Clocks: `TimeControl` for a match, `GameClock` for one game under way."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline_src.players.player import Thought
from pipeline_src.search.limits import Clock


@dataclass(frozen=True)
class TimeControl:
    """Time control of the games of a match; times in milliseconds."""

    clock_ms: float | None = None
    """Time of each side for the whole game; None: each move is timed by itself, and the players see no clock."""
    increment_ms: float = 0.0
    """Time added after each move."""
    nodes_per_ms: float = 0.0
    """Nodes charged as one millisecond. Above 0, the clock counts nodes, and results do not depend on the machine."""
    margin_ms: float = 100.0
    """Time by which a move may exceed the player's own limit, without a clock."""


class GameClock:
    """Both sides' clocks in one game."""

    def __init__(
        self,
        control: TimeControl,
        limits_ms: Sequence[float | None] = (None, None),
        first_ms: Sequence[float] = (0.0, 0.0),
    ) -> None:
        """Start both clocks. Pairs are of the first and of the second side.

        Args:
            control: time control of the game.
            limits_ms: the players' own limits for a move.
            first_ms: time by which the first move may exceed them.
        """
        self.control, self.limits_ms, self._first_ms = control, limits_ms, [*first_ms]
        self.left_ms = None if control.clock_ms is None else [control.clock_ms] * 2

    def seen_by(self, side: int) -> Clock | None:
        """Return the clock as the player of ``side`` sees it; None without a clock."""
        if self.left_ms is None:
            return None
        return Clock(self.left_ms[side], self.left_ms[1 - side], self.control.increment_ms)

    def cost(self, thought: Thought, used_ms: float) -> float:
        """Return the cost of a move that took ``used_ms`` of wall time: nodes, or milliseconds to the microsecond."""
        return thought.nodes if self.control.nodes_per_ms else round(used_ms, 3)

    def spend(self, side: int, cost: float) -> str:
        """Charge a side for a move; return the reason if the move came too late, and otherwise an empty text."""
        if self.left_ms is None:
            limit = self.limits_ms[side]
            allowed, self._first_ms[side] = self.control.margin_ms + self._first_ms[side], 0.0
            if limit is None or cost <= limit + allowed:
                return ""
            return f"late by {cost - limit:.0f} ms: {cost:.0f} ms for a move of {limit:.0f} ms"
        self.left_ms[side] -= cost / self.control.nodes_per_ms if self.control.nodes_per_ms else cost
        if self.left_ms[side] < 0:
            return f"the flag fell: {-self.left_ms[side]:.0f} ms over"
        self.left_ms[side] += self.control.increment_ms
        return ""
