"""Alpha-beta players."""

from typing import Annotated

from pydantic import Field

from pipeline_src.players.amazons.closing import ClosingFirst
from pipeline_src.players.amazons.evaluator import amazons_engine, make_evaluator
from pipeline_src.players.options import Options
from pipeline_src.players.searching import Limits, SearchPlayer
from pipeline_src.search.alphabeta.searcher import AlphaBeta
from pipeline_src.search.alphabeta.searcher import Options as Search
from pipeline_src.search.evaluator import WIN
from pipeline_src.search.limits import Limit

STANDARD = Search(breadth=8, inner_breadth=16, futility=3.0)
"""What matches have decided for (docs/experiments.md)."""
Width = Annotated[int, Field(ge=0, lt=10_000)]


class EngineOptions(Options):
    """The alpha-beta search of the Amazons, see `search.alphabeta.searcher.Options`."""

    width: Width | None = None
    """How many turns of a position are searched deeper, the best by their one-ply values; 0: all."""
    width3: Width | None = None
    """The same with three plies to go; by default as width."""
    width4: Width | None = None
    """The same with four or more plies to go; by default as width3."""
    table_mb: Annotated[float, Field(ge=0, lt=1e6)] | None = None
    """MiB of the transposition table, 0 for none; by default amazons_engine.table_mb of params.yaml."""
    killers: Width = STANDARD.killers
    """How many of the turns that last refuted at a ply are tried first just above the horizon."""
    inner_killers: Width = STANDARD.inner_killers
    """How many of them, at most, further up."""
    scout: bool = STANDARD.scout
    """All turns of a node but the first are tried with a minimal window."""
    reduce_after: Width = STANDARD.reduce_after
    """After how many turns of a node the others are first searched a ply less deep; 0: never."""
    breadth: Width | None = None
    """Just above the horizon, how many (from, to) of a position are looked at with all their arrows, those that are
    best without one; 0, and by default where width is 0: all."""
    inner_breadth: Width | None = None
    """The same further up, but for the root."""
    proofs: bool = STANDARD.proofs
    """Whether a score of 8,000 or more is always proven; other wins and losses that were found are told in squares."""
    futility: Annotated[float, Field(ge=0)] | None = None
    """With two plies to go, turns whose one-ply value is so many squares below alpha are left out; by default, where
    width is 0, none."""
    aspiration: Annotated[float, Field(ge=0, lt=WIN)] = STANDARD.aspiration
    """Half the window around the last iteration's value in which the next one begins; 0: the whole range."""

    def engine(self) -> ClosingFirst:
        """The search."""
        widths = list(STANDARD.widths)
        for i, width in enumerate((self.width, self.width3, self.width4)):
            if width is not None:
                widths[i:] = [width] * (len(widths) - i)
        selective = STANDARD if self.width != 0 else Search()
        options = Search(
            widths=tuple(widths),
            table_mb=float(amazons_engine().table_mb) if self.table_mb is None else self.table_mb,
            scout=self.scout,
            killers=self.killers,
            inner_killers=self.inner_killers,
            reduce_after=self.reduce_after,
            breadth=selective.breadth if self.breadth is None else self.breadth,
            inner_breadth=selective.inner_breadth if self.inner_breadth is None else self.inner_breadth,
            proofs=self.proofs,
            futility=selective.futility if self.futility is None else self.futility,
            aspiration=self.aspiration,
        )
        return ClosingFirst(AlphaBeta(make_evaluator("amazons"), options))


class AlphaBetaOptions(EngineOptions, Limits):
    """Alpha-beta with iterative deepening; a second a move if no limit is given."""

    EXAMPLE = "alphabeta:depth=3,width=20"
    DEFAULT = Limit(movetime_ms=1000)


def amazons_alphabeta(options: AlphaBetaOptions) -> SearchPlayer:
    """The player ``alphabeta`` of the Amazons.

    Raises:
        ZugwerkError: params.yaml is malformed.
    """
    return SearchPlayer(options.engine(), options.limit)
