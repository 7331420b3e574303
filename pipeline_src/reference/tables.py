"""Markdown tables, and the words in their cells."""

from collections.abc import Iterable, Sequence
from typing import Any

from pipeline_src import yaml12

NOTE = "<!-- Written by `make docs` from the code; edit that. -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; bars inside cells are escaped."""
    lines = [list(head), ["---"] * len(head), *map(list, rows)]
    return ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines]


def code(text: str) -> str:
    """Return text as code; empty text stays empty."""
    return f"`{text}`" if text else ""


def value_code(value: Any) -> str:
    """Return a value of params.yaml as code."""
    text = yaml12.dump(value, default_flow_style=True, width=10_000).strip()
    return code(text.removesuffix("...").strip())
