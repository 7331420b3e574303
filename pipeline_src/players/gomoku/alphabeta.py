"""Alpha-beta as a player of Gomoku."""

import math

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import initial_state
from pipeline_src.jit.needs import ready
from pipeline_src.players.player import PlayerText
from pipeline_src.players.searching import LIMITS, SearchPlayer, read_limit
from pipeline_src.search.alphabeta.searcher import AlphaBeta, Options
from pipeline_src.search.gomoku.evaluation import make_evaluator
from pipeline_src.search.limits import Limit

DEFAULT = Limit(depth=4)
EXACT = Options(widths=(0,), reduce_after=0, killers=2, inner_killers=1)
"""With a depth alone: every line of so many plies counts, as in `search.minimax`, whatever the order and the table."""
SELECTIVE = Options(widths=(40, 30, 20), reduce_after=8, killers=2, inner_killers=1)
"""With any other limit, where looking at less of each ply buys more plies."""


def gomoku_alphabeta(text: PlayerText) -> SearchPlayer:
    """``alphabeta[:depth=D | nodes=N | movetime=MS][,option=...]`` of Gomoku; a depth of 4 if nothing is given.

    A depth alone is searched at full width; other limits look at the best actions of a ply, by the evaluation, and at
    most of them a ply less deep at first. Options: ``width``, how many actions of each position above the horizon are
    searched (0: all), ``reduce_after`` (see `search.alphabeta.searcher.Options`), ``table_mb``.

    Raises:
        ZugwerkError: a value after the colon, another option, or a value that an option cannot have.
    """
    text.no_value()
    given = text.numbers(**dict.fromkeys((*LIMITS, "width", "reduce_after", "table_mb"), math.nan))
    limit = read_limit(text, given, DEFAULT)
    standard = EXACT if limit.nodes is None and limit.movetime_ms is None else SELECTIVE
    for name in ("width", "reduce_after"):
        if not (math.isnan(given[name]) or (0 <= given[name] < 10_000 and given[name] == int(given[name]))):
            raise ZugwerkError(f"player '{text.name}': {name} must be a whole number from 0, not {text.options[name]}")
    try:
        options = Options(
            widths=standard.widths if math.isnan(given["width"]) else (int(given["width"]),),
            table_mb=standard.table_mb if math.isnan(given["table_mb"]) else given["table_mb"],
            reduce_after=standard.reduce_after if math.isnan(given["reduce_after"]) else int(given["reduce_after"]),
            killers=standard.killers,
            inner_killers=standard.inner_killers,
        )
    except ValueError as error:
        raise ZugwerkError(f"player '{text.name}': {error}") from None
    player = SearchPlayer(AlphaBeta(make_evaluator(), options), limit)
    ready(player.needs(initial_state(5)))  # before any clock runs
    return player
