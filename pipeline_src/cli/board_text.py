"""Boards for a terminal: coordinates, and the last move marked."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.text import Text

LAST, PALE = "reverse bold", "dim"
_GOMOKU = {0: (".", PALE), 1: ("x", "bold cyan"), 2: ("o", "bold yellow")}
_AMAZONS = {0: ("*", "red"), 1: (".", PALE), 2: ("b", "bold yellow"), 3: ("w", "bold cyan")}


def board_text(game: str, state: Any, last: int | None) -> "Text":
    """A board, top rank first, in letters that need no colour: what the last action touched is in brackets.

    Gomoku: ``x`` the first side's stones, ``o`` the second's. Amazons: ``w`` and ``b`` amazons, ``*`` arrows.

    Args:
        game: amazons or gomoku.
        state: the position.
        last: the action that led to it, None where there is none.
    """
    from rich.text import Text

    height, width = state.board.shape
    signs = _GOMOKU if game == "gomoku" else _AMAZONS
    rows = range(height) if game == "gomoku" else range(height - 1, -1, -1)  # row 0 is the top, or rank 1
    marked = _touched(game, height * width, last)
    letters = "   " + "".join(f" {chr(ord('a') + column)} " for column in range(width))
    text = Text(letters.rstrip() + "\n", no_wrap=True)
    for row in rows:
        rank = height - row if game == "gomoku" else row + 1
        text.append(f"{rank:2} ")
        for column in range(width):
            sign, style = signs[int(state.board[row, column])]
            if row * width + column in marked:
                text.append(f"[{sign}]", f"{style} {LAST}")
            else:
                text.append(f" {sign} ", style)
        text.append(f" {rank}\n")
    text.append(letters.rstrip())
    return text


def _touched(game: str, squares: int, action: int | None) -> set[int]:
    """Where the stone was placed; of a turn in the Amazons, where she went and where the arrow."""
    if action is None:
        return set()
    return {action} if game == "gomoku" else {action // squares % squares, action % squares}


def value_text(opponent: str, value: float) -> str:
    """What a search makes of its own prospects: a win rate where that is its unit, else the evaluation's points."""
    name = opponent.partition(":")[0].strip()
    if name in _RATES:
        return f"win rate {(1 + value) / 2:.0%}"
    return f"value {value:+.1f}"


_RATES = {"zero", "mcts"}
"""Players whose values go from -1 to 1."""
