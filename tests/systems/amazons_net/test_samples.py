"""Games to samples: reading, replaying, splitting, and the data set on disk."""

import dataclasses
import resource
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.games.amazons import AmazonsState, from_fen, parse_move
from pipeline_src.learning.arrays import MANIFEST, SPLITS, assign_games, sha256_of
from pipeline_src.learning.canonical import canonical_hashes
from pipeline_src.learning.symmetry import INDEX, square_maps
from pipeline_src.records import record as parquet
from pipeline_src.records.record import write_records
from pipeline_src.systems.amazons_net import build
from pipeline_src.systems.amazons_net.build import Archive, Games, Replayer, build_dataset, read_games
from pipeline_src.systems.amazons_net.samples import FIELDS, Samples, open_dataset
from tests.systems.amazons_net.positions import (
    GOLDEN_BOARD,
    GOLDEN_FEN,
    matrix,
    random_game,
    random_records,
    record,
    slow_canonical,
    slow_samples,
)


@pytest.fixture
def archive(tmp_path):
    def write(records):
        write_records(records, tmp_path / "games.parquet")
        return tmp_path / "games.parquet"

    return write


def test_games_are_the_records_flat_and_by_gid(archive):
    records = random_records(5, size=6)
    read = read_games(archive(records[::-1]), 6, ["standard"])
    games = read.games
    assert games.gid.tolist() == [r.gid for r in records]
    assert games.first_won.tolist() == [r.winner == "first" for r in records]
    assert set(games.first_won.tolist()) == {True, False}
    for g, game in enumerate(records):
        assert tuple(games.actions[games.offsets[g] : games.offsets[g + 1]].tolist()) == game.actions
    assert read.sources == {"littlegolem": 0, "engine": 5, "file": 0}
    assert read.skipped == {"size": 0, "variant": 0}


def test_teachers_are_players_matching_a_name_pattern(archive):
    names = [("lazy/alphabeta:nodes=3000", "one_ply"), ("uct", "ALPHABETA"), ("", "alphabeta:nodes=9")]
    named = [
        dataclasses.replace(r, first_name=a, second_name=b)
        for r, (a, b) in zip(random_records(3, size=6), names, strict=True)
    ]
    path = archive(named)
    assert read_games(path, 6, ["standard"], "alphabeta").games.teachers.tolist() == [[1, 0], [0, 0], [0, 1]]
    assert read_games(path, 6, ["standard"], "^alphabeta|uct").games.teachers.tolist() == [[0, 0], [1, 0], [0, 1]]
    assert read_games(path, 6, ["standard"]).games.teachers.all()
    with pytest.raises(ZugwerkError, match=r"no player's name matches 'zero', amazons_samples.teachers .* ALPHABETA"):
        read_games(path, 6, ["standard"], "zero")


def test_other_sizes_and_variants_are_skipped_and_counted(archive):
    rng = np.random.default_rng(3)
    cross = [record(gid, *random_game(rng, 10, "cross"), variant="cross") for gid in (1, 7)]
    standard = record(4, *random_game(rng), source="littlegolem")
    small = random_records(3, size=6)
    path = archive([*cross, standard, *small])
    read = read_games(path, 10, ["standard"])
    assert read.games.gid.tolist() == [4]
    assert read.skipped == {"size": 3, "variant": 2}
    assert read.sources == {"littlegolem": 1, "engine": 0, "file": 0}
    both = read_games(path, 10, ["standard", "cross"])
    assert both.games.gid.tolist() == [1, 4, 7]
    assert both.games.start.tolist() == [1, 0, 1]


def test_skipped_games_may_lack_a_winner_used_ones_may_not(archive):
    used, other = random_records(2, size=6)
    path = archive([used, dataclasses.replace(other, winner=None, variant="cross")])
    assert read_games(path, 6, ["standard"]).skipped["variant"] == 1
    for winner in (None, "draw"):
        path = archive([used, dataclasses.replace(other, winner=winner)])
        with pytest.raises(ZugwerkError, match=f"game {other.gid}: winner '{winner}'; samples need first or second"):
            read_games(path, 6, ["standard"])


def test_archives_that_cannot_be_used(archive, tmp_path):
    used = random_records(1, size=6)[0]
    with pytest.raises(ZugwerkError, match="game 100: game 'gomoku'"):
        read_games(archive([dataclasses.replace(used, game="gomoku")]), 6, ["standard"])
    with pytest.raises(ZugwerkError, match="no 8x8 games of variant standard among 1"):
        read_games(archive([used]), 8, ["standard"])
    with pytest.raises(ZugwerkError, match="no 6x6 games of variant standard among 0"):
        read_games(archive([]), 6, ["standard"])
    with pytest.raises(ZugwerkError, match="no such file"):
        read_games(tmp_path / "none.parquet", 6, ["standard"])


def test_a_gid_twice_is_refused(archive, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = archive(random_records(2, size=6))
    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table, table]), path)
    with pytest.raises(ZugwerkError, match="game 100 twice"):
        read_games(path, 6, ["standard"])


def replayer_of(records, path, size, variants=("standard",)):
    write_records(records, path)
    return Replayer(read_games(path, size, variants).games, size, variants)


def rows_of(samples):
    columns = [values.tolist() for values in samples]
    return [dict(zip(samples._fields, row, strict=True)) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("size", [6, 8, 10])
def test_equals_the_slow_reference_on_random_games(size, tmp_path):
    records = random_records(4, seed=size, size=size)
    samples, hashes = replayer_of(records, tmp_path / "g.parquet", size).replay(np.arange(4))
    expected = [sample for game in records for sample in slow_samples(game)]
    assert rows_of(samples) == expected
    assert hashes.tolist() == canonical_hashes(samples.board, samples.mover).tolist()


def test_each_game_starts_from_its_variant_in_any_order(tmp_path):
    rng = np.random.default_rng(9)
    variants = ("cross", "standard")
    records = [record(gid, *random_game(rng, 10, variants[gid % 2]), variant=variants[gid % 2]) for gid in range(4)]
    replayer = replayer_of(records, tmp_path / "g.parquet", 10, variants)
    samples, _ = replayer.replay(np.array([3, 0]))
    assert rows_of(samples) == slow_samples(records[3]) + slow_samples(records[0])


def test_arrays_are_as_the_schema_says(tmp_path):
    samples, _ = replayer_of(random_records(1), tmp_path / "g.parquet", 10).replay(np.arange(1))
    assert tuple(field.name.replace("from", "from_") for field in FIELDS) == Samples._fields
    for field, values in zip(FIELDS, samples, strict=True):
        assert values.dtype == field.dtype
        assert values.shape == (len(samples.board), *field.shape(10))


def test_the_patents_own_sample():
    action = parse_move("D9-E10/E5")
    games = Games(
        gid=np.array([1]),
        start=np.zeros(1, np.int8),
        first_won=np.array([False]),
        teachers=np.array([[True, False]]),
        offsets=np.array([0, 1]),
        actions=np.array([action], np.int32),
    )
    replayer = Replayer(games, 10, ["standard"])
    replayer.starts = AmazonsState(*(array[None] for array in from_fen(GOLDEN_FEN)))
    before, after = rows_of(replayer.replay(np.arange(1))[0])
    board = matrix(GOLDEN_BOARD) / 100
    assert before["board"] == board.tolist()
    assert (before["type"], before["from_"], before["to"], before["arrow"]) == (0, [3, 1], [4, 0], [-1, -1])
    board[1, 3], board[0, 4] = 1, 3
    assert after["board"] == board.tolist()
    assert (after["type"], after["from_"], after["to"], after["arrow"]) == (1, [-1, -1], [-1, -1], [4, 5])
    assert after["moved"] == [4, 0]
    assert before["result"] == after["result"] == 0  # White moved and lost


def test_an_illegal_turn_is_named(tmp_path):
    good, bad = random_records(2)
    actions = (*bad.actions[:2], bad.actions[0], *bad.actions[3:])
    records = [good, dataclasses.replace(bad, actions=actions)]
    replayer = replayer_of(records, tmp_path / "g.parquet", 10)
    with pytest.raises(ZugwerkError, match=rf"game {bad.gid}: turn 3, .+-.+/.+, is not legal"):
        replayer.replay(np.arange(2))
    assert len(replayer.replay(np.array([0]))[1]) == 2 * len(good.actions)


@pytest.mark.parametrize("action", [-1, -(2**31), 2**31 - 1, 10**6, 0])
def test_no_number_crashes_the_replay(action, tmp_path):
    replayer = replayer_of([record(1, (action,), "first")], tmp_path / "g.parquet", 10)
    with pytest.raises(ZugwerkError, match="game 1: turn 1"):
        replayer.replay(np.arange(1))


def test_a_game_without_turns_gives_no_samples(tmp_path):
    records = [record(1, (), "first"), *random_records(1, size=6)]
    records[0] = dataclasses.replace(records[0], height=6, width=6)
    samples, _ = replayer_of(records, tmp_path / "g.parquet", 6).replay(np.arange(2))
    assert set(samples.gid.tolist()) == {100}


HOW = {"size": 6, "variants": ("standard",), "shares": (7.0, 2.0, 1.0), "seed": 1}


def built(records, folder, **how):
    """A data set of records, by way of a file of them."""
    path = folder.with_suffix(".parquet")
    write_records(records, path)
    how = {**HOW, **how}
    return build_dataset(read_games(path, how["size"], how["variants"]), folder, **how)


def mirrored(game, gid):
    """The game as seen in a mirror: the start position of the file mirror is the start position."""
    goes, n = square_maps(game.width)[INDEX["mirror_files"]].astype(int), game.width**2
    parts = [(goes[a // n**2], goes[a // n % n], goes[a % n]) for a in game.actions]
    return record(gid, tuple(int((s * n + t) * n + r) for s, t, r in parts), game.winner, game.width)


def related_records(size=6):
    """Games that share positions: copies, mirror images, and games that part after some turns."""
    records, rng = random_records(24, seed=4, size=size), np.random.default_rng(5)
    gid = 1000
    for game in records[:12]:
        records.append(mirrored(game, gid))
        records.append(record(gid + 1, game.actions, game.winner, size))
        opening = mirrored(game, gid).actions[:4]
        records.append(record(gid + 2, *random_game(rng, size, opening=opening), size))
        gid += 3
    return records


@pytest.fixture(scope="module")
def related(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples") / "related"
    counts = built(related_records(), folder)
    return open_dataset(folder), counts


def canonical_of(dataset, name):
    rows = dataset.split(name)
    return [slow_canonical(b, m) for b, m in zip(dataset.samples.board[rows], dataset.samples.mover[rows], strict=True)]


def test_no_position_of_one_split_is_in_another(related):
    dataset, counts = related
    found = {name: set(canonical_of(dataset, name)) for name in SPLITS}
    for a in SPLITS:
        assert len(found[a]) == counts["splits"][a]["positions"]
        for b in SPLITS:
            assert a == b or not found[a] & found[b]
    assert counts["dropped"] > 100  # the games were made to share positions


def test_shared_position_goes_to_test_else_validation(related):
    dataset, counts = related
    games = {game.gid: slow_samples(game) for game in related_records()}
    gids = np.array(sorted(games))
    split_of = dict(
        zip(gids.tolist(), [SPLITS[s] for s in assign_games(gids, HOW["shares"], HOW["seed"])], strict=True)
    )
    where = {}
    for gid, samples in games.items():
        for s in samples:
            key = slow_canonical(np.array(s["board"], np.int8), s["mover"])
            s["key"] = key
            where.setdefault(key, set()).add(SPLITS.index(split_of[gid]))
    for name in SPLITS:
        mine = [s for gid in sorted(games) if split_of[gid] == name for s in games[gid]]
        expected = [s for s in mine if max(where[s["key"]]) == SPLITS.index(name)]
        rows = dataset.split(name)
        for field in Samples._fields:
            assert getattr(dataset.samples, field)[rows].tolist() == [s[field] for s in expected], field
        assert counts["splits"][name]["dropped"] == len(mine) - len(expected)


def test_rows_go_by_split_gid_ply_and_type(related):
    dataset, _ = related
    for name in SPLITS:
        rows = dataset.split(name)
        order = np.lexsort((dataset.samples.type[rows], dataset.samples.ply[rows], dataset.samples.gid[rows]))
        assert (order == np.arange(len(order))).all()


def test_manifest(related):
    dataset, counts = related
    manifest = dataset.manifest
    assert [entry["name"] for entry in manifest["schema"]] == [field.name for field in FIELDS]
    assert {e["patent"] for e in manifest["schema"]} == {"Board", "Type", "From", "To", "Arrow", "Result", None}
    assert manifest["seed"] == 1
    assert manifest["sources"] == {"engine": 60, "littlegolem": 0, "file": 0}
    assert manifest["games"] == counts["games"] == 60 == sum(s["games"] for s in manifest["splits"].values())
    assert [manifest["splits"][name]["games"] for name in SPLITS] == [42, 12, 6]
    assert len(dataset) == manifest["samples"] == counts["samples"]
    ends = [(manifest["splits"][name]["start"], manifest["splits"][name]["stop"]) for name in SPLITS]
    assert ends[0][0] == 0
    assert ends[0][1] == ends[1][0]
    assert ends[1][1] == ends[2][0]
    assert ends[2][1] == len(dataset)
    assert dataset.size == 6
    assert all(isinstance(array, np.memmap) and not array.flags.writeable for array in dataset.samples)


def test_same_bytes_whatever_the_order_of_records_and_the_portions(tmp_path, monkeypatch):
    records = related_records()
    counts = built(records, tmp_path / "a")
    monkeypatch.setattr(build, "GAMES_AT_ONCE", 7)
    assert built(records[::-1], tmp_path / "b") == counts
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == sorted([*(f"{field.name}.npy" for field in FIELDS), MANIFEST])
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_memory_does_not_grow_with_the_samples(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "GAMES_AT_ONCE", 8)
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 8)

    def peak(games):
        write_records(random_records(games, size=6), tmp_path / "games.parquet")
        tracemalloc.start()
        read = read_games(tmp_path / "games.parquet", 6, ["standard"])
        samples = build_dataset(read, tmp_path / "d", **HOW)["samples"]
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return samples, found

    peak(50)
    (few, before), (many, after) = peak(50), peak(450)
    assert after - before < 12 * (many - few)  # bytes; all hashes and their choice take 35


def test_another_seed_splits_otherwise(tmp_path):
    records = random_records(20, size=6)
    built(records, tmp_path / "a")
    built(records, tmp_path / "b", seed=2)
    a, b = open_dataset(tmp_path / "a"), open_dataset(tmp_path / "b")
    assert set(a.samples.gid[a.split("test")].tolist()) != set(b.samples.gid[b.split("test")].tolist())


def test_a_split_left_empty_is_an_error_and_leaves_nothing(tmp_path):
    game = random_records(1, size=6)[0]
    copies = [record(gid, game.actions, game.winner, 6) for gid in range(10)]
    with pytest.raises(ZugwerkError, match="split 'train' would be empty"):
        built(copies, tmp_path / "d")
    assert [path.name for path in tmp_path.iterdir()] == ["d.parquet"]


def test_full_disk_names_file_and_keeps_old_data_set(tmp_path):
    built(random_records(10, size=6), tmp_path / "d")
    before = (tmp_path / "d" / MANIFEST).read_bytes()
    archive = read_games(tmp_path / "d.parquet", 6, ["standard"])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(OSError, match=r"board\.npy"):
            build_dataset(archive, tmp_path / "d", **{**HOW, "seed": 3})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (tmp_path / "d" / MANIFEST).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "d.parquet"]


@pytest.fixture
def small(tmp_path):
    built(random_records(10, size=6), tmp_path / "d")
    return tmp_path / "d"


def test_the_manifest_has_the_hash_of_each_array(small):
    hashes = read_json(small / MANIFEST)["sha256"]
    assert hashes == {path.name: sha256_of(path) for path in small.glob("*.npy")}


def test_no_such_split(small):
    with pytest.raises(ZugwerkError, match="no split 'dev'; there are: train, validation, test"):
        open_dataset(small).split("dev")


def test_an_archive_counts_into_the_manifest(small, tmp_path):
    games = read_games(tmp_path / "d.parquet", 6, ["standard"]).games
    archive = Archive(games, {"engine": 4, "littlegolem": 6}, {"size": 2, "variant": 1})
    build_dataset(archive, tmp_path / "e", **HOW)
    manifest = open_dataset(tmp_path / "e").manifest
    assert manifest["skipped"] == {"size": 2, "variant": 1}
    assert manifest["sources"] == {"engine": 4, "littlegolem": 6}


SECTION = {"size": 6, "variants": ["standard"], "split": {"train": 7, "validation": 2, "test": 1}}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(**section):
        Path("params.yaml").write_text(yaml12.dump({"seed": 1, "amazons_samples": {**SECTION, **section}}))

    write()
    return write


def test_records_to_data_set_and_report(project):
    write_records(random_records(12, size=6), build.GAMES)
    build.main()
    dataset, report = open_dataset(build.OUT), read_json(build.REPORT)
    assert report["samples"] == len(dataset)
    assert report["games"] == 12
    assert report["splits"]["train"] == {
        "games": 8,
        **{key: dataset.manifest["splits"]["train"][key] for key in ("samples", "dropped", "positions")},
    }
    assert report["sources"]["engine"] == 12


def test_the_teachers_turns_are_marked(project):
    project(teachers="^master")
    games = [
        dataclasses.replace(game, first_name="a master", second_name="master") for game in random_records(12, size=6)
    ]
    write_records(games, build.GAMES)
    build.main()
    dataset = open_dataset(build.OUT)
    assert dataset.samples.teacher.tolist() == (np.asarray(dataset.samples.ply) % 2).tolist()
