"""Raw shards: the unchanged answers of a crawled site, one row for each game.

A folder holds ``games-<first gid of the range>.parquet`` files (zstd, rows sorted by gid), one for each range of
`SHARD_GIDS` game ids that contains a game. The same games give the same bytes, in any order of arrival. Columns:

| column | type | meaning |
| --- | --- | --- |
| gid | int64 | the site's number of the game |
| path | string | of the record, relative to the site's base URL |
| status | int16 | HTTP status of the record's answer; 0: it comes from a user's file; -1: no answer came |
| body | binary | the record as sent, bytes untouched |
| variant | string | variant in the site's own words (``Size 10``, ``Cross``, ``DEFAULT``), empty where unknown |
| order_known | bool | the site said who moves first, and seats[0] is that player; otherwise seats are ordered by plid |
| seats | list<struct<plid int64, name string, result string>> | what lists or API said of each player that was seen |
| engine | bool | played by an engine of ours, not by people |
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside

if TYPE_CHECKING:
    import pyarrow as pa

Result = Literal["won", "lost", "draw", ""]

RESULTS: tuple[Result, ...] = ("won", "lost", "draw", "")
SHARD_GIDS = 10_000
ROWS_PER_GROUP = 2_000


@dataclass(frozen=True, slots=True)
class Seat:
    """One player of one game, as a list or the API described it."""

    plid: int  # The site's number of the player, 0 where unknown
    name: str  # The name that the site shows. It is not a key, since names change and repeat.
    result: Result  # This player's result; empty for an unfinished game or if the site did not state it


@dataclass(frozen=True, slots=True)
class RawGame:
    """One game as the site sent it; the fields are the columns of this module's table."""

    gid: int
    path: str
    status: int
    body: bytes
    variant: str = ""
    order_known: bool = False
    seats: tuple[Seat, ...] = ()
    engine: bool = False

    @property
    def finished(self) -> bool:
        """Whether the site stated the result of the game."""
        return any(seat.result for seat in self.seats)


def schema() -> "pa.Schema":
    """Return the Arrow schema of a shard."""
    import pyarrow as pa

    seat = pa.struct([("plid", pa.int64()), ("name", pa.string()), ("result", pa.string())])
    columns: dict[str, pa.DataType] = {
        "gid": pa.int64(),
        "path": pa.string(),
        "status": pa.int16(),
        "body": pa.binary(),
        "variant": pa.string(),
        "order_known": pa.bool_(),
        "seats": pa.list_(seat),
        "engine": pa.bool_(),
    }
    return pa.schema(columns)


def shard_name(gid: int) -> str:
    """Return the file name of the shard that holds game ``gid``."""
    return f"games-{gid // SHARD_GIDS * SHARD_GIDS:09d}.parquet"


def list_shards(folder: Path | str) -> list[Path]:
    """Return the shards of a folder, by gid; empty if the folder does not exist."""
    return sorted(Path(folder).glob("games-*.parquet"), key=lambda p: (len(p.name), p.name))


def read_raw(folder: Path | str) -> Iterator[RawGame]:
    """Read every game of a folder of shards, by gid.

    Raises:
        ZugwerkError: the folder has no shards, or a shard is damaged: not Parquet, wrong columns, a misplaced or
            repeated gid, an unknown result. The message names the file.
    """
    shards = list_shards(folder)
    if not shards:
        raise ZugwerkError(f"{folder}: no crawled games there; `dvc repro amazons_crawl` fetches them")
    for shard in shards:
        yield from read_shard(shard)


def read_shard(path: Path) -> Iterator[RawGame]:
    """Read the games of one shard, by gid.

    Raises:
        ZugwerkError: as `read_raw`.
    """
    last = -1
    for row in _read_rows(path):
        gid = row["gid"]
        if gid is None or gid <= last or shard_name(gid) != path.name:
            raise _damaged(path, f"game {gid} is out of place")
        last = gid
        yield _game(row, path)


def write_raw(folder: Path | str, games: Iterable[RawGame]) -> int:
    """Make ``folder`` hold exactly ``games``; return their number.

    Each shard is replaced as a whole. A shard that would not change is left alone. A shard without games, and temporary
    files of a killed run, are removed.

    Raises:
        ZugwerkError: two games have the same gid.
    """
    home = Path(folder)
    by_shard: dict[str, list[RawGame]] = {}
    for game in sorted(games, key=lambda g: g.gid):
        rows = by_shard.setdefault(shard_name(game.gid), [])
        if rows and rows[-1].gid == game.gid:
            raise ZugwerkError(f"{folder}: game {game.gid} twice; gids must be unique within a crawl")
        rows.append(game)
    home.mkdir(parents=True, exist_ok=True)
    for left in home.glob(".games-*.part"):
        left.unlink()
    for name, rows in by_shard.items():
        _write_shard(home / name, rows)
    for shard in list_shards(home):
        if shard.name not in by_shard:
            shard.unlink()
    return sum(map(len, by_shard.values()))


def _write_shard(path: Path, games: list[RawGame]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, list[Any]] = {name: [getattr(g, name) for g in games] for name in schema().names}
    columns["seats"] = [[{"plid": s.plid, "name": s.name, "result": s.result} for s in g.seats] for g in games]
    sink = pa.BufferOutputStream()
    table = pa.table(columns, schema())
    pq.write_table(table, sink, compression="zstd", row_group_size=ROWS_PER_GROUP, write_page_checksum=True)
    data = sink.getvalue().to_pybytes()
    if path.is_file() and path.read_bytes() == data:
        return
    with written_aside(path) as aside:
        aside.write_bytes(data)


def _read_rows(path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read()
        names = set(table.column_names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(path, str(error).split("\n", maxsplit=1)[0]) from None
    for name in schema().names:
        if name not in names:
            raise _damaged(path, f"column {name!r} is missing")
    try:
        rows: list[dict[str, Any]] = table.select(schema().names).cast(schema()).to_pylist()
    except (pa.ArrowException, ValueError) as error:
        raise _damaged(path, f"a column has the wrong type: {error}") from None
    return rows


def _game(row: dict[str, Any], path: Path) -> RawGame:
    found = row["seats"] or []
    if None in row.values() or any(seat is None or None in seat.values() for seat in found):
        raise _damaged(path, f"game {row['gid']} has an empty field")
    seats = tuple(Seat(**seat) for seat in found)
    if any(seat.result not in RESULTS for seat in seats):
        raise _damaged(path, f"game {row['gid']} has a result that is none of won, lost, draw")
    return RawGame(**{**row, "seats": seats})


def _damaged(path: Path, what: str) -> ZugwerkError:
    return ZugwerkError(
        f"{path}: damaged shard ({what}); restore it with `dvc checkout`, or remove it and run again what wrote it: "
        "`dvc repro -f -s amazons_crawl`, or `zugwerk crawl`, which fetches its games again"
    )
