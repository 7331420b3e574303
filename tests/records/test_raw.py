import dataclasses
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.raw import RawGame, Seat, list_shards, read_raw, shard_name, write_raw

GAMES = [
    RawGame(3, "/servlet/sgf/3/game3.txt", 200, b"(;\xe9\x00)", "Size 10", False, (Seat(1, "a ★", "won"),), True),
    RawGame(9_999, "/p", 500, b"", "", False, (), False),
    RawGame(10_000, "/p", 200, b"x", "CROSS", True, (Seat(9, "b", ""), Seat(2, "c", "lost")), False),
    RawGame(3_000_000_000, "/p", 0, b"y", "Cross", False, (), False),
]


def contents(folder):
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}


def test_round_trip_by_gid(tmp_path):
    assert write_raw(tmp_path, GAMES[::-1]) == 4
    assert list(read_raw(tmp_path)) == GAMES
    assert [p.name for p in list_shards(tmp_path)] == [
        "games-000000000.parquet",
        "games-000010000.parquet",
        "games-3000000000.parquet",
    ]


def test_same_games_same_bytes(tmp_path):
    many = [dataclasses.replace(GAMES[0], gid=gid, path=f"/{gid}") for gid in range(3_000)]
    write_raw(tmp_path / "a", many)
    random.Random(1).shuffle(many)
    write_raw(tmp_path / "b", many)
    name = shard_name(0)
    assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_only_changed_shards_are_written(tmp_path):
    write_raw(tmp_path, GAMES)
    before = contents(tmp_path)
    write_raw(tmp_path, GAMES)
    assert contents(tmp_path) == before
    write_raw(tmp_path, [*GAMES[:3], dataclasses.replace(GAMES[3], body=b"z")])
    after = contents(tmp_path)
    assert {name for name in before if before[name] != after[name]} == {shard_name(3_000_000_000)}


def test_shards_without_games_and_leftovers_go(tmp_path):
    write_raw(tmp_path, GAMES)
    (tmp_path / f".{shard_name(0)}.123.part").write_bytes(b"half")
    write_raw(tmp_path, GAMES[:2])
    assert [path.name for path in tmp_path.iterdir()] == [shard_name(0)]


def test_no_gid_twice(tmp_path):
    with pytest.raises(ZugwerkError, match="game 3 twice"):
        write_raw(tmp_path, [GAMES[0], GAMES[0]])
    assert list_shards(tmp_path) == []


def test_finished():
    assert [game.finished for game in GAMES] == [True, False, True, False]


def test_empty_folder(tmp_path):
    with pytest.raises(ZugwerkError, match="amazons_crawl"):
        list(read_raw(tmp_path / "none"))


def damaged(change):
    """A test's name for a way to damage the first shard, and the way."""
    return pytest.param(change, id=change.__name__)


def cut(path):
    path.write_bytes(path.read_bytes()[:-20])


def empty(path):
    path.write_bytes(b"")


def renamed_column(path):
    pq.write_table(pq.ParquetFile(path).read().rename_columns({"gid": "id"}), path)


def text_for_numbers(path):
    table = pq.ParquetFile(path).read()
    pq.write_table(table.set_column(0, "gid", pa.array(["x"] * len(table))), path)


def twice(path):
    table = pq.ParquetFile(path).read()
    pq.write_table(pa.concat_tables([table, table]), path)


def null(path):
    table = pq.ParquetFile(path).read()
    pq.write_table(table.set_column(3, "body", pa.array([None] * len(table), pa.binary())), path)


def unknown_result(path):
    write_raw(path.parent, [dataclasses.replace(GAMES[0], seats=(Seat(1, "a", "lucky"),)), *GAMES[1:]])


def wrong_name(path):
    path.rename(path.with_name(shard_name(20_000)))


@pytest.mark.parametrize(
    "change",
    [damaged(f) for f in (cut, empty, renamed_column, text_for_numbers, twice, null, unknown_result, wrong_name)],
)
def test_a_damaged_shard_is_named(tmp_path, change):
    write_raw(tmp_path, GAMES)
    change(tmp_path / shard_name(0))
    with pytest.raises(ZugwerkError, match=r"games-\d+\.parquet: damaged shard"):
        list(read_raw(tmp_path))
