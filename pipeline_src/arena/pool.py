"""The players of this process: each is made once, and told when another game begins."""

import os
from pathlib import Path
from typing import Any

from pipeline_src.players.player import Player, PlayerText
from pipeline_src.players.registry import make_player
from pipeline_src.project.params import PARAMS_FILE

MOST = 16
"""Players that are kept; of more, those that have not been asked for the longest are let go."""
_PLAYERS: dict[tuple[Any, ...], Player] = {}


def player(game: str, text: str, seat: int = 0) -> Player:
    """The player that a text names, who may have played before: say `Player.new_game`.

    One is made anew where a file that it is made from has changed.

    Args:
        game: name of the game.
        text: of the player.
        seat: tells players of one text apart, such as the two of a game.

    Raises:
        ZugwerkError: as `make_player`.
    """
    made_from = [PARAMS_FILE.resolve(), *files_of(text)]
    key = (game, text, seat, *((path, *_stamp(path)) for path in made_from))
    found = _PLAYERS.pop(key, None)
    if found is None:
        found = make_player(game, text)
        while len(_PLAYERS) >= MOST:
            _PLAYERS.pop(next(iter(_PLAYERS))).close()
    _PLAYERS[key] = found
    return found


def files_of(text: str) -> list[Path]:
    """The files that a player's text names: its model, or the program of an engine."""
    parsed = PlayerText.parse(text)
    words = (parsed.value, *parsed.options.values())
    return [Path(word).resolve() for word in words if os.path.isfile(word)]  # noqa: PTH113 - a command may be long


def rest() -> None:
    """End what players run outside this process; they start it again for their next game."""
    for one in _PLAYERS.values():
        one.close()


def dismiss() -> None:
    """Let go of all players."""
    while _PLAYERS:
        _PLAYERS.popitem()[1].close()


def _stamp(path: Path) -> tuple[int, int]:
    """Changes when the file is written."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
