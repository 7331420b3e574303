"""Alpha-beta with threats, patterns kept by move and searches by fours, as a player of Gomoku."""

import dataclasses
import math

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import from_fen
from pipeline_src.players.player import PlayerText
from pipeline_src.players.searching import LIMITS, SearchPlayer, read_limit
from pipeline_src.search.gomoku.engine import Engine, Options
from pipeline_src.search.limits import Limit

DEFAULT = Limit(movetime_ms=1000)
WARM_UP = from_fen("5/5/2x2/2o2/5 b")


def gomoku_engine(text: PlayerText) -> SearchPlayer:
    """``engine[:movetime=MS | nodes=N | depth=D][,option=...]`` of Gomoku; 1,000 ms if nothing is given.

    Options are the fields of `search.gomoku.engine.Options`, e.g. ``threats=0`` for no search by threats at the root.

    Raises:
        ZugwerkError: a value after the colon, another option, or a value that an option cannot have.
    """
    text.no_value()
    standard = dataclasses.asdict(Options())
    given = text.numbers(**dict.fromkeys((*LIMITS, *standard), math.nan))
    limit = read_limit(text, given, DEFAULT)
    for name in standard:
        value = given[name]
        if not math.isnan(value):
            if not (0 <= value < 1 << 30 and (value == int(value) or name == "table_mb")):
                raise ZugwerkError(f"player '{text.name}': {name} must be a whole number from 0, not {value}")
            standard[name] = type(standard[name])(value)
    player = SearchPlayer(Engine(Options(**standard)), limit)
    player.searcher.search(WARM_UP, Limit(depth=2))  # compiled before any clock runs
    return player
