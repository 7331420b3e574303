"""UCT with random playouts as a player: the anchor of ratings."""

import math

from pipeline_src.games.gomoku.board import initial_state
from pipeline_src.players.player import PlayerText
from pipeline_src.players.searching import SearchPlayer, read_limit
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts import playouts_gomoku  # noqa: F401, makes the search know the game
from pipeline_src.search.mcts.playouts import C as STANDARD_C
from pipeline_src.search.mcts.playouts import PlainUct

DEFAULT = Limit(nodes=1000)


def gomoku_mcts(text: PlayerText) -> SearchPlayer:
    """``mcts[:playouts=N | movetime=MS][,c=C]`` of Gomoku; 1,000 playouts a move if nothing is given.

    Raises:
        ZugwerkError: another option, or a value that an option cannot have.
    """
    text.no_value()
    numbers = text.numbers(playouts=math.nan, movetime=math.nan, c=STANDARD_C)
    limit = read_limit(text, {**numbers, "nodes": numbers["playouts"], "depth": math.nan}, DEFAULT)
    player = SearchPlayer(PlainUct(numbers["c"]), limit)
    player.searcher.search(initial_state(5), Limit(nodes=1))  # compiled before any clock runs
    return player
