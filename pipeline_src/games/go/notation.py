"""Text of moves: ``D4``, file and rank, rank 1 at the bottom, no file I; ``pass``."""

import re

from pipeline_src.errors import ZugwerkError

FILES = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Letters of the files of boards up to 25x25, without I, as in Go programs and books."""
NO_STONE = "pass"
"""The text of a pass."""
_POINT = re.compile(r"([a-hj-z])([1-9][0-9]?)", re.IGNORECASE | re.ASCII)


class MoveTextError(ZugwerkError):
    """A text is not a move, or names a point outside the board."""


def parse_move(text: str, height: int = 19, width: int = 19) -> int:
    """Return the action id of a move's text, in upper or lower case. The form is checked, the legality is not.

    Raises:
        MoveTextError: not a move, or not on the board.
    """
    word = text.strip()
    if word.lower() == NO_STONE:
        return height * width
    match = _POINT.fullmatch(word)
    if not match:
        raise MoveTextError(f"not a move: {text!r}; expected e.g. D4 or pass (there is no file I)")
    column, rank = FILES.index(match[1].upper()), int(match[2])
    if column >= width or rank > height:
        raise MoveTextError(f"no such point on a {height}x{width} board: {text!r}")
    return (height - rank) * width + column


def format_move(action: int, height: int = 19, width: int = 19) -> str:
    """Return the text of an action id, e.g. ``D4``."""
    if action == height * width:
        return NO_STONE
    return f"{FILES[action % width]}{height - action // width}"
