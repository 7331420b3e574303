"""Tables in windows of any width, and boards with coordinates and the last move marked."""

from typing import TYPE_CHECKING, Any

from pipeline_src.games.game import GAMES, load_game

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

MOST = 10_000  # Width in columns in which every table has room
LAST, PALE = "reverse bold", "dim"
_STONES = {0: (".", PALE), 1: ("x", "bold cyan"), 2: ("o", "bold yellow")}
_AMAZONS = {0: ("*", "red"), 1: (".", PALE), 2: ("b", "bold yellow"), 3: ("w", "bold cyan")}


def print_table(console: "Console", table: "Table") -> None:
    """Print a table; in a window too narrow for its words, each row as text, with the heads of its columns.

    Columns of numbers have ``no_wrap``, so that they are never cut.
    """
    from rich.padding import Padding
    from rich.text import Text

    if _least_width(console, table) <= console.width:
        console.print(table)
        return
    if table.title:
        console.print(table.title, style="table.title")
    heads = [str(column.header) for column in table.columns]
    for row in zip(*(column.cells for column in table.columns), strict=True):
        first, *others = (cell.plain if isinstance(cell, Text) else str(cell) for cell in row)
        told = [f"{head} {cell}" for head, cell in zip(heads[1:], others, strict=True) if cell not in ("", "-")]
        console.print(Text(first))
        console.print(Padding(Text("; ".join(told)), (0, 0, 0, 2)))
    console.print()


def _least_width(console: "Console", table: "Table") -> int:
    """Return the width in which a table has all words whole, and all cells of columns with ``no_wrap``."""
    from rich.measure import Measurement

    wide, least, most = console.options.update(max_width=MOST), 0, 0
    for column in table.columns:
        sizes = [Measurement.get(console, wide, cell) for cell in (column.header, *column.cells)]
        widest = max(size.maximum for size in sizes)
        words = widest if column.no_wrap else max(size.minimum for size in sizes)
        least += max(words, column.min_width or 0)
        most += max(widest, column.min_width or 0)
    return Measurement.get(console, wide, table).maximum - most + least


def board_text(game: str, state: Any, before: Any) -> "Text":
    """Return a board as text, top rank first, with the pieces of the last move in brackets.

    Amazons: ``w`` and ``b`` amazons, ``*`` arrows. All others: ``x`` the first side's stones, ``o`` the second's.

    Args:
        game: name of the game.
        state: the position.
        before: the position before the last move; None if unknown.
    """
    from rich.text import Text

    height, width = state.board.shape
    signs, top_down = (_AMAZONS, False) if game == "amazons" else (_STONES, True)  # row 0 is the top, or rank 1
    if game not in GAMES:  # in one file
        colours = {".": PALE} | dict.fromkeys("xXY", "bold cyan") | dict.fromkeys("oOQ", "bold yellow")
        rules: Any = load_game(game)
        signs = {code: (sign, colours.get(sign, "red")) for code, sign in enumerate(rules.LETTERS)}
    rows = range(height) if top_down else range(height - 1, -1, -1)
    letters = "   " + "".join(f" {chr(ord('a') + column)} " for column in range(width))
    text = Text(letters.rstrip() + "\n", no_wrap=True)
    for row in rows:
        rank = height - row if top_down else row + 1
        text.append(f"{rank:2} ")
        for column in range(width):
            sign, style = signs[int(state.board[row, column])]
            if before is not None and sign != "." and state.board[row, column] != before.board[row, column]:
                text.append(f"[{sign}]", f"{style} {LAST}")
            else:
                text.append(f" {sign} ", style)
        text.append(f" {rank}\n")
    text.append(letters.rstrip())
    return text


def value_text(opponent: str, value: float) -> str:
    """Return the text of a search's value: a win rate, or points of the evaluation, by the player's unit."""
    from pipeline_src.players.player import by_results

    if by_results(opponent):
        return f"win rate {(1 + value) / 2:.0%}"
    return f"value {value:+.1f}"
