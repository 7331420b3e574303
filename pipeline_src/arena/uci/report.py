"""The ``info`` line of a search."""

import math
from dataclasses import replace
from typing import Any

from pipeline_src.games.game import Game
from pipeline_src.players.engines.uci_text import write_move
from pipeline_src.search.evaluator import COUNTED, WIN
from pipeline_src.search.limits import SearchResult

PROVEN = (WIN + COUNTED) / 2
"""Larger values are ends of the game, `WIN` less the plies to the end. Values from `SURE` on are counted endings."""
SURE = WIN - 2000


def info_lines(game: Game, state: Any, found: SearchResult) -> list[str]:
    """Return `info_line`; for a search with several lines, one for each, which are numbered (``multipv``)."""
    if not found.lines:
        return [info_line(game, state, found)]
    each = [replace(found, value=line.value, depth=line.depth, pv=line.pv) for line in found.lines]
    return [info_line(game, state, one, f" multipv {k}") for k, one in enumerate(each, 1)]


def info_line(game: Game, state: Any, found: SearchResult, which: str = "") -> str:
    """Return ``info depth .. nodes .. nps .. time .. score .. pv ..``, with the score from `score_words`."""
    words = [f"info depth {found.depth}{which} nodes {found.nodes}"]
    if found.seconds > 0:
        words.append(f"nps {int(found.nodes / found.seconds)}")
    words.append(f"time {int(found.seconds * 1000)}")
    if math.isfinite(found.value):
        words.append(score_words(found.value))
    if found.pv:
        words.append("pv " + " ".join(write_move(game, state, action) for action in found.pv))
    return " ".join(words)


def score_words(value: float) -> str:
    """Return ``score mate N``, N moves to the end, negative for a loss; or ``score cp C``, in 1/100 square."""
    if PROVEN < abs(value) < WIN:
        return f"score mate {int(math.copysign((WIN - abs(value) + 1) // 2, value))}"
    return f"score cp {round(100 * value)}"


def exact_words(value: float) -> str:
    """Describe the proven result of the position; empty without one."""
    if not SURE < abs(value) <= WIN:
        return ""
    side = "won" if value > 0 else "lost"
    if abs(value) > PROVEN:
        return f"exact: {side}" if abs(value) == WIN else f"exact: {side} in {int(WIN - abs(value))} plies"
    # The value is half a turn less than the margin: the side to move needs one more turn than the other to win.
    ahead = abs(value) - COUNTED + (0.5 if value > 0 else -0.5)
    return f"exact: {side}, by counting: {ahead:.0f} or more turns {'ahead' if value > 0 else 'behind'}"
