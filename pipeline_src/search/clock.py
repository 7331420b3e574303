"""How long to think about a move of a game that is played on a clock.

The time left is shared out over the moves still expected, by weights that rise towards the middle of the game and fall
again: openings repeat themselves, and late moves have little to choose from.
"""

import math

from pipeline_src.search.limits import Clock

GAME_PLIES = 80
"""Plies of a whole game where nothing better is known; what games of Amazons on 10x10 take between good players."""
AT_LEAST = 16
"""Plies that a game which has outlasted `GAME_PLIES` is still expected to take."""
SHARE = 0.2
"""Most of the time left that one move is given."""
LAG_MS = 10.0
"""What a move costs beside its search: the answer's way, and the search's own lateness."""
LEAST_MS = 1.0


def expected_plies(played: int, legal: int, game_plies: int = GAME_PLIES) -> int:
    """Plies that a game has left, both sides' counted.

    Args:
        played: plies so far.
        legal: number of legal actions: a side with few of them has few moves left.
        game_plies: of a whole game.
    """
    return max(2, min(max(game_plies - played, AT_LEAST), 2 * legal))


def movetime_ms(clock: Clock, played: int, expected: int, lag_ms: float = LAG_MS, even: bool = False) -> float:
    """Milliseconds to search for this move; above 0, and while there is any time never more than is left.

    Args:
        clock: as the side to move sees it.
        played: plies so far.
        expected: plies that the game has left, see `expected_plies`.
        lag_ms: what each move costs beside its search.
        even: whether all moves have the same weight.
    """
    length = played + expected
    weights = [1.0 if even else _weight(ply / length) for ply in range(played, length, 2)]
    moves = len(weights)
    # The increment comes after each move, so that of the last one is of no use.
    usable = clock.own_ms + (moves - 1) * clock.increment_ms - moves * lag_ms
    planned = usable * weights[0] / sum(weights)
    most = min(SHARE * clock.own_ms + clock.increment_ms, clock.own_ms / 2, clock.own_ms - lag_ms)
    return max(min(planned, most), min(LEAST_MS, max(clock.own_ms / 2, 1e-3)))


def _weight(elapsed: float) -> float:
    """Weight of a move when the share ``elapsed`` of the game is over; highest at 0.37."""
    return 0.3 + math.sin(math.pi * elapsed**0.7)
