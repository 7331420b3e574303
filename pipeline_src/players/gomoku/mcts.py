"""UCT with random playouts as a player: the anchor of ratings."""

import math

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import initial_state
from pipeline_src.jit.needs import ready
from pipeline_src.players.player import PlayerText
from pipeline_src.players.searching import SearchPlayer, read_limit
from pipeline_src.search.gomoku import playouts as _playouts  # noqa: F401, makes the search know the game
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.playouts import FOREVER, PlainUct
from pipeline_src.search.mcts.playouts import C as STANDARD_C

DEFAULT = Limit(nodes=1000)


def gomoku_mcts(text: PlayerText) -> SearchPlayer:
    """``mcts[:playouts=N | movetime=MS][,c=C]`` of Gomoku; 1,000 playouts a move if nothing is given.

    Raises:
        ZugwerkError: another option, or a value that an option cannot have.
    """
    text.no_value()
    given = text.numbers(playouts=math.nan, movetime=math.nan, c=STANDARD_C)
    playouts = given["playouts"]
    if not (math.isnan(playouts) or (1 <= playouts < FOREVER and playouts == int(playouts))):
        raise ZugwerkError(f"player '{text.name}': playouts must be a whole number from 1, not {playouts}")
    limit = read_limit(text, {"nodes": playouts, "movetime": given["movetime"], "depth": math.nan}, DEFAULT)
    player = SearchPlayer(PlainUct(given["c"]), limit)
    ready(player.needs(initial_state(5)))  # before any clock runs
    return player
