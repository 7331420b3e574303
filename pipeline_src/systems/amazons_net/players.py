"""The players ``nets`` and ``puct``: their options and makers. Torch is imported when a player is made."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from pipeline_src.players.options import Options
from pipeline_src.players.packaged import model_path
from pipeline_src.players.searching import Nodes
from pipeline_src.project.params import Count, NonNegative
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import Puct
from pipeline_src.search.mcts.puct_forest import PuctOptions

if TYPE_CHECKING:
    from pipeline_src.systems.amazons_net.player import NetsPlayer
    from pipeline_src.systems.amazons_net.puct import PuctPlayer

PACKAGED = Path(__file__).parent / "weights/amazons.pt"
TREE = 1 << 14
"""Number of nodes of a tree if only time limits the search."""
FORMULA = PuctOptions()


class NetsOptions(Options):
    """The most probable turn of the nets, without a search."""

    EXAMPLE = "nets:artifacts/models/amazons/cross_entropy/nets.pt"
    VALUE = "model"

    model: str = ""
    """File of the nets; by default the net that comes with the package."""


def nets_player(options: NetsOptions) -> "NetsPlayer":
    """The player ``nets``.

    Raises:
        ZugwerkError: no model there.
    """
    from pipeline_src.systems.amazons_net.player import NetsPlayer

    return NetsPlayer.load(model_path("nets", options.model, PACKAGED))


class PuctPlayerOptions(Nodes):
    """Monte Carlo tree search guided by the nets; 200 simulations per turn if no limit is given."""

    EXAMPLE = "puct:artifacts/models/amazons/residual/nets.pt,simulations=200"
    VALUE = "model"
    ALIASES: ClassVar[Mapping[str, str]] = {"simulations": "nodes"}
    DEFAULT = Limit(nodes=200)

    model: str = ""
    """File of the nets; by default the net that comes with the package."""
    batch: Count = 16
    """Number of positions in a forward pass; smaller batches are padded."""
    leaves: Count = 1
    """Number of leaves of one tree in a batch."""
    share: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Share of the limit for the amazon's move; the rest is for the arrow."""
    c: NonNegative = FORMULA.c
    """Exploration constant c_puct, or its initial value."""
    c_base: NonNegative = FORMULA.c_base
    """Base of the growth of c with the visits N of a node: ln((1 + N + c_base) / c_base) is added; 0 is no growth."""
    fpu: float = FORMULA.fpu
    """First-play urgency: an unvisited edge has its node's Q less fpu * sqrt(visited prior)."""


def amazons_puct(options: PuctPlayerOptions) -> "PuctPlayer":
    """The player ``puct``.

    Raises:
        ZugwerkError: no model there.
    """
    from pipeline_src.systems.amazons_net.evaluator import AmazonsNetEvaluator
    from pipeline_src.systems.amazons_net.player import NetsPlayer
    from pipeline_src.systems.amazons_net.puct import PuctPlayer

    nets = NetsPlayer.load(model_path("puct", options.model, PACKAGED), options.batch).nets
    formula = PuctOptions(c=options.c, c_base=options.c_base, fpu=options.fpu)
    limit = options.limit
    tree = TREE if limit.nodes is None else limit.nodes + 2
    searcher = Puct(AmazonsNetEvaluator(nets), formula, tree, options.leaves, options.share)
    return PuctPlayer(searcher, limit, nets)
