"""Plain minimax as a player of Gomoku."""

from typing import Annotated

from pydantic import Field

from pipeline_src.players.options import Options
from pipeline_src.players.searching import SearchPlayer
from pipeline_src.search.gomoku.evaluation import make_evaluator
from pipeline_src.search.limits import Limit
from pipeline_src.search.minimax import MAX_DEPTH, Minimax


class MinimaxOptions(Options):
    """Plain minimax at a fixed depth, with the evaluation of ``alphabeta``."""

    EXAMPLE = "minimax:depth=2"

    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 2
    """Depth in plies."""


def gomoku_minimax(options: MinimaxOptions) -> SearchPlayer:
    """The player ``minimax`` of Gomoku."""
    return SearchPlayer(Minimax(make_evaluator()), Limit(depth=options.depth))
