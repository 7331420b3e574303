"""Archives of records that stay open, so that one of ten thousand games is found without reading all of them again."""

import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.parquet import read_table, record_of
from pipeline_src.records.record import GameRecord

if TYPE_CHECKING:
    import pyarrow as pa

OPEN = 4
"""Number of archives kept in memory."""
MOST_BYTES = 512 << 20
"""Largest size of an archive's file in bytes."""

_LOCK = threading.Lock()
_TABLES: "OrderedDict[tuple[Path, int, int], pa.Table]" = OrderedDict()


def archive(path: Path) -> "pa.Table":
    """Return an archive as an Arrow table, sorted by ``gid``. A changed file is read again.

    Raises:
        ZugwerkError: the file is missing, too large or damaged, or no archive of records.
    """
    try:
        found = path.stat()
    except OSError:
        raise ZugwerkError(f"{path}: no such file") from None
    if found.st_size > MOST_BYTES:
        raise ZugwerkError(f"{path}: {found.st_size >> 20} MiB; pages open archives of up to {MOST_BYTES >> 20} MiB")
    key = (path, found.st_mtime_ns, found.st_size)
    with _LOCK:
        if key not in _TABLES:
            _TABLES[key] = read_table(path)
            while len(_TABLES) > OPEN:
                _TABLES.popitem(last=False)
        _TABLES.move_to_end(key)
        return _TABLES[key]


def game_of(path: Path, gid: int) -> GameRecord:
    """Return a game of an archive.

    Raises:
        ZugwerkError: as `archive`, the archive lacks the game, or the row is not a valid record.
    """
    import pyarrow.compute as pc

    table = archive(path)
    row = pc.index(table["gid"], gid).as_py()
    if row < 0:
        raise ZugwerkError(f"{path.name}: no game {gid} there")
    return record_of(table.slice(row, 1).to_pylist()[0], path.name)
