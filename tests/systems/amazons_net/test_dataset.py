import hashlib
import json
import resource

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json
from pipeline_src.games.amazons.board import COLOUR
from pipeline_src.learning.split import SPLITS, assign_games
from pipeline_src.learning.symmetry import INDEX, square_maps
from pipeline_src.records.parquet import write_records
from pipeline_src.systems.amazons_net import build
from pipeline_src.systems.amazons_net.archive import Archive, read_games
from pipeline_src.systems.amazons_net.build import build_dataset
from pipeline_src.systems.amazons_net.dataset import MANIFEST, open_dataset
from pipeline_src.systems.amazons_net.schema import FIELDS, Samples
from tests.systems.amazons_net.positions import random_game, random_records, record, slow_canonical, slow_samples

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
    return open_dataset(folder, check_hashes=True), counts


def canonical_of(dataset, name):
    rows = dataset.split(name)
    return [slow_canonical(b, m) for b, m in zip(dataset.board[rows], dataset.mover[rows], strict=True)]


def test_no_position_of_one_split_is_in_another(related):
    dataset, counts = related
    found = {name: set(canonical_of(dataset, name)) for name in SPLITS}
    for a in SPLITS:
        assert len(found[a]) == counts["splits"][a]["positions"]
        for b in SPLITS:
            assert a == b or not found[a] & found[b]
    assert counts["dropped"] > 100  # the games were made to share positions


def test_a_shared_position_stays_in_test_else_in_validation_and_each_time(related):
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
            assert getattr(dataset, field)[rows].tolist() == [s[field] for s in expected], field
        assert counts["splits"][name]["dropped"] == len(mine) - len(expected)


def test_rows_go_by_split_gid_ply_and_type(related):
    dataset, _ = related
    for name in SPLITS:
        rows = dataset.split(name)
        order = np.lexsort((dataset.type[rows], dataset.ply[rows], dataset.gid[rows]))
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


def test_arrays_are_mapped_not_read_and_cannot_be_changed(related):
    dataset, _ = related
    for name in Samples._fields:
        array = getattr(dataset, name)
        assert isinstance(array, np.memmap)
        assert not array.flags.writeable
    assert set(dataset.mover.tolist()) == set(COLOUR)


def test_same_bytes_whatever_the_order_of_records_and_the_portions(tmp_path, monkeypatch):
    records = related_records()
    counts = built(records, tmp_path / "a")
    monkeypatch.setattr(build, "GAMES_AT_ONCE", 7)
    assert built(records[::-1], tmp_path / "b") == counts
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == sorted([*(f"{field.name}.npy" for field in FIELDS), MANIFEST])
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_hashes_are_those_of_the_files(related, tmp_path):
    built(random_records(10, size=6), tmp_path / "d")
    for name, expected in read_json(tmp_path / "d" / MANIFEST)["sha256"].items():
        assert hashlib.sha256((tmp_path / "d" / name).read_bytes()).hexdigest() == expected


def test_another_seed_splits_otherwise(tmp_path):
    records = random_records(20, size=6)
    built(records, tmp_path / "a")
    built(records, tmp_path / "b", seed=2)
    a, b = open_dataset(tmp_path / "a"), open_dataset(tmp_path / "b")
    assert set(a.gid[a.split("test")].tolist()) != set(b.gid[b.split("test")].tolist())


def test_a_split_left_empty_is_an_error_and_leaves_nothing(tmp_path):
    game = random_records(1, size=6)[0]
    copies = [record(gid, game.actions, game.winner, 6) for gid in range(10)]
    with pytest.raises(ZugwerkError, match="split 'train' would be empty"):
        built(copies, tmp_path / "d")
    assert [path.name for path in tmp_path.iterdir()] == ["d.parquet"]


def test_a_full_disk_names_the_file_and_keeps_the_old_data_set(tmp_path):
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


def test_a_missing_data_set_names_the_command(tmp_path):
    with pytest.raises(ZugwerkError, match="none: no such data set; `dvc repro amazons_samples`"):
        open_dataset(tmp_path / "none")


@pytest.mark.parametrize("field", ["board", "gid"])
def test_a_missing_array(small, field):
    (small / f"{field}.npy").unlink()
    with pytest.raises(ZugwerkError, match=rf"{field}\.npy: no such file; .*dvc repro -f amazons_samples"):
        open_dataset(small)


@pytest.mark.parametrize("keep", [0, 5, 100, 2000])
def test_an_array_cut_short(small, keep):
    path = small / "board.npy"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ZugwerkError, match=r"board\.npy: .*dvc repro -f"):
        open_dataset(small)


def test_an_array_of_another_type_or_length(small):
    np.save(small / "ply.npy", np.zeros(3, np.int16))
    with pytest.raises(ZugwerkError, match=r"ply\.npy: it holds int16 \(3,\), the manifest says int16 \("):
        open_dataset(small)
    np.save(small / "ply.npy", np.zeros(read_json(small / MANIFEST)["samples"]))
    with pytest.raises(ZugwerkError, match=r"ply\.npy: it holds float64"):
        open_dataset(small)


def test_a_flipped_bit_is_found_by_its_hash(small):
    data = bytearray((small / "to.npy").read_bytes())
    data[-1] ^= 1
    (small / "to.npy").write_bytes(data)
    open_dataset(small)
    with pytest.raises(ZugwerkError, match=r"to\.npy: its sha256"):
        open_dataset(small, check_hashes=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "not a manifest"),
        ({"version": 99}, "version 99, not 2"),
        ({"splits": {}}, "splits cannot be read"),
        ({"splits": 3}, "splits cannot be read"),
        ({"samples": 1}, "do not cover its 1 samples"),
    ],
)
def test_a_manifest_that_does_not_fit(small, change, message):
    write_json(small / MANIFEST, {**read_json(small / MANIFEST), **change})
    with pytest.raises(ZugwerkError, match=rf"manifest\.json: .*{message}"):
        open_dataset(small)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", json.dumps({"format": 1})])
def test_a_damaged_manifest(small, text):
    (small / MANIFEST).write_text(text)
    with pytest.raises(ZugwerkError, match=r"manifest\.json"):
        open_dataset(small)


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
