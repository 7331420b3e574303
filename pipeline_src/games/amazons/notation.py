"""Text of turns.

Turns are written as ``d9-e10/e5``, and read as ``d9-e10/e5``, ``d9e10e5`` or ``d9-e10(e5)``, in upper or lower case.
"""

import re

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import FILES

_TURN = re.compile(
    r"([a-j])(10|[1-9])-?([a-j])(10|[1-9])(?:/?([a-j])(10|[1-9])|\(([a-j])(10|[1-9])\))", re.IGNORECASE | re.ASCII
)


class MoveTextError(ZugwerkError):
    """A text is not a turn, or names a square outside the board."""


def parse_square(text: str, height: int = 10, width: int = 10) -> int:
    """Return the number of a square from its name, such as ``d9``.

    Raises:
        MoveTextError: not a square, or not on a board of this size.
    """
    name, rank = text[:1].lower(), text[1:]
    if (
        name not in FILES[:width]
        or not name
        or not rank.isascii()
        or not rank.isdigit()
        or rank[0] == "0"
        or int(rank) > height
    ):
        raise MoveTextError(f"no such square on a {height}x{width} board: {text!r}")
    return (int(rank) - 1) * width + FILES.index(name)


def format_square(square: int, width: int = 10) -> str:
    """Return the name of a square, e.g. ``d9``."""
    return f"{FILES[square % width]}{square // width + 1}"


def parse_move(text: str, height: int = 10, width: int = 10) -> int:
    """Return the action id of a turn's text. The form is checked, the legality is not.

    >>> parse_move("d1-d7/g7", 10, 10)
    36366

    Raises:
        MoveTextError: not a turn, or a square is not on the board.
    """
    match = _TURN.fullmatch(text.strip())
    if not match:
        raise MoveTextError(f"not a turn: {text!r}; expected e.g. d9-e10/e5")
    parts = [part for part in match.groups() if part is not None]
    start, to, arrow = (parse_square(parts[i] + parts[i + 1], height, width) for i in (0, 2, 4))
    squares = height * width
    return (start * squares + to) * squares + arrow


def format_move(action: int, height: int = 10, width: int = 10) -> str:
    """Return the text of an action id, e.g. ``d9-e10/e5``."""
    squares = height * width
    start, to, arrow = action // (squares * squares), action // squares % squares, action % squares
    return f"{format_square(start, width)}-{format_square(to, width)}/{format_square(arrow, width)}"
