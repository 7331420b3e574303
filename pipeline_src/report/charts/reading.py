"""Read the tables and metrics of charts. A missing file gives None, a damaged one an error that names it."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, read_table

T = TypeVar("T")


class Estimate(NamedTuple):
    """A value and its 95 % interval; without an interval, its ends are NaN."""

    value: float
    low: float = math.nan
    high: float = math.nan


class Table:
    """Rows of a file, read by column."""

    def __init__(self, path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
        """Name ``path`` in errors."""
        self.path = path
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def numbers(self, column: str) -> list[float]:
        """Return a column of numbers, NaN for empty cells.

        Raises:
            ZugwerkError: a row has no such cell, or it is no number.
        """
        return self._column(column, lambda cell: math.nan if cell == "" else float(cell))

    def words(self, column: str) -> list[str]:
        """Return a column of words.

        Raises:
            ZugwerkError: a row has no such cell.
        """
        return self._column(column, str)

    def where(self, column: str, keep: Callable[[str], bool]) -> "Table":
        """Return the rows with these words in ``column``."""
        words = self.words(column)
        return Table(self.path, [row for row, word in zip(self._rows, words, strict=True) if keep(word)])

    def groups(self, column: str) -> Iterator[tuple[str, "Table"]]:
        """Return the rows by their word in ``column``, in the order of the file."""
        for word in dict.fromkeys(self.words(column)):
            yield word, self.where(column, word.__eq__)

    def estimates(self, value: str, low: str = "low", high: str = "high") -> list[Estimate]:
        """Return three columns as values with intervals."""
        columns = (self.numbers(name) for name in (value, low, high))
        return [Estimate(*three) for three in zip(*columns, strict=True)]

    def _column(self, column: str, read: Callable[[Any], T]) -> list[T]:
        cells = []
        for number, row in enumerate(self._rows, 1):
            cell = row.get(column)
            try:
                if cell is None:
                    raise ValueError("no such cell")
                cells.append(read(cell))
            except (TypeError, ValueError) as error:
                raise _damaged(self.path, f"row {number}, column '{column}': {error}") from None
        return cells


class Metrics:
    """Numbers of a JSON file, read by dotted key."""

    def __init__(self, path: Path, tree: Any) -> None:
        """Name ``path`` in errors."""
        if not isinstance(tree, dict):
            raise _damaged(path, "expected keys with values")
        self.path = path
        self._tree = tree

    def keys(self, key: str = "") -> list[str]:
        """Return the keys below ``key``; empty if it is missing."""
        below = self._at(key) if key else self._tree
        if below is not None and not isinstance(below, dict):
            raise _damaged(self.path, f"'{key}': expected keys with values")
        return list(below or {})

    def estimate(self, key: str) -> Estimate | None:
        """Return a ``{value, low, high}``; None if the key or its value is missing or null.

        Raises:
            ZugwerkError: the key has another type.
        """
        found = self._at(key)
        if found is None or (isinstance(found, dict) and found.get("value") is None):
            return None
        try:
            ends = (found.get(end) for end in ("low", "high"))
            return Estimate(float(found["value"]), *(math.nan if end is None else float(end) for end in ends))
        except (TypeError, ValueError, AttributeError, KeyError):
            raise _damaged(self.path, f"'{key}': expected a value with its interval, found {found!r}") from None

    def rows(self, key: str) -> Table | None:
        """Return a list of rows; None if the key is missing."""
        found = self._at(key)
        if found is None:
            return None
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            raise _damaged(self.path, f"'{key}': expected a list of rows")
        return Table(self.path, found)

    def _at(self, key: str) -> Any:
        tree: Any = self._tree
        for part in key.split("."):
            if not isinstance(tree, dict):
                raise _damaged(self.path, f"'{key}': expected keys with values above it")
            tree = tree.get(part)
            if tree is None:
                return None
        return tree


def table(path: Path) -> Table | None:
    """Read a CSV file; None if it is missing or has no row.

    Raises:
        ZugwerkError: the file is not text, or has no header.
    """
    if not path.exists():
        return None
    rows = read_table(path)
    if not rows and not path.stat().st_size:
        raise _damaged(path, "empty")
    return Table(path, rows) if rows else None


def metrics(path: Path) -> Metrics | None:
    """Read a JSON file of metrics; None if it is missing.

    Raises:
        ZugwerkError: the file is not a JSON object.
    """
    return Metrics(path, read_json(path)) if path.exists() else None


def _damaged(path: Path, what: str) -> ZugwerkError:
    return ZugwerkError(f"{path}: damaged ({what}); remove it and make it again")
