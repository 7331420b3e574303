"""Plain minimax as a player of Gomoku."""

from typing import Annotated

from pydantic import Field

from pipeline_src.players.options import Options
from pipeline_src.players.player import Position
from pipeline_src.players.searching import SearchPlayer
from pipeline_src.search.gomoku.evaluation import make_evaluator
from pipeline_src.search.limits import Limit
from pipeline_src.search.minimax import MAX_DEPTH, Minimax


class MinimaxOptions(Options):
    """Plain minimax at a fixed depth, with the evaluation of ``alphabeta``."""

    EXAMPLE = "minimax:depth=2"

    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 2
    """Depth in plies."""


class MinimaxPlayer(SearchPlayer):
    """Searches to its depth, on a clock too."""

    def limit_at(self, position: Position) -> Limit:  # noqa: ARG002
        """See `SearchPlayer.limit_at`."""
        return self.limit


def gomoku_minimax(options: MinimaxOptions) -> MinimaxPlayer:
    """The player ``minimax`` of Gomoku."""
    return MinimaxPlayer(Minimax(make_evaluator()), Limit(depth=options.depth))
