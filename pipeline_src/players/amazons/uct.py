"""UCT with the engine's evaluation as a player."""

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

STANDARD = UctOptions()


class UctPlayerOptions(Limits):
    """Monte Carlo tree search with the engine's evaluation; a second a move if no limit is given."""

    EXAMPLE = "uct:iterations=200,c=0.5"
    ALIASES: ClassVar[Mapping[str, str]] = {"iterations": "nodes"}
    DEFAULT = Limit(movetime_ms=1000)

    tree: Count = 1 << 16
    """Nodes of the tree; as many as by default take about 100 MB when all are used."""
    c: NonNegative = STANDARD.c
    """Weight of exploration; win rates go from -1 to 1."""
    prior: NonNegative = STANDARD.prior
    """Temperature, in squares, of the softmax of one-ply values that is the prior; 0: none (UCB1)."""
    scale: Annotated[float, Field(ge=1e-6)] = STANDARD.scale
    """How many squares make odds of e to 1."""
    widen: Annotated[float, Field(ge=1)] = STANDARD.widen
    """k: a node with v visits considers its first k * v^alpha turns."""
    alpha: NonNegative = STANDARD.alpha
    """The growth of that number."""
    minimax: Fraction = STANDARD.minimax
    """Share of the minimax value in an edge's worth; the rest is the mean of what was seen below it."""
    fpu: float = STANDARD.fpu
    """Squares that are taken off the one-ply value of an edge without a visit."""
    playout: Whole = STANDARD.playout
    """Random plies before the evaluation of a leaf; 0: its value is that of its best reply."""
    expand: Count = STANDARD.expand
    """Visits of an edge at which its child is expanded."""
    keep: Count = STANDARD.keep
    """Turns stored of a node other than the root, the best by one-ply value."""


def amazons_uct(options: UctPlayerOptions) -> SearchPlayer:
    """The player ``uct``.

    Raises:
        ZugwerkError: params.yaml is malformed.
    """
    chosen = UctOptions(**options.model_dump(include=set(UctOptions._fields)))
    return SearchPlayer(ClosingFirst(Uct(make_evaluator("amazons"), chosen, options.tree)), options.limit)
