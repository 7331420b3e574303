"""A player's kernels, compiled behind the conversation of which it is a part: `Preparation`."""

import threading
from dataclasses import replace
from typing import Any

from pipeline_src.games.game import Game
from pipeline_src.games.kernels import rules_need
from pipeline_src.jit.needs import ready
from pipeline_src.jit.parts import plainly
from pipeline_src.players.player import Bounds, Player, Position
from pipeline_src.search.clock import expected_plies, movetime_ms

MANY = 1 << 20
"""Legal actions of a position in which they are not counted."""
SHARE = 0.5
"""Of the time of a move, what is waited for the player's own kernels; the rest is left to search with them."""


class Preparation:
    """Compiles or loads what the rules and a player need, in a thread of its own."""

    def __init__(self, player: Player, start: Any) -> None:
        """It begins at once.

        Args:
            player: as `registry.build_player` makes it.
            start: a state of the game.
        """
        self._player, self._start = player, start
        self._done, self._stopped = threading.Event(), threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            ready([*rules_need(self._start), *self._player.needs(self._start)], self._stopped)
        finally:  # what could not be compiled fails, and says why, where it is called
            self._done.set()

    def stop(self) -> None:
        """Compile no further kernel: another player is wanted."""
        self._stopped.set()

    def wait(self, milliseconds: float | None = None, given_up: threading.Event | None = None) -> bool:
        """Whether all is there within a share of the time of a move; None waits until it is.

        Args:
            milliseconds: that the move may take.
            given_up: ends the wait when it is set.
        """
        if milliseconds is not None:
            return self._done.wait(SHARE * milliseconds / 1000)
        while not self._done.wait(0.05):
            if given_up is not None and given_up.is_set():
                return False
        return True


def any_move(rules: Game, state: Any) -> int:
    """A legal action of an unfinished position, without a kernel: the one in the middle of them."""
    with plainly():
        actions = rules.legal_actions(state)
    return int(actions[len(actions) // 2])


def time_of(position: Position, bounds: Bounds) -> float | None:
    """Milliseconds that a move may take; None where neither the bounds nor a clock say."""
    if bounds.movetime_ms is not None or position.clock is None:
        return bounds.movetime_ms
    played = len(position.actions)
    return movetime_ms(position.clock, played, expected_plies(played, MANY))


def less_time(position: Position, bounds: Bounds, spent_ms: float) -> tuple[Position, Bounds]:
    """The same, so much later."""
    if bounds.movetime_ms is not None:
        bounds = replace(bounds, movetime_ms=max(1.0, bounds.movetime_ms - spent_ms))
    if position.clock is not None:
        clock = position.clock
        position = replace(position, clock=replace(clock, own_ms=max(1.0, clock.own_ms - spent_ms)))
    return position, bounds
