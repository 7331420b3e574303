"""Text of cells: ``h8``, file and rank, rank 1 at the bottom; and of boards."""

import re

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import FILES, PLY, GomokuState, format_variant, to_play
from pipeline_src.games.gomoku.turns import winner
from pipeline_src.games.stone_diagram import stone_diagram

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


_COLOURS = {"first": "Black", "second": "White"}


def diagram(state: GomokuState) -> str:
    """Return the lines of a board, top rank first: ``x`` black, ``o`` white, ``[x]`` the last stone if it is known."""
    return stone_diagram(state.board, last_cell(state), FILES)


def standing(state: GomokuState) -> str:
    """Return a sentence with the side to move or the winner, the number of plies and the rule."""
    played = f"{state.turn[PLY]} plies, {format_variant(state)}"
    result = winner(state)
    if result is None:
        return f"{'White' if to_play(state) else 'Black'} to move after {played}"
    return f"Drawn after {played}" if result == "draw" else f"{_COLOURS[result]} won after {played}"


def last_cell(state: GomokuState) -> int:
    """Return the last cell, or -1 if it is not known."""
    ply = int(state.turn[PLY])
    return int(state.moves[ply - 1]) if ply else -1
