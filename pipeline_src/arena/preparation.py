"""`Preparation`: compile kernels in the background of a conversation."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pipeline_src.games.game import Game
from pipeline_src.games.kernels import rules_need
from pipeline_src.jit import Need, plainly, ready
from pipeline_src.players.player import Bounds, Position
from pipeline_src.search.clock import expected_plies, movetime_ms

MANY = 1 << 20
"""Number of legal actions assumed for a position in which they are not counted."""
SHARE = 0.5
"""Share of a move's time to wait for the kernels. The rest is for the search."""


class Preparation:
    """Compiles or loads the kernels of the rules and of a search, in a thread of its own."""

    def __init__(self, needs: Callable[[Any], list[Need]], start: Any) -> None:
        """Start the thread.

        Args:
            needs: kernels of the search from a start, such as `Player.needs`.
            start: a state of the game.
        """
        self._needs, self._start = needs, start
        self._done, self._stopped = threading.Event(), threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            ready([*rules_need(self._start), *self._needs(self._start)], self._stopped)
        finally:  # a kernel that could not be compiled raises its error at the call
            self._done.set()

    def stop(self) -> None:
        """Compile no further kernels, because another player is wanted."""
        self._stopped.set()

    def wait(self, milliseconds: float | None = None, given_up: threading.Event | None = None) -> bool:
        """Wait for a share of a move's time; return whether all kernels are ready. None waits without a limit.

        Args:
            milliseconds: time of the move.
            given_up: event that ends the wait.
        """
        end = math.inf if milliseconds is None else time.monotonic() + SHARE * milliseconds / 1000
        while not self._done.wait(max(0.0, min(0.05, end - time.monotonic()))):
            if time.monotonic() >= end or (given_up is not None and given_up.is_set()):
                return False
        return True


def any_move(rules: Game, state: Any) -> int:
    """Return a legal action of an unfinished position without calling kernels: the middle one."""
    with plainly():
        actions = rules.legal_actions(state)
    return int(actions[len(actions) // 2])


def time_of(position: Position, bounds: Bounds) -> float | None:
    """Return the milliseconds for a move; None if neither the bounds nor a clock limit it."""
    if bounds.movetime_ms is not None or position.clock is None:
        return bounds.movetime_ms
    played = len(position.actions)
    return movetime_ms(position.clock, played, expected_plies(played, MANY))


def less_time(position: Position, bounds: Bounds, spent_ms: float) -> tuple[Position, Bounds]:
    """Return the position and the bounds with ``spent_ms`` less time."""
    if bounds.movetime_ms is not None:
        bounds = replace(bounds, movetime_ms=max(1.0, bounds.movetime_ms - spent_ms))
    if position.clock is not None:
        clock = position.clock
        position = replace(position, clock=replace(clock, own_ms=max(1.0, clock.own_ms - spent_ms)))
    return position, bounds
