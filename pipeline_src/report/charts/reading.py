"""Read the tables and metrics of charts. A missing file gives nothing, a damaged one an error that names it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, read_table

Row = dict[str, Any]
Rows = list[Row]
"""Cells by column; an empty cell of a column of numbers is NaN."""


def table(path: Path, *numbers: str, words: Sequence[str] = ()) -> Rows:
    """Read a CSV file with columns of ``numbers`` and ``words``; no rows if it is missing.

    Raises:
        ZugwerkError: the file is no table, lacks a column, or has a cell that is no number.
    """
    return _checked(path, read_table(path, numbers), numbers, words) if path.exists() else []


class Metrics:
    """Numbers of a JSON file, read by key; a missing file has none."""

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            ZugwerkError: it is not a JSON object.
        """
        self.path = path
        self._tree = read_json(path) if path.exists() else {}
        self.keys()

    def keys(self, *keys: str) -> list[str]:
        """Return the keys below ``keys``."""
        return list(self._at(*keys, kind=dict) or {})

    def estimate(self, *keys: str) -> dict[str, float] | None:
        """Return a value with its interval as ``{value, low, high}``; None if it is missing or null."""
        found = self._at(*keys, kind=dict)
        if found is None or found.get("value") is None:
            return None
        return _checked(
            self.path, [{key: found.get(key) for key in ("value", "low", "high")}], ("value", "low", "high")
        )[0]

    def rows(self, key: str, *numbers: str) -> Rows:
        """Return a list of rows with columns of ``numbers``; none if the key is missing."""
        return _checked(self.path, self._at(key, kind=list) or [], numbers)

    def _at(self, *keys: str, kind: type) -> Any:
        tree: Any = self._tree
        for key, expected in (*((key, dict) for key in keys), ("", kind)):
            if tree is None:
                return None
            found: type = type(tree)
            if found is not expected:
                raise _damaged(self.path, f"'{'.'.join(keys)}': found {tree!r}")
            tree = tree.get(key) if key else tree
        return tree


def points(
    rows: Rows,
    x: str | Callable[[Row], float],
    y: Mapping[str, str] | str,
    **more: str | Callable[[Row], str],
) -> Rows:
    """Return rows for `drawing.curves`: x, y, low and high, and ``more`` cells.

    Args:
        rows: those of a table.
        x: column of the horizontal axis, or a function of the row.
        y: column of the vertical axis, whose interval is in the columns low and high; or several columns without
            intervals, with their series' names.
        more: series, dash or panel: a word, or a function of the row.
    """
    columns = {y: None} if isinstance(y, str) else y
    found = []
    for column, name in columns.items():
        for row in rows:
            cells: Row = {key: value(row) if callable(value) else value for key, value in more.items()}
            cells |= {"low": row.get("low"), "high": row.get("high")} if name is None else {"series": name}
            found.append({"x": x(row) if callable(x) else row[x], "y": row[column], **cells})
    return found


def _checked(path: Path, rows: Iterable[Any], numbers: Sequence[str], words: Sequence[str] = ()) -> Rows:
    found = []
    for place, row in enumerate(rows, 1):
        try:
            cells = {column: math.nan if row[column] in ("", None) else float(row[column]) for column in numbers}
            found.append({**row, **cells, **{column: row[column] for column in words}})
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(path, f"row {place}: {error}") from None
    return found


def _damaged(path: Path, what: str) -> ZugwerkError:
    return ZugwerkError(f"{path}: damaged ({what}); remove it and make it again")
