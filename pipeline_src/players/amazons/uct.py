"""UCT with the engine's evaluation as a player."""

import math
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import initial_state
from pipeline_src.jit.needs import ready
from pipeline_src.players.amazons.closing import ClosingFirst
from pipeline_src.players.amazons.evaluator import make_evaluator
from pipeline_src.players.player import PlayerText
from pipeline_src.players.searching import SearchPlayer, read_limit, with_nodes
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.uct import Uct
from pipeline_src.search.mcts.uct_tree import UctOptions

DEFAULT = Limit(movetime_ms=1000)
TREE = 1 << 16
"""Nodes of the tree, about 100 MB when all are used; ``tree=`` sets another bound."""
WHOLE = ("playout", "expand", "keep")


def amazons_uct(text: PlayerText) -> SearchPlayer:
    """``uct[:movetime=MS,nodes=ITERATIONS,depth=PLIES,tree=NODES,c=...]``; other keys are those of `UctOptions`.

    ``iterations`` is another name of ``nodes``.

    Raises:
        ZugwerkError: an unknown option, or one out of its range.
    """
    text.no_value()
    searcher, limit = uct_of(text, make_evaluator("amazons"))
    player = SearchPlayer(ClosingFirst(searcher), limit)
    ready(player.needs(initial_state(6)))  # before any clock runs
    return player


def uct_of(text: PlayerText, evaluator: Any) -> tuple[Uct, Limit]:
    """The search that a player's text describes, with any evaluator, and its limit.

    Raises:
        ZugwerkError: as `amazons_uct`.
    """
    text = with_nodes(text, "iterations")
    nan = math.nan
    numbers = text.numbers(depth=nan, nodes=nan, movetime=nan, tree=TREE, **UctOptions()._asdict())
    limit = read_limit(text, numbers, DEFAULT)
    for name in (*WHOLE, "tree"):
        if numbers[name] != math.floor(numbers[name]):
            raise ZugwerkError(f"player '{text.name}': {name} must be whole, not {numbers[name]}")
    chosen: Any = {name: numbers[name] for name in UctOptions._fields}
    return Uct(evaluator, UctOptions(**chosen), int(numbers["tree"])), limit
