"""Time management for Gomoku: the smaller of the turn's and the match's time, less the cost of an answer."""

from math import isqrt

from pipeline_src.search.clock import movetime_ms
from pipeline_src.search.limits import Clock

AT_ONCE_MS = 20.0
"""Milliseconds for a move if the manager wants it as fast as possible."""
LEAST_MS = 1.0
PLIES_A_ROW, AT_LEAST = 3, 16
"""Expected plies of a whole game for each row of the board; expected further plies of a game that lasts longer."""
ANSWER_MS = 10.0
"""Milliseconds reserved for each answer until the board is full; at most three quarters of the time left."""
LAGS = 200
"""Number of moves for whose margins the time of a whole match suffices, if nothing is searched."""


def thinking_ms(
    timeout_turn: float | None,
    left: float | None,
    used: float,
    margin: float,
    played: int,
    cells: int,
    match: float | None = None,
) -> float | None:
    """Return the milliseconds to search; None if no time is set.

    Args:
        timeout_turn: time for this move; 0 is as fast as possible, None is no limit.
        left: time left for the whole game; None is no limit.
        used: time since the manager asked for the move.
        margin: reserve for delays of the answer and of the search; at most half of a shorter time.
        played: plies so far.
        cells: number of cells of the board.
        match: time of the whole game at its start, if known. With a short one, less is reserved for each move.
    """
    times = []
    if timeout_turn is not None:
        times.append(AT_ONCE_MS if timeout_turn == 0 else max(timeout_turn / 2, timeout_turn - margin))
    if left is not None:
        own = max(left - margin, left / 2, LEAST_MS)
        own -= min(0.75 * own, ANSWER_MS * (cells - played) / 2)
        clock = Clock(own, own)
        lag = margin if match is None else min(margin, match / LAGS)
        times.append(movetime_ms(clock, played, expected_plies(played, cells), lag, even=True))
    return max(LEAST_MS, min(times) - used) if times else None


def expected_plies(played: int, cells: int) -> int:
    """Return the expected number of plies left in a game, of both sides. Every ply takes a cell."""
    return max(2, min(max(PLIES_A_ROW * isqrt(cells) - played, AT_LEAST), cells - played))
