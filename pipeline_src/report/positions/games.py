"""The choice of the games that the report shows."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import at, read_tree
from pipeline_src.records.record import GameRecord

Draw = Callable[[str], np.random.Generator]
"""Generator of random numbers of an example, by its name."""
PLAYED_BY = {"engine": "played by engines", "littlegolem": "from LittleGolem", "file": "from a file"}
"""Words for the source of a record."""


def draw_game(records: Sequence[GameRecord], plies: int, rng: np.random.Generator, missing: str) -> GameRecord:
    """Return a random game of more than ``plies`` plies; if none is so long, the first of the longest games.

    Raises:
        ZugwerkError: no game has a turn; the message is ``missing``.
    """
    longest = max(records, key=lambda record: len(record.actions), default=None)
    if longest is None or not longest.actions:
        raise ZugwerkError(missing)
    long = [record for record in records if len(record.actions) > plies]
    return long[int(rng.integers(len(long)))] if long else longest


def within(plies: Iterable[int], record: GameRecord) -> list[int]:
    """Return the plies, limited to the last turn of a game, in order and without repeats."""
    return sorted({min(ply, len(record.actions) - 1) for ply in plies})


def between(records: Iterable[GameRecord], a: str, b: str) -> list[GameRecord]:
    """Return the games of two players, with either of them moving first."""
    return [record for record in records if {record.first_name, record.second_name} == {a, b}]


def check_name(key: str, name: str, mapping: str) -> None:
    """Check that a name that a key of ``report_positions`` has is one of a mapping in params.yaml.

    Raises:
        ZugwerkError: lists the names that there are.
    """
    known = at(read_tree(), mapping) or {}  # which names there are; one of them is read
    if name not in known:
        raise ZugwerkError(f"params.yaml: report_positions.{key}: no {name!r}; there are: {', '.join(known)}")


def check_model(path: Path, stage: str) -> Path:
    """Return the path of a model after a check that it exists.

    Raises:
        ZugwerkError: the file is missing.
    """
    if not path.is_file():
        raise ZugwerkError(f"{path}: no such model; `dvc repro {stage}` makes it")
    return path
