"""`GameRecord`: one game as played, independent of its source format."""

from dataclasses import dataclass
from typing import Literal

Winner = Literal["first", "second", "draw"]
Source = Literal["littlegolem", "engine", "file"]

WINNERS: tuple[Winner, ...] = ("first", "second", "draw")
SOURCES: tuple[Source, ...] = ("littlegolem", "engine", "file")


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game from its first ply to its last.

    ``first`` is the side that moves first (White in the Amazons, Black in Gomoku and Go). Actions are the game's action
    ids, one for each ply (docs/glossary.md); the game's `format_move` and `parse_move` convert them to text and back.
    """

    game: str  # Name of the game, as `pipeline_src.games.game.get_game` knows it
    gid: int  # Number of the game at its source; unique within an archive
    source: Source  # Source of the game: people on the site, our engine, or a user's file
    variant: str  # Start position or rule set, e.g. `standard` or `cross`.
    height: int
    width: int
    actions: tuple[int, ...]  # Action ids, one for each ply, within int32
    winner: Winner | None  # The winner; None if unknown
    resigned: bool = False  # Whether the record ends in an explicit resignation
    first_name: str = ""
    second_name: str = ""
    first_plid: int = 0
    """The site's number of the player, 0 if unknown. This is the key, since names change and repeat."""
    second_plid: int = 0
    event: str = ""  # Tournament id, empty for a casual game
