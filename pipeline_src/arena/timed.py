"""One game against the clock: every move is timed, and who breaks a rule or is late loses the game at once."""

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pipeline_src.arena.games import NO_ACTION
from pipeline_src.arena.openings import Opening
from pipeline_src.games.game import Game
from pipeline_src.players.clocks import GameClock
from pipeline_src.players.errors import ErrorKind, PlayerError
from pipeline_src.players.player import Player, Position


@dataclass(frozen=True)
class Timing:
    """How the moves of a game are timed; all in milliseconds."""

    movetimes: tuple[float | None, float | None] = (None, None)
    """Of the first and of the second side; None is no limit that the arena watches."""
    clock: tuple[float, float] | None = None
    """Time a side and increment a move; the movetimes then say nothing."""
    margin: float = 100.0
    """That a move may take beyond its movetime."""


@dataclass(frozen=True)
class TimedGame:
    """One finished game."""

    start: str
    """Position text the game began with; empty for the standard start of its size."""
    actions: tuple[int, ...]
    """All its actions, those of the opening included; the one for which it was forfeited is not."""
    winner: Literal["first", "second", "draw"]
    times: tuple[float, ...]
    """Milliseconds of each move after the opening, in turn; that of a forfeit included."""
    forfeit: ErrorKind | None = None
    """Why the loser lost, where it was not on the board."""
    detail: str = ""
    """About the forfeit, in words."""
    opening: int = 0
    """Plies of the opening."""

    def times_of(self, side: int, first_to_move: int) -> tuple[float, ...]:
        """The times of one side, where ``first_to_move`` made the first move after the opening."""
        return self.times[0 if side == first_to_move else 1 :: 2]


def play_timed(
    game: Game,
    players: tuple[Player, Player],
    opening: Opening,
    start: Any,
    rng: np.random.Generator,
    timing: Timing,
) -> TimedGame:
    """Play one game to its end.

    Args:
        game: the rules.
        players: who plays the first and the second side.
        opening: what is played before the players come in.
        start: the position before the opening.
        rng: of the game; both players draw from it.
        timing: what counts as late.
    """
    actions, times, state = list(opening.actions), list[float](), start
    for action in actions:
        state = game.play(state, action)
    game.is_legal(state, NO_ACTION)  # loaded before any clock runs: players ask it too
    clock = None if timing.clock is None else GameClock([timing.clock[0]] * 2, timing.clock[1])

    def over(winner: Any, forfeit: ErrorKind | None = None, detail: str = "") -> TimedGame:
        plies = len(opening.actions)
        return TimedGame(opening.start, tuple(actions), winner, tuple(times), forfeit, detail, plies)

    while (winner := game.winner(state)) is None:
        side = game.to_play(state)
        other = ("second", "first")[side]
        seen = None if clock is None else clock.seen_by(side)
        position = Position(state, rng, start, tuple(actions), seen)
        begin = time.perf_counter()
        fault: PlayerError | None = None
        action = NO_ACTION
        try:
            action = players[side].choose([position])[0]
        except PlayerError as error:
            fault = error
        used = (time.perf_counter() - begin) * 1000
        times.append(round(used, 3))
        if fault is not None:
            return over(other, fault.kind, str(fault))
        limit = timing.movetimes[side]
        if clock is not None:
            if not clock.spend(side, used):
                return over(other, "time", f"the flag fell: {-clock.left_ms[side]:.0f} ms over")
        elif limit is not None and used > limit + timing.margin:
            return over(other, "time", f"{used:.0f} ms for a move of {limit:.0f} ms")
        if not game.is_legal(state, action):
            return over(other, "illegal", f"action {action} is not legal")
        actions.append(action)
        state = game.play(state, action)
    return over(winner)
