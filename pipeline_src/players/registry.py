"""`make_player`: make the player that a text names.

``PLAYERS`` of this package and of each system maps games to names to makers. A maker is a text ``module:function``, so
that a player imports only what it needs, and a search player does not import torch. A game that is not listed here has
its makers by name in ``PLAYERS`` of the module ``players.<game>``. A name may have an option after a colon,
``alphabeta:depth=cnn`` or ``alphabeta:nodes_per_ms``. Of such makers, the first one whose option is in the player's
text is used.
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
from pipeline_src.players import ENGINES, PLAYERS
from pipeline_src.players.player import Options, Player, PlayerText, read_options
from pipeline_src.search.limits import Limit


def players_of(game: str) -> dict[str, str]:
    """Return the makers of a game's players by name."""
    return {name: maker for name, maker in makers_of(game).items() if ":" not in name}


def makers_of(game: str) -> dict[str, str]:
    """Return the makers of a game's players by name, or by name and option, from all packages of players."""
    found = dict[str, str]()
    if game in PLAYERS:
        found |= PLAYERS[game]
    elif importlib.util.find_spec(f"pipeline_src.players.{game}") is not None:
        found |= importlib.import_module(f"pipeline_src.players.{game}").PLAYERS
    for system in _systems():
        found |= getattr(importlib.import_module(system), "PLAYERS", {}).get(game, {})
    return found | ENGINES.get(game, {})


@cache
def _systems() -> list[str]:
    folder = str(Path(__file__).parents[1] / "systems")  # listed, not imported: players know no system
    return [module.name for module in pkgutil.iter_modules([folder], "pipeline_src.systems.")]


def maker_of(game: str, text: PlayerText) -> str:
    """Return the place of a player's maker, ``module:function``.

    Raises:
        ZugwerkError: the game has no player of this name; the message lists its players.
    """
    known = makers_of(game)
    if text.name not in known:
        raise ZugwerkError(f"no player {text.name!r} for {game}; there are: {', '.join(players_of(game))}")
    options = {f"{text.name}:{part}" for key, one in text.options.items() for part in (key, f"{key}={one}")}
    return next((maker for name, maker in known.items() if name in options), known[text.name])


def open_maker(where: str) -> tuple[Callable[[Any], Player], type[Options]]:
    """Return the function at ``module:function``, and the class of the options that it takes."""
    module, _, name = where.partition(":")
    maker = getattr(importlib.import_module(module), name)
    (parameter,) = inspect.signature(maker).parameters.values()
    return maker, parameter.annotation


def limits_in(game: str, text: str) -> Limit | None:
    """Return the limits that a player's text sets, without defaults; None for a player that needs its own limit.

    Raises:
        ZugwerkError: see `make_player`.
    """
    from pipeline_src.players.searching import Nodes  # imports numba, which a list of the players does not need

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
    """Make the player that ``text`` names, e.g. ``one_ply:noise=0.5`` or ``nets:MODEL``, with its kernels loaded.

    >>> make_player("gomoku", "minimax:depth=3").limit.depth
    3

    Raises:
        ZugwerkError: the game has no such player or option; the message lists the valid ones.
    """
    from pipeline_src.games.game import get_game  # imports numba, see `Player.ready`
    from pipeline_src.jit import ready

    player = build_player(game, text)
    ready(player.needs(get_game(game).initial_state()))  # before any clock runs
    return player


def build_player(game: str, text: str) -> Player:
    """Make a player as `make_player` does, but load its kernels only when `Player.ready` or a move first needs them.

    Raises:
        ZugwerkError: as `make_player`.
    """
    parsed = PlayerText.parse(text)
    maker, options = open_maker(maker_of(game, parsed))
    return maker(read_options(options, parsed))
