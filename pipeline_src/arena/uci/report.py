"""The ``info`` line of a search."""

import math
from typing import Any

from pipeline_src.games.game import Game
from pipeline_src.players.engines.uci_text import write_move
from pipeline_src.search.limits import SearchResult


def info_line(game: Game, state: Any, found: SearchResult) -> str:
    """``info depth .. nodes .. nps .. time .. score cp .. pv ..``; cp is the hundredth of a square, for the mover."""
    words = [f"info depth {found.depth} nodes {found.nodes}"]
    if found.seconds > 0:
        words.append(f"nps {int(found.nodes / found.seconds)}")
    words.append(f"time {int(found.seconds * 1000)}")
    if math.isfinite(found.value):
        words.append(f"score cp {round(100 * found.value)}")
    if found.pv:
        words.append("pv " + " ".join(write_move(game, state, action) for action in found.pv))
    return " ".join(words)
