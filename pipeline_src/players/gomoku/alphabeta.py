"""Alpha-beta as a player of Gomoku."""

from typing import Annotated

from pydantic import Field

from pipeline_src.players.searching import Limits, SearchPlayer
from pipeline_src.search.alphabeta.searcher import AlphaBeta, Options
from pipeline_src.search.gomoku.evaluation import make_evaluator
from pipeline_src.search.limits import Limit

EXACT = Options(widths=(0,), reduce_after=0, killers=2, inner_killers=1)
"""Options for a depth alone: a full-width search, with the value of `search.minimax` at the same depth."""
SELECTIVE = Options(widths=(40, 30, 20), reduce_after=8, killers=2, inner_killers=1)
"""Options for any other limit: fewer actions of each ply, and more plies."""
Width = Annotated[int, Field(ge=0, lt=10_000)]


class AlphaBetaOptions(Limits):
    """Alpha-beta with iterative deepening; depth 4 if no limit is given.

    With a depth alone, all actions are searched. With other limits, the best actions of a position by the evaluation
    are searched, and most of them one ply less deep at first.
    """

    EXAMPLE = "alphabeta:depth=4"
    DEFAULT = Limit(depth=4)

    width: Width | None = None
    """Number of actions searched in each position above the horizon; 0 is all."""
    reduce_after: Width | None = None
    """Number of actions of a node after which the others are first searched one ply less deep; 0 is never."""
    table_mb: Annotated[float, Field(ge=0, lt=1e6)] = EXACT.table_mb
    """Size of the transposition table in MiB; 0 for none."""


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
