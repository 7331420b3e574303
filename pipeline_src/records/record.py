"""`GameRecord`, one game as played, independent of its source format; archives of games, and files of rejects.

An archive is a Parquet file with zstd, sorted by gid. The same games give the same bytes. Its columns are the fields of
`GameRecord` by name: ``gid`` int64; ``height``, ``width`` int16; ``first_plid``, ``second_plid`` int64; ``actions``
list<int32>; ``resigned`` bool; ``winner`` string, null where unknown; the rest strings.

Texts that are not usable games have a reason: a `RecordError` while reading, a `Reject` on disk. Columns of a rejects
file: ``gid`` int64; ``ply`` int32, the turn at which reading stopped (0 is the first), or -1 if it stopped before the
turns; ``reason``, one of `REASONS`; ``detail``, a sentence for people.
"""

import dataclasses
import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import remedy, write_json, written_aside

if TYPE_CHECKING:
    import pyarrow as pa

Winner = Literal["first", "second", "draw"]
Source = Literal["littlegolem", "engine", "file"]

WINNERS: tuple[Winner, ...] = ("first", "second", "draw")
SOURCES: tuple[Source, ...] = ("littlegolem", "engine", "file")


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game from its first ply to its last.

    ``first`` is the side that moves first (White in the Amazons, Black in Gomoku and Go). Actions are the game's action
    ids, one for each ply (docs/glossary.md); the game's `format_move` and `parse_move` convert them to text and back.
    """

    game: str  # Name of the game, as `pipeline_src.games.game.get_game` knows it
    gid: int  # Number of the game at its source; unique within an archive
    source: Source  # Source of the game: people on the site, our engine, or a user's file
    variant: str  # Start position or rule set, e.g. `standard` or `cross`.
    height: int
    width: int
    actions: tuple[int, ...]  # Action ids, one for each ply, within int32
    winner: Winner | None  # The winner; None if unknown
    resigned: bool = False  # Whether the record ends in an explicit resignation
    first_name: str = ""
    second_name: str = ""
    first_plid: int = 0
    """The site's number of the player, 0 if unknown. This is the key, since names change and repeat."""
    second_plid: int = 0
    event: str = ""  # Tournament id, empty for a casual game


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


Reason = Literal[
    "http_status",  # the server answered with an error
    "empty",  # the body is empty
    "bad_text",  # a page or half a record; a move that cannot be read
    "ambiguous",  # a name imitates the format: several readings of the text are legal games, or none of several is
    "several_records",  # different games under one gid
    "other_game",
    "other_variant",
    "illegal_move",
    "contradiction",  # seats, record and final position do not agree
    "unfinished",  # nothing names a winner
    "too_short",
]
REJECTS_PER_GROUP = 1_000_000
REASONS: tuple[Reason, ...] = get_args(Reason)


class RecordError(ZugwerkError):
    """A record is not a usable game."""

    def __init__(self, reason: Reason, detail: str, ply: int = -1) -> None:
        super().__init__(f"{reason}: {detail}" if ply < 0 else f"{reason} at ply {ply}: {detail}")
        self.reason: Reason = reason
        self.detail = detail
        self.ply = ply


@dataclasses.dataclass(frozen=True, slots=True)
class Reject:
    """One row of a rejects file."""

    gid: int
    ply: int
    reason: Reason
    detail: str


def rejects_schema() -> "pa.Schema":
    """Return the Arrow schema of a rejects file."""
    import pyarrow as pa

    columns: dict[str, pa.DataType] = {
        "gid": pa.int64(),
        "ply": pa.int32(),
        "reason": pa.string(),
        "detail": pa.string(),
    }
    return pa.schema(columns)


@contextmanager
def open_rejects(path: Path | str) -> Iterator[Rows]:
    """Begin a file of the rejects that are added; it is sorted by gid, and replaces the file at the end."""
    with written_aside(path) as aside, closing(Rows(aside, rejects_schema(), REJECTS_PER_GROUP)) as rows:
        yield rows
        rows.finish()


class Read(Protocol):
    """A usable game."""

    @property
    def record(self) -> GameRecord:
        """The game."""


def sort_results(
    results: Iterable[Read | Reject],
    count: Callable[[], dict[str, Any]],
    source: Path | str,
    *,
    games: Path,
    rejects: Path,
    report: Path,
) -> None:
    """Write an archive of the games among some results, a file of the rejects, and a report.

    ``count`` returns the report after the last result; it has ``rows``, ``games`` and ``rejects_by_reason``. Messages
    name the ``source`` of the results.

    Raises:
        ZugwerkError: not one usable game, or two with the same gid; an archive that was there stays.
    """
    with open_records(games) as kept:
        with open_rejects(rejects) as left:
            for result in results:
                if isinstance(result, Reject):
                    left.add(result)
                else:
                    kept.add(result.record)
        found = count()
        write_json(report, found)
        if not found["games"]:
            reasons = ", ".join(f"{n} {reason}" for reason, n in found["rejects_by_reason"].items() if n)
            raise ZugwerkError(f"{source}: not one usable game among {found['rows']} ({reasons}); see {rejects}")


def shown(text: str) -> str:
    """Return the beginning of a text from outside, quoted, printable and short, for a ``detail``."""
    if len(text) <= 40 and len(ascii(text)) <= 82:
        return ascii(text)
    start = text[:37]
    while len(ascii(start)) > 79:  # a control character takes four letters, others up to ten
        start = start[:-1]
    return ascii(start + "...")


def whole_text(text: str) -> str:
    """Return a text that UTF-8 can encode: lone surrogates, which JSON escapes can contain, become ``?``."""
    return text.encode("utf-8", "replace").decode()
