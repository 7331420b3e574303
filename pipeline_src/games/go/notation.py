"""Text of moves: ``D4``, file and rank, rank 1 at the bottom, no file I; ``pass``; and of boards."""

import re

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go.board import MOVES_KEPT, PLY, GoState, to_play
from pipeline_src.games.go.turns import lead, winner
from pipeline_src.games.stone_diagram import stone_diagram

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


def diagram(state: GoState) -> str:
    """Return the lines of a board, top rank first: ``x`` black, ``o`` white, ``[x]`` the last stone if it is known."""
    return stone_diagram(state.board, last_action(state), FILES)


def standing(state: GoState) -> str:
    """Return a sentence with the side to move, or the winner and the margin, and the number of plies."""
    plies = f"{state.turn[PLY]} plies"
    result, points = winner(state), lead(state)
    if result is None:
        passed = " and a pass" if last_action(state) == state.board.size else ""
        return f"{'White' if to_play(state) else 'Black'} to move after {plies}{passed}"
    if result == "draw":
        return f"Drawn after {plies}"
    return f"{'Black' if points > 0 else 'White'} won by {abs(points):g} after {plies}"


def last_action(state: GoState) -> int:
    """Return the last action, or -1 if it is not known."""
    ply = int(state.turn[PLY])
    return int(state.moves[(ply - 1) % MOVES_KEPT]) if ply else -1
