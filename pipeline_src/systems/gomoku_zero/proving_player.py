"""``zero`` with threat search and net: ``zero:MODEL,solver=N``.

A module of its own, so that the generations of self-play do not depend on that search.
"""

from pipeline_src.players.player import Player
from pipeline_src.project.params import Count
from pipeline_src.search.gomoku.proving import ProvingEvaluator
from pipeline_src.systems.gomoku_zero.player import ZeroOptions, open_player


class ProvingOptions(ZeroOptions):
    """The tree search of ``zero`` with a threat search at each leaf.

    Certain wins and losses replace the net's value. If the other side threatens to win, only moves that meet the threat
    are tried.
    """

    EXAMPLE = "zero:artifacts/models/gomoku/13/best.pt,solver=200,movetime=300"

    solver: Count
    """Number of positions of each threat search."""


def proving_player(options: ProvingOptions) -> Player:
    """The player ``zero`` with ``solver``.

    Raises:
        ZugwerkError: see `zero_player`.
    """
    return open_player(options, lambda evaluate: ProvingEvaluator(evaluate, options.solver))
