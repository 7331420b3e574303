"""From a player's text to the player: `make_player`.

Each room names its own players in ``PLAYERS`` of its ``__init__``, as text ``module:function``: a player brings in only
what it needs, and one that searches needs no torch. In ``players.<game>`` it maps name to maker; in ``players.engines``
and in each system, game to name to maker. A name may have an option after a colon, ``alphabeta:depth=cnn`` or
``alphabeta:nodes_per_ms``: that maker is meant where a player's text has this option.
"""

import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.players import engines
from pipeline_src.players.options import Options, read_options
from pipeline_src.players.player import Player, PlayerText
from pipeline_src.search.limits import Limit


def players_of(game: str) -> dict[str, str]:
    """Makers of a game's players by name."""
    return {name: maker for name, maker in makers_of(game).items() if ":" not in name}


def makers_of(game: str) -> dict[str, str]:
    """Makers of a game's players by name, or by name and option, gathered from all rooms."""
    found: dict[str, str] = {}
    if importlib.util.find_spec(f"pipeline_src.players.{game}") is not None:
        found |= getattr(importlib.import_module(f"pipeline_src.players.{game}"), "PLAYERS", {})
    for room in _rooms():
        found |= getattr(importlib.import_module(room), "PLAYERS", {}).get(game, {})
    return found


@cache
def _rooms() -> list[str]:
    systems = [str(Path(__file__).parents[1] / "systems")]  # looked at, not imported: a player knows no system
    return [*(module.name for module in pkgutil.iter_modules(systems, "pipeline_src.systems.")), engines.__name__]


def maker_of(game: str, text: PlayerText) -> str:
    """Where the maker of a player is, ``module:function``.

    Raises:
        ZugwerkError: no such player for this game; lists those there are.
    """
    known = makers_of(game)
    if text.name not in known:
        raise ZugwerkError(f"no player {text.name!r} for {game}; there are: {', '.join(players_of(game))}")
    options = [part for key, setting in text.options.items() for part in (key, f"{key}={setting}")]
    return next((known[f"{text.name}:{one}"] for one in options if f"{text.name}:{one}" in known), known[text.name])


def open_maker(where: str) -> tuple[Callable[[Any], Player], type[Options]]:
    """The function at ``module:function``, and the model of the options that it takes."""
    module, _, name = where.partition(":")
    maker = getattr(importlib.import_module(module), name)
    (parameter,) = inspect.signature(maker).parameters.values()
    return maker, parameter.annotation


def limits_in(game: str, text: str) -> Limit | None:
    """The limits that a player's text sets, without those that it has by default; None of one that needs its own.

    Raises:
        ZugwerkError: see `make_player`.
    """
    from pipeline_src.players.searching import Nodes  # brings numba, which a list of the players does not need

    parsed = PlayerText.parse(text)
    _, kind = open_maker(maker_of(game, parsed))
    options = read_options(kind, parsed)
    if not isinstance(options, Nodes):
        return None
    given = {
        name: getattr(options, name) for name in ("depth", "nodes", "movetime") if name in options.model_fields_set
    }
    return Limit(given.get("depth"), given.get("nodes"), given.get("movetime"))


def make_player(game: str, text: str) -> Player:
    """The player that ``text`` names, e.g. ``one_ply:noise=0.5`` or ``nets:MODEL``, with its kernels loaded.

    Raises:
        ZugwerkError: no such player or option for this game; lists those there are.
    """
    from pipeline_src.games.game import get_game  # and numba, see `Player.ready`
    from pipeline_src.jit.needs import ready

    player = build_player(game, text)
    ready(player.needs(get_game(game).initial_state()))  # before any clock runs
    return player


def build_player(game: str, text: str) -> Player:
    """`make_player` without the kernels, which the player compiles where `Player.ready` or a move first needs them.

    Raises:
        ZugwerkError: likewise.
    """
    parsed = PlayerText.parse(text)
    maker, options = open_maker(maker_of(game, parsed))
    return maker(read_options(options, parsed))
