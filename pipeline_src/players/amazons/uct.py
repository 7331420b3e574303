"""UCT with the static evaluation as a player of the Amazons."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from pipeline_src.players.amazons.closing import ClosingFirst
from pipeline_src.players.amazons.evaluator import make_evaluator
from pipeline_src.players.searching import Limits, SearchPlayer
from pipeline_src.project.params import NonNegative
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

    tree: Annotated[int, Field(ge=1, le=1 << 25)] = 1 << 16
    """Largest number of nodes in the tree; the default takes about 100 MB."""
    c: NonNegative = STANDARD.c
    """Exploration constant, for win rates in -1..1."""
    prior: NonNegative = STANDARD.prior
    """Temperature, in squares, of the prior: the softmax of the one-ply values; 0 is no prior (UCB1)."""


def amazons_uct(options: UctPlayerOptions) -> SearchPlayer:
    """The player ``uct``.

    Raises:
        ZugwerkError: params.yaml is malformed.
    """
    chosen = STANDARD._replace(c=options.c, prior=options.prior)
    return SearchPlayer(ClosingFirst(Uct(make_evaluator(), chosen, options.tree)), options.limit)
