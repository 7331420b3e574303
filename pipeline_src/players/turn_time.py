"""How long to think about a move: the turn's time or the match's, whichever is shorter, less what the answer costs."""

from pipeline_src.search.clock import expected_plies, movetime_ms
from pipeline_src.search.limits import Clock

AT_ONCE_MS = 20.0
"""Where the manager wants a move as fast as possible."""
LEAST_MS = 1.0
LAGS = 200
"""Moves whose margins a whole match has room for, if there are no more of them and nothing is searched."""


def thinking_ms(
    timeout_turn: float | None,
    left: float | None,
    used: float,
    margin: float,
    played: int,
    legal: int,
    match: float | None = None,
) -> float | None:
    """Milliseconds to search; None where nobody has set a time.

    Args:
        timeout_turn: of this move; 0 is as fast as possible, None is no limit.
        left: of the whole game, None is no limit.
        used: since the manager asked for the move.
        margin: for the answer's way and the search's own lateness; of a shorter time, half of it.
        played: plies so far.
        legal: number of legal actions.
        match: what the game began with, where that is known: of a short one, less is set aside for each move.
    """
    times = []
    if timeout_turn is not None:
        times.append(AT_ONCE_MS if timeout_turn == 0 else max(timeout_turn / 2, timeout_turn - margin))
    if left is not None:
        own = max(left - margin, left / 2, LEAST_MS)
        clock = Clock(own, own)
        lag = margin if match is None else min(margin, match / LAGS)
        times.append(movetime_ms(clock, played, expected_plies(played, legal), lag))
    return max(LEAST_MS, min(times) - used) if times else None
