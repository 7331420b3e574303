"""Alpha-beta players."""

import importlib
import math

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import initial_state
from pipeline_src.jit.needs import ready
from pipeline_src.players.amazons.closing import ClosingFirst
from pipeline_src.players.amazons.evaluator import amazons_engine, make_evaluator
from pipeline_src.players.player import PlayerText
from pipeline_src.players.searching import LIMITS, SearchPlayer, read_limit
from pipeline_src.search.alphabeta.searcher import AlphaBeta, Options
from pipeline_src.search.limits import Limit

DEFAULT = Limit(movetime_ms=1000)
WIDTHS = ("width", "width3", "width4")


def amazons_alphabeta(text: PlayerText) -> SearchPlayer:
    """``alphabeta[:depth=D | nodes=N | movetime=MS][,option=...]`` of the Amazons.

    Options: ``width``, how many of a position's turns are searched deeper (0: all), ``width3`` and ``width4`` with
    three and with four or more plies to go; ``table_mb``; ``killers``, ``inner_killers``, ``scout``, ``reduce_after``,
    ``aspiration``: see `search.alphabeta.searcher.Options`. With ``depth=cnn``, ``depth=table`` or ``nodes_per_ms`` the
    player chooses its depth: see `systems.search_depth.player`.

    Raises:
        ZugwerkError: a value after the colon, another option, or a value that an option cannot have.
    """
    text.no_value()
    if text.options.get("depth") in ("cnn", "table") or "nodes_per_ms" in text.options:
        module = importlib.import_module("pipeline_src.systems.search_depth.player")  # which needs this one
        chooses: SearchPlayer = module.depth_player(text)
        return chooses
    standard = Options()
    switches = {
        "table_mb": float(amazons_engine().table_mb),
        "killers": float(standard.killers),
        "inner_killers": float(standard.inner_killers),
        "scout": float(standard.scout),
        "reduce_after": float(standard.reduce_after),
        "aspiration": standard.aspiration,
    }
    numbers = text.numbers(**dict.fromkeys((*LIMITS, *WIDTHS), math.nan), **switches)
    for name in (*WIDTHS, "killers", "inner_killers", "reduce_after"):
        value = numbers[name]
        if not math.isnan(value) and not (0 <= value < 10_000 and value == int(value)):
            raise ZugwerkError(f"player '{text.name}': {name} must be a whole number from 0, not {text.options[name]}")
    try:
        options = Options(
            widths=_widths(numbers, standard),
            table_mb=numbers["table_mb"],
            scout=numbers["scout"] != 0,
            killers=int(numbers["killers"]),
            inner_killers=int(numbers["inner_killers"]),
            reduce_after=int(numbers["reduce_after"]),
            aspiration=numbers["aspiration"],
        )
    except ValueError as error:
        raise ZugwerkError(f"player '{text.name}': {error}") from None
    limit = read_limit(text, numbers, DEFAULT)
    searcher = AlphaBeta(make_evaluator("amazons"), options)
    player = SearchPlayer(ClosingFirst(searcher), limit)
    ready(player.needs(initial_state(6)))  # before any clock runs
    return player


def _widths(numbers: dict[str, float], standard: Options) -> tuple[int, ...]:
    """The three widths; one that is not given is the one before it, or the standard where that is not given either."""
    widths: list[int] = []
    given = False
    for i, name in enumerate(WIDTHS):
        if not math.isnan(numbers[name]):
            widths.append(int(numbers[name]))
            given = True
        else:
            widths.append(widths[-1] if given else standard.widths[min(i, len(standard.widths) - 1)])
    return tuple(widths)
