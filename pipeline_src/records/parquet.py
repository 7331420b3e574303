"""Archives of `GameRecord`: Parquet files with zstd, sorted by gid. The same games give the same bytes.

Columns are `GameRecord`'s fields by name: ``gid`` int64; ``height``, ``width`` int16; ``first_plid``, ``second_plid``
int64; ``actions`` list<int32>; ``resigned`` bool; ``winner`` string, null where unknown; the rest strings.
"""

import dataclasses
import itertools
from array import array
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import remedy, written_aside
from pipeline_src.records.record import SOURCES, WINNERS, GameRecord

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_GROUP = 5_000
ROWS_AT_ONCE = 1_000  # Rows that are objects at a time; a group is a multiple of it


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


class Rows:
    """Rows of a Parquet file with a column ``gid``, written as they come."""

    def __init__(self, path: Path, columns: "pa.Schema", group: int, **how: Any) -> None:
        """Begin a file with row groups of this size; ``how`` are options of pyarrow's writer."""
        import pyarrow.parquet as pq

        self.gids = array("q")
        self._path, self._columns, self._group, self._how = path, columns, group, {"compression": "zstd", **how}
        self._rows: list[Any] = []
        self._tables: list[pa.Table] = []
        self._file = pq.ParquetWriter(path, columns, **self._how)

    def add(self, row: Any) -> None:
        """Write a row, an object with the columns as attributes."""
        self.gids.append(row.gid)
        self._rows.append(row)
        if len(self._rows) == ROWS_AT_ONCE:
            self._pack()
        if sum(map(len, self._tables)) >= self._group:
            self._write()

    def _pack(self) -> None:
        import pyarrow as pa

        columns = {name: [getattr(row, name) for row in self._rows] for name in self._columns.names}
        self._tables.append(pa.table(columns, self._columns))
        self._rows.clear()

    def _write(self) -> None:
        import pyarrow as pa

        self._file.write_table(pa.concat_tables(self._tables).combine_chunks())
        self._tables.clear()

    def finish(self) -> None:
        """Write the remaining rows. Rows that did not come by gid are sorted, in memory."""
        import numpy as np
        import pyarrow.parquet as pq

        if self._rows or not self.gids:
            self._pack()
        if self._tables:
            self._write()
        self._file.close()
        gids = np.array(self.gids)
        if (gids[1:] < gids[:-1]).any():
            order = np.argsort(gids, kind="stable")
            table = pq.ParquetFile(self._path).read().take(order).cast(self._columns)
            pq.write_table(table, self._path, row_group_size=self._group, **self._how)
            self.gids = array("q", gids[order].tobytes())

    def close(self) -> None:
        """Release the file; a file that was not finished is damaged."""
        self._file.close()


@contextmanager
def open_records(path: Path | str) -> Iterator[Rows]:
    """Begin an archive of the records that are added; it is sorted by gid, and replaces the file at the end.

    Raises:
        ZugwerkError: two records have the same gid.
    """
    with written_aside(path) as aside:
        rows = Rows(aside, schema(), ROWS_PER_GROUP, write_page_checksum=True)
        with closing(rows):
            yield rows
            rows.finish()
        for before, after in itertools.pairwise(rows.gids):
            if before == after:
                raise ZugwerkError(f"{path}: game {after} twice; gids must be unique within an archive")


def write_records(records: Iterable[GameRecord], path: Path | str) -> int:
    """Write records as one Parquet file, sorted by gid; return their number. The file is replaced as a whole.

    Raises:
        ZugwerkError: two records have the same gid.
    """
    with open_records(path) as rows:
        for record in records:
            rows.add(record)
    return len(rows.gids)


def read_batches(path: Path | str) -> Iterator["pa.Table"]:
    """Read an archive some games at a time, the first time none, and check its columns and checksums on the way.

    Raises:
        ZugwerkError: the file is missing, damaged or not Parquet, its columns differ from `schema`, or a field is
            empty.
    """
    import pyarrow as pa

    for part in _parts(path):
        missing = [name for name in schema().names if name not in part.column_names]
        if missing:
            raise ZugwerkError(f"{path}: not an archive of game records: column {missing[0]!r} is missing")
        try:
            table = part.select(schema().names).cast(schema())
            table.validate(full=True)
        except (pa.ArrowException, ValueError) as error:
            raise ZugwerkError(f"{path}: a column has the wrong type ({error})") from None
        _check_filled(table, path)
        yield table


def _parts(path: Path | str) -> Iterator["pa.Table"]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            yield file.schema_arrow.empty_table()
            yield from (pa.Table.from_batches([batch]) for batch in file.iter_batches(ROWS_PER_GROUP))
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file{remedy(path, '`dvc repro` makes it')}") from None
    except PermissionError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        again = remedy(path, "remove it, `dvc repro` makes it")
        raise ZugwerkError(f"{path}: damaged, or not a Parquet file ({reason}){again}") from None


def read_table(path: Path | str) -> "pa.Table":
    """Read an archive as an Arrow table.

    Raises:
        ZugwerkError: as `read_batches`.
    """
    import pyarrow as pa

    return pa.concat_tables(read_batches(path))


def _check_filled(table: "pa.Table", path: Path | str) -> None:
    import pyarrow.compute as pc

    nulls = {name: table[name].null_count for name in table.column_names if name != "winner"}
    nulls["actions"] += pc.list_flatten(table["actions"]).null_count
    for name, count in nulls.items():
        if count:
            raise ZugwerkError(f"{path}: not an archive of game records: {count} empty fields in column {name!r}")


def each_record(path: Path | str) -> Iterator[GameRecord]:
    """Read an archive as `read_records` does, some records at a time."""
    for table in read_batches(path):
        yield from (record_of(row, path) for row in table.to_pylist())


def read_records(path: Path | str) -> list[GameRecord]:
    """Read all records of an archive, in the order of their gids.

    >>> from pipeline_src.records import GameRecord, read_records, write_records
    >>> write_records([GameRecord("go", 7, "file", "standard", 19, 19, (72, 288), None)], "games.parquet")
    1
    >>> [record.gid for record in read_records("games.parquet")]
    [7]

    Raises:
        ZugwerkError: as `read_batches`, or a winner or source is not one of the known words.
    """
    return list(each_record(path))


def record_of(row: dict[str, Any], path: Path | str) -> GameRecord:
    """Return a row of an archive as a record.

    Raises:
        ZugwerkError: a winner or source is not one of the known words; names ``path``.
    """
    if row["winner"] not in (*WINNERS, None) or row["source"] not in SOURCES:
        raise ZugwerkError(f"{path}: game {row['gid']}: winner {row['winner']!r} or source {row['source']!r} unknown")
    return GameRecord(**{**row, "actions": tuple(row["actions"])})
