"""Time management: the time for a move of a game on a clock.

The time left is divided over the expected moves, with weights that rise towards the middle of the game and then fall:
openings are repeated often, and late positions have few choices.
"""

import math
from math import isqrt

from pipeline_src.search.limits import Clock

GAME_PLIES = 80
"""Default number of plies of a whole game: the length of games of the Amazons on 10x10 between good players."""
AT_LEAST = 16  # Expected number of further plies of a game that is longer than `GAME_PLIES`
SHARE = 0.2  # Largest share of the time left for one move
LAST_SHARE = 0.8  # `SHARE` of the last move before new time is added; half of it of the last but one
LAG_MS = 10.0
"""Milliseconds that a move costs besides its search: transfer of the answer, and delay of the search's end."""
LEAST_MS = 1.0


def expected_plies(played: int, legal: int, game_plies: int = GAME_PLIES) -> int:
    """Return the expected number of plies left in a game, of both sides.

    Args:
        played: plies so far.
        legal: number of legal actions; a side with few of them has few moves left.
        game_plies: plies of a whole game.
    """
    return max(2, min(max(game_plies - played, AT_LEAST), 2 * legal))


def movetime_ms(clock: Clock, played: int, expected: int, lag_ms: float = LAG_MS, even: bool = False) -> float:
    """Return the milliseconds to search for this move: above 0, and never more than the time left unless that is 0.

    Args:
        clock: the clock, as the side to move sees it.
        played: plies so far.
        expected: plies left in the game, see `expected_plies`.
        lag_ms: milliseconds that each move costs besides its search.
        even: whether all moves have the same weight.
    """
    length = played + expected
    weights = [1.0 if even else _weight(ply / length) for ply in range(played, length, 2)][: clock.moves]
    moves = len(weights)
    share = SHARE if clock.moves is None else max(SHARE, LAST_SHARE / clock.moves)
    # The increment comes after each move, so the last one is useless.
    usable = clock.own_ms + (moves - 1) * clock.increment_ms - moves * lag_ms
    planned = usable * weights[0] / sum(weights)
    most = min(share * clock.own_ms + clock.increment_ms, max(share, 0.5) * clock.own_ms, clock.own_ms - lag_ms)
    return max(min(planned, most), min(LEAST_MS, max(clock.own_ms / 2, 1e-3)))


def _weight(elapsed: float) -> float:
    """Return the weight of a move when the share ``elapsed`` of the game is over; highest at 0.37."""
    return 0.3 + math.sin(math.pi * elapsed**0.7)


# Time management for Gomoku: the smaller of the turn's and the match's time, less the cost of an answer.


AT_ONCE_MS = 20.0  # Milliseconds for a move if the manager wants it as fast as possible
PLIES_A_ROW, TURN_AT_LEAST = 3, 16
"""Expected plies of a whole game for each row of the board; expected further plies of a game that lasts longer."""
ANSWER_MS = 10.0
"""Milliseconds reserved for each answer until the board is full; at most three quarters of the time left."""
LAGS = 200  # Number of moves for whose margins the time of a whole match suffices, if nothing is searched


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
        times.append(movetime_ms(clock, played, expected_stones(played, cells), lag, even=True))
    return max(LEAST_MS, min(times) - used) if times else None


def expected_stones(played: int, cells: int) -> int:
    """Return the expected number of plies left in a game, of both sides. Every ply takes a cell."""
    return max(2, min(max(PLIES_A_ROW * isqrt(cells) - played, TURN_AT_LEAST), cells - played))
