"""`GameRecord`: one game as played, independent of its source format."""

from dataclasses import dataclass
from typing import Any, Literal

from pipeline_src.errors import ZugwerkError

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


def start_of(record: GameRecord) -> Any:
    """Return the first state of a record. The variant of a record may be the text of a position.

    Raises:
        ZugwerkError: the game has no such start.
    """
    from pipeline_src.games.game import get_game

    rules = get_game(record.game)
    if " " in record.variant:
        state = rules.from_fen(record.variant)
    elif record.game == "gomoku" and record.height != record.width:
        import numpy as np

        from pipeline_src.games.gomoku import from_board

        state = from_board(np.zeros((record.height, record.width), np.int8), 0, record.variant)
    else:
        state = rules.initial_state(record.height, record.variant)
    if state.board.shape != (record.height, record.width):
        raise ZugwerkError(f"game {record.gid}: its start is not on {record.height}x{record.width}")
    return state
