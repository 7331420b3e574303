"""Markdown tables."""

from collections.abc import Iterable, Sequence

NOTE = "<!-- Written by `make docs` from the code; edit that. -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table; a bar inside a cell is escaped."""
    lines = [list(head), ["---"] * len(head), *map(list, rows)]
    return ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines]


def code(text: str) -> str:
    """Text as code; empty stays empty."""
    return f"`{text}`" if text else ""


def sentence(text: str | None) -> str:
    """The first sentence of a docstring, in one line and without reST's double backticks."""
    words = " ".join((text or "").split("\n\n")[0].split()).replace("``", "`")
    return words if words.endswith((".", ")")) or not words else words + "."
