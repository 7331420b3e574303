"""UCT with random playouts as a player of Gomoku: the anchor of the Elo ratings."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from pipeline_src.players.searching import Nodes, SearchPlayer
from pipeline_src.project.params import NonNegative
from pipeline_src.search.gomoku import playouts as _playouts  # noqa: F401, makes the search know the game
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.playouts import FOREVER, PlainUct
from pipeline_src.search.mcts.playouts import C as STANDARD_C


class MctsOptions(Nodes):
    """Monte Carlo tree search with random playouts; 1,000 playouts per move if no limit is given."""

    EXAMPLE = "mcts:playouts=1000"
    ALIASES: ClassVar[Mapping[str, str]] = {"playouts": "nodes"}
    DEFAULT = Limit(nodes=1000)

    nodes: Annotated[int, Field(ge=1, lt=FOREVER)] | None = None
    """Playouts per move."""
    c: NonNegative = STANDARD_C
    """Exploration constant, for results in -1..1."""


def gomoku_mcts(options: MctsOptions) -> SearchPlayer:
    """The player ``mcts`` of Gomoku."""
    return SearchPlayer(PlainUct(options.c), options.limit)
