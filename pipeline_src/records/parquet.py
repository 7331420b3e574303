"""Archives of `GameRecord`: Parquet files with zstd, sorted by gid. The same games give the same bytes.

Columns are `GameRecord`'s fields by name: ``gid`` int64; ``height``, ``width`` int16; ``first_plid``, ``second_plid``
int64; ``actions`` list<int32>; ``resigned`` bool; ``winner`` string, null where unknown; the rest strings.
"""

import dataclasses
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import remedy, written_aside
from pipeline_src.records.record import SOURCES, WINNERS, GameRecord

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_GROUP = 5_000


def schema() -> "pa.Schema":
    """Return the Arrow schema of an archive."""
    import pyarrow as pa

    special = {
        "gid": pa.int64(),
        "height": pa.int16(),
        "width": pa.int16(),
        "first_plid": pa.int64(),
        "second_plid": pa.int64(),
        "actions": pa.list_(pa.int32()),
        "resigned": pa.bool_(),
    }
    return pa.schema([(f.name, special.get(f.name, pa.string())) for f in dataclasses.fields(GameRecord)])


def write_records(records: Iterable[GameRecord], path: Path | str) -> int:
    """Write records as one Parquet file, sorted by gid; return their number. The file is replaced as a whole.

    Raises:
        ZugwerkError: two records have the same gid.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = sorted(records, key=lambda r: r.gid)
    for before, after in itertools.pairwise(rows):
        if before.gid == after.gid:
            raise ZugwerkError(f"{path}: game {after.gid} twice; gids must be unique within an archive")
    columns = {name: [getattr(r, name) for r in rows] for name in schema().names}
    table = pa.table(columns, schema())
    with written_aside(path) as aside:
        pq.write_table(table, aside, compression="zstd", row_group_size=ROWS_PER_GROUP, write_page_checksum=True)
    return len(rows)


def read_table(path: Path | str) -> "pa.Table":
    """Read an archive as an Arrow table and check its columns and checksums.

    Raises:
        ZugwerkError: the file is missing, damaged or not Parquet, its columns differ from `schema`, or a field is
            empty.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read()
        missing = [name for name in schema().names if name not in table.column_names]
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file{remedy(path, '`dvc repro` makes it')}") from None
    except PermissionError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        again = remedy(path, "remove it, `dvc repro` makes it")
        raise ZugwerkError(f"{path}: damaged, or not a Parquet file ({reason}){again}") from None
    if missing:
        raise ZugwerkError(f"{path}: not an archive of game records: column {missing[0]!r} is missing")
    try:
        table = table.select(schema().names).cast(schema())
        table.validate(full=True)
    except (pa.ArrowException, ValueError) as error:
        raise ZugwerkError(f"{path}: a column has the wrong type ({error})") from None
    _check_filled(table, path)
    return table


def _check_filled(table: "pa.Table", path: Path | str) -> None:
    import pyarrow.compute as pc

    nulls = {name: table[name].null_count for name in table.column_names if name != "winner"}
    nulls["actions"] += pc.list_flatten(table["actions"]).null_count
    for name, count in nulls.items():
        if count:
            raise ZugwerkError(f"{path}: not an archive of game records: {count} empty fields in column {name!r}")


def read_records(path: Path | str) -> list[GameRecord]:
    """Read all records of an archive, in the order of their gids.

    >>> from pipeline_src.records import GameRecord, read_records, write_records
    >>> write_records([GameRecord("go", 7, "file", "standard", 19, 19, (72, 288), None)], "games.parquet")
    1
    >>> [record.gid for record in read_records("games.parquet")]
    [7]

    Raises:
        ZugwerkError: as `read_table`, or a winner or source is not one of the known words.
    """
    return [_record(row, path) for row in read_table(path).to_pylist()]


def _record(row: dict[str, Any], path: Path | str) -> GameRecord:
    if row["winner"] not in (*WINNERS, None) or row["source"] not in SOURCES:
        raise ZugwerkError(f"{path}: game {row['gid']}: winner {row['winner']!r} or source {row['source']!r} unknown")
    return GameRecord(**{**row, "actions": tuple(row["actions"])})
