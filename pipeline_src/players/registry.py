"""`make_player` makes the player that a text names; `listed` lists all of them with their options.

``PLAYERS`` of this package and of each system maps games to names to makers. A maker is a text ``module:name`` of a
function or class that takes the player's options, so that a player imports only what it needs, and a search player does
not import torch. Games in one file share those of `players.any_game`. Another game that is not listed here has its
makers by name in ``PLAYERS`` of the module ``players.<game>``. A name may have an option after a colon,
``alphabeta:depth=cnn`` or ``alphabeta:nodes_per_ms``. Of such makers, the first one whose option is in the player's
text is used.
"""

import importlib
import importlib.util
import inspect
import pkgutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic.fields import FieldInfo

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import GAMES, get_game, load_game
from pipeline_src.players import ENGINES, PLAYERS
from pipeline_src.players.player import Options, Player, PlayerText, option_names, read_options
from pipeline_src.project.params import sentence, type_words
from pipeline_src.search.limits import Limit


def players_of(game: str) -> dict[str, str]:
    """Return the makers of a game's players by name."""
    return {name: maker for name, maker in makers_of(game).items() if ":" not in name}


def makers_of(game: str) -> dict[str, str]:
    """Return the makers of a game's players by name, or by name and option, from all packages of players."""
    found = dict[str, str]()
    if game in PLAYERS:
        found |= PLAYERS[game]
    elif game not in GAMES:  # in one file
        found |= importlib.import_module(f"{__package__}.any_game").PLAYERS
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
    """Return the place of a player's maker, ``module:name``.

    Raises:
        ZugwerkError: the game has no player of this name; the message lists its players.
    """
    known = makers_of(game)
    if text.name not in known:
        raise ZugwerkError(f"no player {text.name!r} for {game}; there are: {', '.join(players_of(game))}")
    options = {f"{text.name}:{part}" for key, one in text.options.items() for part in (key, f"{key}={one}")}
    return next((maker for name, maker in known.items() if name in options), known[text.name])


def open_maker(where: str) -> tuple[Callable[[Any], Player], type[Options]]:
    """Return the function or class at ``module:name``, and the class of the options that it takes."""
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
    names = ("depth", "nodes", "movetime")
    depth, nodes, movetime = (getattr(options, one) if one in options.model_fields_set else None for one in names)
    return Limit(depth, nodes, movetime)


def make_player(game: str, text: str) -> Player:
    """Make the player that ``text`` names, e.g. ``one_ply:noise=0.5`` or ``nets:MODEL``, with its kernels loaded.

    >>> make_player("gomoku", "minimax:depth=3").limit.depth
    3

    Raises:
        ZugwerkError: the game has no such player or option; the message lists the valid ones.
    """
    from pipeline_src.jit import ready  # imports numba

    player = build_player(game, text)
    ready(player.needs(load_game(game).initial_state()))  # before any clock runs
    return player


def build_player(game: str, text: str) -> Player:
    """Make a player as `make_player` does, but load its kernels only when `Player.ready` or a move first needs them.

    Raises:
        ZugwerkError: as `make_player`.
    """
    parsed = PlayerText.parse(text)
    maker, options = open_maker(maker_of(game, parsed))
    return maker(read_options(options, parsed))


IN_A_TEXT = {"true or false": "0 or 1", "mapping": "text", "list of text": "text"}


# A list of all players with their options, as the command and the pages have it, and their kernels.


class Option(NamedTuple):
    """An option of a player."""

    name: str  # The name, such as `nodes`, or `:MODEL` for the value after the colon, which has no key
    also: str  # Another name of the option
    type: str
    default: str
    meaning: str


class Listed(NamedTuple):
    """A player."""

    game: str
    name: str  # Name at the start of a player's text
    with_options: list[str]  # Options that select this player among several of the same name; none for the usual one
    meaning: str
    example: str
    options: list[Option]

    @property
    def title(self) -> str:
        """Return the name, with the options that select the player."""
        return " with ".join(filter(None, [self.name, " or ".join(self.with_options)]))


def listed(game: str | None = None) -> list[Listed]:
    """Return all players of a game, which may be one in one file, or of all packaged games that are in none.

    Raises:
        ZugwerkError: the game has no players, or there is no such game.
    """
    games = [name for name in sorted(GAMES) if makers_of(name)]
    if game is not None and game not in games:
        if game in GAMES:
            raise ZugwerkError(f"no players of {game!r}; there are those of: {', '.join(games)}")
        load_game(game)
    return [one for name in ([game] if game else games) for one in _players(name)]


def _players(game: str) -> list[Listed]:
    names: dict[str, list[str]] = {}
    for name, maker in makers_of(game).items():
        names.setdefault(maker, []).append(name)
    found = []
    for maker, all_names in names.items():
        kind = open_maker(maker)[1]
        name = all_names[0].partition(":")[0]
        meant = [] if name in all_names else [one.partition(":")[2] for one in all_names]
        options = [_option(kind, key, field) for key, field in kind.model_fields.items()]
        found.append(Listed(game, name, meant, sentence(kind.__doc__), kind.EXAMPLE, options))
    return found


def _option(kind: type[Options], key: str, field: FieldInfo) -> Option:
    name = f":{key.upper()}" if key == kind.VALUE else next(n for n in option_names(kind) if n.partition(".")[0] == key)
    also = next((other for other, own in kind.ALIASES.items() if own == key), "")
    words = type_words(field).removesuffix(" or null")
    return Option(name, also, IN_A_TEXT.get(words, words), _text(field.default), sentence(field.description))


def _text(value: Any) -> str:
    """Return a default as written in a player's text; empty if there is none."""
    if isinstance(value, bool | int | float):
        return f"{value:.12g}"
    return value if isinstance(value, str) else ""


class Warmed(NamedTuple):
    """Numbers of kernels that were needed and compiled."""

    game: str
    needed: int  # Kernels of the rules and of all players. A shared kernel counts once.
    compiled: int
    seconds: float
    left_out: list[str]  # Players that cannot be made on this machine, each with the reason


def texts_of(game: str) -> list[str]:
    """Return a text for each player but other programs, or several if its options decide which kernels it calls."""
    own = {name: where for name, where in players_of(game).items() if name not in ENGINES.get(game, {})}
    return [text for name, where in own.items() for text in (name, *open_maker(where)[1].VARIANTS)]


def warm(game: str) -> Warmed:
    """Compile the kernels of the rules of a game and of its players that are not on disk yet; progress is on stderr.

    Games share hardly any kernels, so each of them can be compiled in a process of its own.

    Raises:
        ZugwerkError: no game has this name.
    """
    from pipeline_src.games.kernels import rules_need  # imports numba, which a list of the players does not need
    from pipeline_src.jit import PROGRESS, distinct, ready

    begin = time.monotonic()
    if PROGRESS.stream is None:
        PROGRESS.speak_as(game)
    start = get_game(game).initial_state()
    needs = rules_need(start)
    left_out = []
    for text in texts_of(game):
        try:
            needs += build_player(game, text).needs(start)
        except ZugwerkError as error:
            left_out.append(f"{text}: {error}")
    compiled = ready(needs)
    return Warmed(game, len(distinct(needs)), compiled, time.monotonic() - begin, left_out)
