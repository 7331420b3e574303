"""The players of this process. Each is made once and reused."""

import hashlib
import os
from pathlib import Path
from typing import Any

from pipeline_src.files import stamp
from pipeline_src.players.ladders import FILE
from pipeline_src.players.player import Player, PlayerText
from pipeline_src.players.registry import make_player
from pipeline_src.project.params import PARAMS_FILE

MOST = 16
"""Largest number of players that are kept. The least recently used ones are dropped."""
_PLAYERS: dict[tuple[Any, ...], Player] = {}


def player(game: str, text: str, seat: int = 0) -> Player:
    """Return the player that a text names. It may have played before, so call `Player.new_game`.

    A player is made again if one of its files has changed.

    Args:
        game: name of the game.
        text: text of the player.
        seat: number that distinguishes players with the same text, such as the two of a game.

    Raises:
        ZugwerkError: as `make_player`.
    """
    params = PARAMS_FILE.resolve()
    key = (game, text, seat, (params, *stamp(params)), *stamps_of(text))
    found = _PLAYERS.pop(key, None)
    if found is None:
        found = make_player(game, text)
        while len(_PLAYERS) >= MOST:
            _PLAYERS.pop(next(iter(_PLAYERS))).close()
    _PLAYERS[key] = found
    return found


def files_of(text: str) -> list[Path]:
    """Return the files that a player's text names: its model, the program of an engine, or the table of the levels."""
    parsed = PlayerText.parse(text)
    if parsed.name == "level":
        return [FILE]
    words = (parsed.value, *parsed.options.values())
    return [Path(word).resolve() for word in words if os.path.isfile(word)]  # noqa: PTH113 - a command may be long


def digests_of(text: str) -> list[str]:
    """Return the SHA-256 of each of these files."""
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in files_of(text)]


def stamps_of(text: str) -> tuple[tuple[Path, int, int], ...]:
    """Return each of these files with its stamp: another one once a file has changed."""
    return tuple((path, *stamp(path)) for path in files_of(text))


def rest() -> None:
    """End the outside processes of the players, which start them again for their next game."""
    for one in _PLAYERS.values():
        one.close()


def dismiss() -> None:
    """Drop all players."""
    while _PLAYERS:
        _PLAYERS.popitem()[1].close()
