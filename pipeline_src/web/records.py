"""Archives of games that stay open, so that a game is found without reading all again, and limits of uploads."""

from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline_src.errors import ZugwerkError
from pipeline_src.records import files
from pipeline_src.records.record import GameRecord, read_table, record_of

if TYPE_CHECKING:
    import pyarrow as pa


OPEN = 4  # Number of archives kept in memory
MOST_BYTES = 512 << 20  # Largest size of an archive's file in bytes
MOST_GAMES, MOST_VALUES = 20_000, 4_000_000  # Limits of an uploaded archive: games, and values of all columns


def archive(path: Path) -> "pa.Table":
    """Return an archive as a table, sorted by ``gid``, read again if changed (`ZugwerkError`: missing or damaged)."""
    try:
        found = path.stat()
    except OSError:
        raise ZugwerkError(f"{path}: no such file") from None
    if found.st_size > MOST_BYTES:
        raise ZugwerkError(f"{path}: {found.st_size >> 20} MiB; pages open archives of up to {MOST_BYTES >> 20} MiB")
    return _table(path, found.st_mtime_ns, found.st_size)


@lru_cache(OPEN)
def _table(path: Path, *_stamp: int) -> "pa.Table":
    return read_table(path)


def game_of(path: Path, gid: int) -> GameRecord:
    """Return a game of an archive (`archive`); a `ZugwerkError` if it lacks the game, or the row is no record."""
    import pyarrow.compute as pc

    table = archive(path)
    row = pc.index(table["gid"], gid).as_py()
    if row < 0:
        raise ZugwerkError(f"{path.name}: no game {gid} there")
    return record_of(table.slice(row, 1).to_pylist()[0], path.name)


def read_games(data: bytes, name: str) -> files.Found:
    """Return the games of an uploaded file, see `records.files.read_games`.

    Raises:
        ZugwerkError: as there, or there are too many games.
    """
    if files.kind_of(data, name) == "archive":
        _check_size(data, name)
    found = files.read_games(data, name)
    if len(found.games) > MOST_GAMES:
        raise ZugwerkError(f"{name}: {len(found.games):,} games; a text may have {MOST_GAMES:,}: split it")
    return found


def _check_size(data: bytes, name: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        about = pq.read_metadata(BytesIO(data))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ZugwerkError(f"{name}: damaged, or not a Parquet file ({str(error).splitlines()[0]})") from None
    groups = [about.row_group(k) for k in range(about.num_row_groups)]
    values = sum(group.column(k).num_values for group in groups for k in range(group.num_columns))
    if about.num_rows > MOST_GAMES or values > MOST_VALUES:
        raise ZugwerkError(
            f"{name}: {about.num_rows:,} games; an uploaded archive may have {MOST_GAMES:,}: put it into a folder of "
            "the server (--folder) and open it there"
        )
