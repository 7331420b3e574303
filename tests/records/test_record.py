import dataclasses
import random
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.records import record as parquet
from pipeline_src.records.raw import RawGame, Seat, list_shards, read_raw, shard_name, write_raw
from pipeline_src.records.record import (
    SOURCES,
    WINNERS,
    GameRecord,
    Reject,
    each_record,
    open_rejects,
    read_records,
    schema,
    write_records,
)
from tests.records.amazons_games import random_game, record_of

texts = st.text(st.characters(codec="utf-8"), max_size=12)
int64 = st.integers(-(2**63), 2**63 - 1)
int16 = st.integers(1, 2**15 - 1)
records = st.builds(
    GameRecord,
    game=texts,
    gid=int64,
    source=st.sampled_from(SOURCES),
    variant=texts,
    height=int16,
    width=int16,
    actions=st.lists(st.integers(-(2**31), 2**31 - 1), max_size=20).map(tuple),
    winner=st.sampled_from((*WINNERS, None)),
    resigned=st.booleans(),
    first_name=texts,
    second_name=texts,
    first_plid=int64,
    second_plid=int64,
    event=texts,
)


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "games.parquet"
    write_records([record_of(random_game(gid)[0], gid=gid, first_name="J\xf6rg") for gid in range(6)], path)
    return path


@given(st.lists(records, max_size=8, unique_by=lambda record: record.gid), st.randoms(use_true_random=False))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_round_trip_sorted_and_the_same_bytes_in_any_order(tmp_path, games, rng):
    path = tmp_path / "games.parquet"
    assert write_records(games, path) == len(games)
    assert read_records(path) == sorted(games, key=lambda record: record.gid)
    first = path.read_bytes()
    write_records(rng.sample(games, len(games)), path)
    assert path.read_bytes() == first


def many(count):
    """Games of a hundred plies, one at a time."""
    return (record_of(tuple(range(gid, gid + 100)), gid=gid) for gid in range(count))


def test_groups_written_as_games_come_are_those_of_one_table(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 40)
    monkeypatch.setattr(parquet, "ROWS_AT_ONCE", 10)
    games = list(many(95))
    table = pa.table({name: [getattr(game, name) for game in games] for name in schema().names}, schema())
    pq.write_table(table, tmp_path / "whole", compression="zstd", row_group_size=40, write_page_checksum=True)
    assert write_records(games, tmp_path / "a") == write_records(games[::-1], tmp_path / "b") == 95
    assert pq.ParquetFile(tmp_path / "a").num_row_groups == 3
    assert {(tmp_path / name).read_bytes() for name in "ab"} == {(tmp_path / "whole").read_bytes()}
    assert list(each_record(tmp_path / "b")) == games


def test_memory_does_not_grow_with_the_games(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 200)
    monkeypatch.setattr(parquet, "ROWS_AT_ONCE", 100)

    def peak(count):
        tracemalloc.start()
        write_records(many(count), tmp_path / "a")
        assert sum(1 for _ in each_record(tmp_path / "a")) == count
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(500)
    assert peak(2_000) - peak(500) < 1_500 * 100  # bytes; the games alone take more than 1,000 each


def test_two_games_of_one_gid_leave_the_old_archive(archive):
    before = archive.read_bytes()
    with pytest.raises(ZugwerkError, match="game 3 twice"):
        write_records([record_of((), gid=3), record_of((1,), gid=3)], archive)
    assert archive.read_bytes() == before
    assert [path.name for path in archive.parent.iterdir()] == ["games.parquet"]


def rewritten(path, change):
    """Rewrite an archive's rows through ``change``, with whatever columns come out."""
    pq.write_table(pa.Table.from_pylist([change(row) for row in pq.ParquetFile(path).read().to_pylist()]), path)


def test_more_columns_do_no_harm(archive):
    before = read_records(archive)
    rewritten(archive, lambda row: {"more": 1, **row})
    assert read_records(archive) == before


def test_rejects_are_sorted_and_reproducible(tmp_path):
    rows = [Reject(9, -1, "empty", "nothing in the body"), Reject(2, 14, "illegal_move", "a1-a2/a3")]
    path = tmp_path / "rejects.parquet"

    def written(rows):
        with open_rejects(path) as file:
            for row in rows:
                file.add(row)
        return path.read_bytes()

    first = written(rows)
    table = pq.ParquetFile(path).read()
    assert table.to_pylist() == [dataclasses.asdict(rows[1]), dataclasses.asdict(rows[0])]
    assert [str(kind) for kind in table.schema.types] == ["int64", "int32", "string", "string"]
    assert written(rows[::-1]) == first
    written([])
    assert pq.ParquetFile(path).metadata.num_rows == 0


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
