"""Alpha-beta as a player of Gomoku."""

from typing import Annotated

from pydantic import Field

from pipeline_src.players.searching import Limits, SearchPlayer
from pipeline_src.search.alphabeta.searcher import AlphaBeta, Options
from pipeline_src.search.gomoku.evaluation import make_evaluator
from pipeline_src.search.limits import Limit

EXACT = Options(widths=(0,), reduce_after=0, killers=2, inner_killers=1)
"""With a depth alone: every line of so many plies counts, as in `search.minimax`, whatever the order and the table."""
SELECTIVE = Options(widths=(40, 30, 20), reduce_after=8, killers=2, inner_killers=1)
"""With any other limit, where looking at less of each ply buys more plies."""
Width = Annotated[int, Field(ge=0, lt=10_000)]


class AlphaBetaOptions(Limits):
    """Alpha-beta with iterative deepening; a depth of 4 if no limit is given.

    A depth alone is searched at full width; other limits look at the best actions of a ply, by the evaluation, and at
    most of them a ply less deep at first.
    """

    EXAMPLE = "alphabeta:depth=4"
    DEFAULT = Limit(depth=4)

    width: Width | None = None
    """How many actions of each position above the horizon are searched; 0: all."""
    reduce_after: Width | None = None
    """After how many actions of a node the others are first searched a ply less deep; 0: never."""
    table_mb: Annotated[float, Field(ge=0, lt=1e6)] = EXACT.table_mb
    """MiB of the transposition table; 0 for none."""


def gomoku_alphabeta(options: AlphaBetaOptions) -> SearchPlayer:
    """The player ``alphabeta`` of Gomoku."""
    limit = options.limit
    standard = EXACT if limit.nodes is None and limit.movetime_ms is None else SELECTIVE
    search = Options(
        widths=standard.widths if options.width is None else (options.width,),
        table_mb=options.table_mb,
        reduce_after=standard.reduce_after if options.reduce_after is None else options.reduce_after,
        killers=standard.killers,
        inner_killers=standard.inner_killers,
        proofs=False,
    )
    return SearchPlayer(AlphaBeta(make_evaluator(), search), limit)
