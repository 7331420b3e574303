"""All players of a game: their options, as `zugwerk players` and the pages list them, and their kernels (`warm`)."""

import time
from typing import Any, NamedTuple

from pydantic.fields import FieldInfo

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import GAMES, get_game
from pipeline_src.players import ENGINES
from pipeline_src.players.player import Options, option_names
from pipeline_src.players.registry import build_player, makers_of, open_maker, players_of
from pipeline_src.project.params import sentence, type_words

IN_A_TEXT = {"true or false": "0 or 1", "mapping": "text", "list of text": "text"}


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


def players(game: str | None = None) -> list[Listed]:
    """Return all players of a game, or of all games.

    Raises:
        ZugwerkError: the game has no players.
    """
    games = [name for name in sorted(GAMES) if makers_of(name)]
    if game is not None and game not in games:
        raise ZugwerkError(f"no players of {game!r}; there are those of: {', '.join(games)}")
    return [one for name in games if game in (None, name) for one in _players(name)]


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
    """Return a text for each player of a game, or several if its options decide which kernels it calls.

    Players that are other programs are left out.
    """
    own = {name: where for name, where in players_of(game).items() if name not in ENGINES.get(game, {})}
    return [text for name, where in own.items() for text in (name, *open_maker(where)[1].VARIANTS)]


def warm(game: str) -> Warmed:
    """Compile the kernels of the rules of a game and of its players that are not on disk yet.

    Games share hardly any kernels, and cache files are named by their sources, so each game can be compiled in a
    process of its own. The process reports progress on stderr.

    Raises:
        ZugwerkError: no game has this name.
    """
    from pipeline_src.games.kernels import rules_need  # import numba, which a list of the players does not need
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
