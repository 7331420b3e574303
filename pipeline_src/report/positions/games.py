"""Which game of an archive is shown, and how a player of params is called."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.record import GameRecord

PLAYED_BY = {"engine": "played by engines", "littlegolem": "from LittleGolem", "file": "from a file"}
"""By a record's source."""


def draw_game(records: Sequence[GameRecord], plies: int, rng: np.random.Generator, missing: str) -> GameRecord:
    """One of the games that go on after so many plies, by lot; if none does, the first of the longest.

    Raises:
        ZugwerkError: there is no game with a turn; the message is ``missing``.
    """
    longest = max(records, key=lambda record: len(record.actions), default=None)
    if longest is None or not longest.actions:
        raise ZugwerkError(missing)
    long = [record for record in records if len(record.actions) > plies]
    return long[int(rng.integers(len(long)))] if long else longest


def within(plies: Iterable[int], record: GameRecord) -> list[int]:
    """The plies before which a game has a position with a turn: later ones become its last one."""
    return sorted({min(ply, len(record.actions) - 1) for ply in plies})


def between(records: Iterable[GameRecord], a: str, b: str) -> list[GameRecord]:
    """The games of two players, whoever began."""
    return [record for record in records if {record.first_name, record.second_name} == {a, b}]


def check_model(path: Path, stage: str) -> Path:
    """The file of a model that is there.

    Raises:
        ZugwerkError: it is not.
    """
    if not path.is_file():
        raise ZugwerkError(f"{path}: no such model; `dvc repro {stage}` makes it")
    return path
