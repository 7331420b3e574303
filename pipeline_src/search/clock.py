"""Time management: the time for a move of a game on a clock.

The time left is divided over the expected moves, with weights that rise towards the middle of the game and then fall:
openings are repeated often, and late positions have few choices.
"""

import math

from pipeline_src.search.limits import Clock

GAME_PLIES = 80
"""Default number of plies of a whole game: the length of games of the Amazons on 10x10 between good players."""
AT_LEAST = 16
"""Expected number of further plies of a game that is longer than `GAME_PLIES`."""
SHARE = 0.2
"""Largest share of the time left for one move."""
LAST_SHARE = 0.8
"""`SHARE` of the last move before new time is added; half of it of the last but one."""
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
