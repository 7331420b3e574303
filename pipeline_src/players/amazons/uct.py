"""UCT with the static evaluation as a player of the Amazons."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from pipeline_src.players.amazons.closing import ClosingFirst
from pipeline_src.players.amazons.evaluator import make_evaluator
from pipeline_src.players.searching import Limits, SearchPlayer
from pipeline_src.project.params import Count, Fraction, NonNegative, Whole
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.uct import Uct
from pipeline_src.search.mcts.uct_tree import UctOptions

STANDARD = UctOptions(c=1.0, prior=1.0, widen=2.0, breadth=16)
"""Default options, chosen by matches (docs/experiments.md)."""


class UctPlayerOptions(Limits):
    """Monte Carlo tree search with the static evaluation; one second per move if no limit is given."""

    EXAMPLE = "uct:iterations=200,c=0.5"
    ALIASES: ClassVar[Mapping[str, str]] = {"iterations": "nodes"}
    DEFAULT = Limit(movetime_ms=1000)

    tree: Count = 1 << 16
    """Largest number of nodes in the tree; the default takes about 100 MB."""
    c: NonNegative = STANDARD.c
    """Exploration constant, for win rates in -1..1."""
    prior: NonNegative = STANDARD.prior
    """Temperature, in squares, of the prior: the softmax of the one-ply values; 0 is no prior (UCB1)."""
    scale: Annotated[float, Field(ge=1e-6)] = STANDARD.scale
    """Number of squares of advantage that correspond to odds of e to 1."""
    widen: Annotated[float, Field(ge=1)] = STANDARD.widen
    """Progressive widening: k in the number k * v^alpha of turns that a node with v visits considers."""
    alpha: NonNegative = STANDARD.alpha
    """Progressive widening: the exponent alpha, see widen."""
    minimax: Fraction = STANDARD.minimax
    """Share of the minimax value in the value of an edge; the rest is the mean of the results below it."""
    fpu: float = STANDARD.fpu
    """First-play urgency: squares subtracted from the one-ply value of an unvisited edge."""
    playout: Whole = STANDARD.playout
    """Random plies before the evaluation of a leaf; with 0 its value is that of its best reply."""
    expand: Count = STANDARD.expand
    """Number of visits of an edge at which its child is expanded."""
    keep: Count = STANDARD.keep
    """Number of turns stored for a node other than the root, the best by one-ply value."""
    breadth: Whole = STANDARD.breadth
    """Number of (from, to) of a node other than the root that are examined with all their arrows, the best by their
    value before the arrow; 0 is all."""


def amazons_uct(options: UctPlayerOptions) -> SearchPlayer:
    """The player ``uct``.

    Raises:
        ZugwerkError: params.yaml is malformed.
    """
    chosen = UctOptions(**options.model_dump(include=set(UctOptions._fields)))
    return SearchPlayer(ClosingFirst(Uct(make_evaluator(), chosen, options.tree)), options.limit)
