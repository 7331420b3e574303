"""`GameRecord`: one game as played, whatever text it came from."""

from dataclasses import dataclass
from typing import Literal

Winner = Literal["first", "second", "draw"]
Source = Literal["littlegolem", "engine", "file"]

WINNERS: tuple[Winner, ...] = ("first", "second", "draw")
SOURCES: tuple[Source, ...] = ("littlegolem", "engine", "file")


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game from its start to its end.

    ``first`` is the side that moves first (White in Amazons, Black in Gomoku and Go). Actions are the game's
    action ids, one a ply (docs/glossary.md); `pipeline_src.games` turns them into move text and back.
    """

    game: str
    """Name of the game, as `pipeline_src.games.game.get_game` knows it."""
    gid: int
    """Number of the game where it came from; unique within an archive."""
    source: Source
    """Who played it: people on the site, or an engine of ours."""
    variant: str
    """Start position or rule set, e.g. ``standard`` or ``cross``."""
    height: int
    width: int
    actions: tuple[int, ...]
    """Action ids, one a ply, int32."""
    winner: Winner | None
    """None where nothing says who won."""
    resigned: bool = False
    """The record ends in an explicit resignation."""
    first_name: str = ""
    second_name: str = ""
    first_plid: int = 0
    """The site's number of the player, 0 where unknown. Names change and repeat; this is the key."""
    second_plid: int = 0
    event: str = ""
    """Tournament id, empty for a casual game."""
