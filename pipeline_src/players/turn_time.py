"""How long to think about a move of Gomoku: the lesser of the turn's and the match's time, less an answer's cost."""

from math import isqrt

from pipeline_src.search.clock import movetime_ms
from pipeline_src.search.limits import Clock

AT_ONCE_MS = 20.0
"""Where the manager wants a move as fast as possible."""
LEAST_MS = 1.0
PLIES_A_ROW, AT_LEAST = 3, 16
"""Plies of a whole game between good players, for each row of the board; those that a longer one is still expected to
take."""
LAGS = 200
"""Moves whose margins a whole match has room for, if there are no more of them and nothing is searched."""


def thinking_ms(
    timeout_turn: float | None,
    left: float | None,
    used: float,
    margin: float,
    played: int,
    cells: int,
    match: float | None = None,
) -> float | None:
    """Milliseconds to search; None where nobody has set a time.

    Args:
        timeout_turn: of this move; 0 is as fast as possible, None is no limit.
        left: of the whole game, None is no limit.
        used: since the manager asked for the move.
        margin: for the answer's way and the search's own lateness; of a shorter time, half of it.
        played: plies so far.
        cells: of the board.
        match: what the game began with, where that is known: of a short one, less is set aside for each move.
    """
    times = []
    if timeout_turn is not None:
        times.append(AT_ONCE_MS if timeout_turn == 0 else max(timeout_turn / 2, timeout_turn - margin))
    if left is not None:
        own = max(left - margin, left / 2, LEAST_MS)
        clock = Clock(own, own)
        lag = margin if match is None else min(margin, match / LAGS)
        times.append(movetime_ms(clock, played, expected_plies(played, cells), lag, even=True))
    return max(LEAST_MS, min(times) - used) if times else None


def expected_plies(played: int, cells: int) -> int:
    """Plies that a game has left, both sides' counted: every one takes a cell."""
    return max(2, min(max(PLIES_A_ROW * isqrt(cells) - played, AT_LEAST), cells - played))
