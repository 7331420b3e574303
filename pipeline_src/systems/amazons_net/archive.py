"""An archive of Amazons games as flat arrays, the form in which they are replayed."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.parquet import read_table
from pipeline_src.records.record import SOURCES

COLUMNS = ("game", "gid", "source", "variant", "height", "width", "actions", "winner")
NAMES = ("first_name", "second_name")


class Games(NamedTuple):
    """G games of one board size, sorted by gid; game g's actions are ``actions[offsets[g]:offsets[g + 1]]``."""

    gid: npt.NDArray[np.int64]
    """[G], ascending."""
    start: npt.NDArray[np.int8]
    """[G], which of the variants asked for the game starts from."""
    first_won: npt.NDArray[np.bool_]
    """[G], whether the side that moved first won."""
    teachers: npt.NDArray[np.bool_]
    """[G, 2], whether who moved first, and who moved second, is one of the players that are learnt from."""
    offsets: npt.NDArray[np.int64]
    """[G + 1]."""
    actions: npt.NDArray[np.int32]
    """All games' turns (from * N + to) * N + arrow, one after the other."""


class Archive(NamedTuple):
    """The games of an archive that a data set uses, and counts of the rest."""

    games: Games
    sources: dict[str, int]
    """Games used, by who played them."""
    skipped: dict[str, int]
    """Games of another board ``size``, and of another ``variant`` on this size."""


def read_games(path: Path | str, size: int, variants: Sequence[str], teachers: str = "") -> Archive:
    """Read the games of one board size and of some variants from an archive (`pipeline_src.records.parquet`).

    ``teachers`` is a regular expression that the names of the players to learn from match somewhere.

    Raises:
        ZugwerkError: the archive is unreadable, or has no usable game, or has an invalid one: a repeated gid, another
            game, an unknown source, no winner, or a draw, which the Amazons do not have; or no player is a teacher.
    """
    table = read_table(path).select([*COLUMNS, *NAMES])
    sized = (table["height"].to_numpy() == size) & (table["width"].to_numpy() == size)
    fits = sized & np.isin(_words(table, "variant"), variants)
    rows = np.flatnonzero(fits)
    used = table.take(rows[np.argsort(table["gid"].to_numpy()[rows], kind="stable")])
    _check(used, path)
    if not used.num_rows:
        wanted = f"{size}x{size} games of variant {' or '.join(variants)}"
        raise ZugwerkError(f"{path}: no {wanted} among {table.num_rows}; see amazons_samples in params.yaml")
    start, source = _words(used, "variant"), _words(used, "source")
    games = Games(
        gid=used["gid"].to_numpy(),
        start=np.array([variants.index(name) for name in start], np.int8),
        first_won=_words(used, "winner") == "first",
        teachers=_teachers(used, teachers, path),
        offsets=np.concatenate(([0], np.cumsum(pc.list_value_length(used["actions"]).to_numpy(), dtype=np.int64))),
        actions=pc.list_flatten(used["actions"]).to_numpy(),
    )
    skipped = {"size": int((~sized).sum()), "variant": int((sized & ~fits).sum())}
    return Archive(games, {name: int((source == name).sum()) for name in SOURCES}, skipped)


def _words(table: pa.Table, column: str) -> npt.NDArray[np.str_]:
    """A column of strings; an empty field reads 'None'."""
    return np.array(table[column].to_pylist(), dtype=np.str_)


def _teachers(used: pa.Table, teachers: str, path: Path | str) -> npt.NDArray[np.bool_]:
    names = np.stack([_words(used, column) for column in NAMES], axis=1)
    players, which = np.unique(names, return_inverse=True)
    found = np.array([re.search(teachers, name) is not None for name in players])
    if not found.any():
        raise ZugwerkError(
            f"{path}: no player's name matches '{teachers}', amazons_samples.teachers in params.yaml; there are "
            + ", ".join(players[:5])
        )
    return found[which].reshape(names.shape)


def _check(used: pa.Table, path: Path | str) -> None:
    gids = used["gid"].to_numpy()
    twice = gids[1:][gids[1:] == gids[:-1]]
    if twice.size:
        raise ZugwerkError(f"{path}: game {twice[0]} twice; gids must be unique within an archive")
    for column, known in (("game", ("amazons",)), ("source", SOURCES), ("winner", ("first", "second"))):
        words = _words(used, column)
        wrong = np.flatnonzero(~np.isin(words, known))
        if wrong.size:
            where = f"{path}: game {gids[wrong[0]]}: {column} '{words[wrong[0]]}'"
            raise ZugwerkError(f"{where}; samples need {' or '.join(known)}")
