"""Alpha-beta as a player of the Amazons."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from pipeline_src.players.amazons.basic import ClosingFirst, amazons_engine, make_evaluator
from pipeline_src.players.player import Options
from pipeline_src.players.searching import Limits, SearchPlayer
from pipeline_src.project.params import NonNegative
from pipeline_src.search.alphabeta import AlphaBeta
from pipeline_src.search.alphabeta import Options as Search
from pipeline_src.search.amazons.evaluation import make_evaluator as evaluator_of
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.uct import Uct, UctOptions

STANDARD = Search(breadth=8, inner_breadth=16, futility=3.0)  # Default options, chosen by matches (docs/experiments.md)
Width = Annotated[int, Field(ge=0, lt=10_000)]


class EngineOptions(Options):
    """Options of the alpha-beta search of the Amazons; see `search.alphabeta.Options`."""

    width: Width | None = None
    """Number of turns of a position that are searched deeper, the best by one-ply value; 0 is all."""
    width3: Width | None = None
    """`width` with three plies left to search; by default the same as width."""
    width4: Width | None = None
    """`width` with four or more plies left to search; by default the same as width3."""
    table_mb: Annotated[float, Field(ge=0, lt=1e6)] | None = None
    """Size of the transposition table in MiB, 0 for none; by default amazons_engine.table_mb of params.yaml."""
    weights: Literal["learned", "hand"] | None = None
    """Weights of the evaluation; by default those of amazons_engine in params.yaml."""
    breadth: Width | None = None
    """One ply above the horizon, the number of (from, to) that are examined with all their arrows, the best by their
    value before the arrow; 0 is all, the default if width is 0."""
    inner_breadth: Width | None = None
    """`breadth` further above the horizon, except at the root."""
    futility: Annotated[float, Field(ge=0)] | None = None
    """With two plies left to search, turns with a one-ply value this many squares below alpha are left out; none by
    default if width is 0."""

    def engine(self) -> ClosingFirst:
        """Return the search."""
        widths = list(STANDARD.widths)
        for i, width in enumerate((self.width, self.width3, self.width4)):
            if width is not None:
                widths[i:] = [width] * (len(widths) - i)
        evaluation = amazons_engine()
        if self.weights is not None:
            evaluation = evaluation.model_copy(update={"weights": self.weights, "phases": ()})
        selective = STANDARD if self.width != 0 else Search()
        options = Search(
            widths=tuple(widths),
            table_mb=float(evaluation.table_mb) if self.table_mb is None else self.table_mb,
            breadth=selective.breadth if self.breadth is None else self.breadth,
            inner_breadth=selective.inner_breadth if self.inner_breadth is None else self.inner_breadth,
            futility=selective.futility if self.futility is None else self.futility,
        )
        return ClosingFirst(AlphaBeta(evaluator_of(evaluation), options))


class AlphaBetaOptions(EngineOptions, Limits):
    """Alpha-beta with iterative deepening; one second per move if no limit is given."""

    EXAMPLE = "alphabeta:depth=3,width=20"
    DEFAULT = Limit(movetime_ms=1000)


def amazons_alphabeta(options: AlphaBetaOptions) -> SearchPlayer:
    """The player ``alphabeta`` of the Amazons.

    Raises:
        ZugwerkError: params.yaml is malformed.
    """
    return SearchPlayer(options.engine(), options.limit)


# UCT with the static evaluation as a player of the Amazons.


UCT_STANDARD = UctOptions(c=1.0, prior=1.0, widen=2.0, breadth=16)
"""Default options, chosen by matches (docs/experiments.md)."""


class UctPlayerOptions(Limits):
    """Monte Carlo tree search with the static evaluation; one second per move if no limit is given."""

    EXAMPLE = "uct:iterations=200,c=0.5"
    ALIASES: ClassVar[Mapping[str, str]] = {"iterations": "nodes"}
    DEFAULT = Limit(movetime_ms=1000)

    tree: Annotated[int, Field(ge=1, le=1 << 25)] = 1 << 16
    """Largest number of nodes in the tree; the default takes about 100 MB."""
    c: NonNegative = UCT_STANDARD.c
    """Exploration constant, for win rates in -1..1."""
    prior: NonNegative = UCT_STANDARD.prior
    """Temperature, in squares, of the prior: the softmax of the one-ply values; 0 is no prior (UCB1)."""


def amazons_uct(options: UctPlayerOptions) -> SearchPlayer:
    """The player ``uct``.

    Raises:
        ZugwerkError: params.yaml is malformed.
    """
    chosen = UCT_STANDARD._replace(c=options.c, prior=options.prior)
    return SearchPlayer(ClosingFirst(Uct(make_evaluator(), chosen, options.tree)), options.limit)
