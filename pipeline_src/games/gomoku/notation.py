"""Text of cells: ``h8``, file and rank, rank 1 at the bottom."""

import re

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import FILES

_CELL = re.compile(r"([a-y])([1-9][0-9]?)", re.IGNORECASE | re.ASCII)


class MoveTextError(ZugwerkError):
    """A text is not a cell, or names one outside the board."""


def parse_move(text: str, height: int = 15, width: int = 15) -> int:
    """Return the action id of a move's text, in upper or lower case. The form is checked, the legality is not.

    Raises:
        MoveTextError: not a cell, or not on the board.
    """
    match = _CELL.fullmatch(text.strip())
    if not match:
        raise MoveTextError(f"not a move: {text!r}; expected e.g. h8")
    column, rank = FILES.index(match[1].lower()), int(match[2])
    if column >= width or rank > height:
        raise MoveTextError(f"no such cell on a {height}x{width} board: {text!r}")
    return (height - rank) * width + column


def format_move(action: int, height: int = 15, width: int = 15) -> str:
    """Return the text of an action id, e.g. ``h8``."""
    return f"{FILES[action % width]}{height - action // width}"
