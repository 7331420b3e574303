"""Matches in colour-swapped pairs from a set of openings, and scores, Elo ratings and SPRT with error bars.

`run_match` plays a `MatchSpec` and returns a `Match`, which an `Sprt` may end early. `rate_players` rates players from
their `Result` objects.

>>> from pipeline_src.arena import MatchSpec, run_match
>>> found = run_match(MatchSpec("gomoku", "minimax", "random", games=4, size=9))
>>> found.standing.wins, found.score.value
(4, 1.0)
"""

from pipeline_src import exports

_MODULES = {
    "Match": "result",
    "MatchSpec": "match",
    "Result": "result",
    "Sprt": "result",
    "rate_players": "result",
    "run_match": "match",
}
__all__ = list(_MODULES)
__getattr__ = exports(__name__, _MODULES)
