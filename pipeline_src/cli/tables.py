"""Tables in windows of any width: `print_table`."""

from typing import TYPE_CHECKING

MOST = 10_000  # Width in columns in which every table has room

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


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
