"""Plain minimax as a player."""

import math

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import initial_state
from pipeline_src.jit.needs import ready
from pipeline_src.players.player import PlayerText
from pipeline_src.players.searching import SearchPlayer
from pipeline_src.search.gomoku.evaluation import make_evaluator
from pipeline_src.search.limits import Limit
from pipeline_src.search.minimax import MAX_DEPTH, Minimax

DEPTH = 2


def gomoku_minimax(text: PlayerText) -> SearchPlayer:
    """``minimax[:depth=D]`` of Gomoku: all lines of D plies, 2 if not given, with the evaluation of ``alphabeta``.

    Raises:
        ZugwerkError: another option, or a depth that is not whole or not 1 to `MAX_DEPTH`.
    """
    text.no_value()
    depth = text.numbers(depth=DEPTH)["depth"]
    if not (1 <= depth <= MAX_DEPTH and depth == math.floor(depth)):
        raise ZugwerkError(f"player '{text.name}': depth must be a whole number from 1 to {MAX_DEPTH}, not {depth}")
    player = SearchPlayer(Minimax(make_evaluator()), Limit(depth=int(depth)))
    ready(player.needs(initial_state(3, "freestyle-3")))  # before any clock runs
    return player
