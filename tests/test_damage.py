"""Whoever reads a file that is missing or damaged: the error is one line, names the file and says what to do.

A row is how a small good file is made and read, what the error says with the file's name, and which damage is none.
"""

import dataclasses
import json
import os
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import zugwerk
from pipeline_src import files
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.match import read_openings
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, gomoku
from pipeline_src.players import packaged
from pipeline_src.players.packaged import FILE, FOLDER, ladders, packaged_nets
from pipeline_src.players.registry import build_player
from pipeline_src.project.graph import read_graph
from pipeline_src.project.params import read_tree
from pipeline_src.records import go_index
from pipeline_src.records.forced_wins import read_forced_wins
from pipeline_src.records.go_games import write_sgf
from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.psq import write_psq
from pipeline_src.records.raw import RawGame, read_raw, write_raw
from pipeline_src.records.record import GameRecord, read_records, write_records
from pipeline_src.records.sgf import read_files
from pipeline_src.report.charts import Metrics, table
from pipeline_src.search.amazons import rays
from pipeline_src.search.amazons.ray_keys import ROWS
from pipeline_src.search.gomoku import line_net
from pipeline_src.selfplay.train import load_learner, save_learner
from pipeline_src.selfplay.window import ARRAYS, open_window, write_window
from pipeline_src.systems.amazons_net.forward import export_nets
from pipeline_src.systems.amazons_net.nets import load_nets, save_nets
from pipeline_src.systems.amazons_net.player import open_forward
from pipeline_src.systems.amazons_net.samples import open_dataset
from pipeline_src.systems.gomoku_zero.evaluator import open_backend
from pipeline_src.systems.gomoku_zero.models import export_onnx, load_model, save_model
from pipeline_src.systems.joseki import library
from pipeline_src.systems.joseki.build import Builder
from pipeline_src.systems.search_depth.net import (
    PublishedDepthConfig,
    SavedDepthNet,
    load_depth_net,
    make_depth_net,
    save_depth_net,
)
from pipeline_src.systems.search_depth.positions import open_positions
from tests.players.positions import small_residual
from tests.records.amazons_games import random_game, record_of
from tests.systems.amazons_net.positions import random_records, write_dataset
from tests.systems.gomoku_zero.small import SMALL, fresh, model, random_games
from tests.systems.joseki.games import random_record
from tests.systems.search_depth.synthetic import write_synthetic

Change = Callable[[Path], Any]


class Kind(NamedTuple):
    make: Change
    read: Change
    says: str = ""  # Pattern in the error, and the file's name is there too
    bears: str = ""  # Damage that is no error: such a file is new, or read as far as it goes
    others: dict[str, Change] = {}  # noqa: RUF012 - Sound files of something else, by a pattern that the error has
    sealed: bool = False  # Whether no turned bit goes unnoticed
    whole: bool = False  # Whether the folder of the file is what is made and read


def rewrite(change):
    return lambda path: path.write_bytes(change(path.read_bytes()))


def replaced(old, new):
    return rewrite(lambda data: data.replace(old, new, 1))


def text(words):
    return lambda path: path.write_text(words)


def with_keys(**keys):
    """JSON with other entries."""
    return lambda path: path.write_text(json.dumps(json.loads(path.read_text()) | keys))


def saved_with(**keys):
    """A model of torch with other entries."""
    return lambda path: torch.save(torch.load(path, weights_only=True) | keys, path)


def described_with(**keys):
    """A table of a net with another description, or other arrays."""

    def change(path):
        with np.load(path) as saved:
            found = dict(saved)
        about = json.loads(str(found["about"]))
        arrays = {name: keys.pop(name) for name in [*keys] if name in found}
        with path.open("wb") as sink:
            np.savez(sink, **(found | arrays | {"about": np.array(json.dumps(about | keys))}))

    return change


def onnx_with(**keys):
    """An ONNX model with other metadata; without any, for no keys."""

    def change(path):
        import onnx

        made = onnx.load(path)
        found = {entry.key: entry.value for entry in made.metadata_props} | keys if keys else {}
        del made.metadata_props[:]
        onnx.helper.set_model_props(made, found)
        path.write_bytes(made.SerializeToString())

    return change


def rows(change):
    """An archive with other rows, and whatever columns come out."""
    return lambda path: pq.write_table(
        pa.Table.from_pylist([change(row) for row in pq.read_table(path).to_pylist()]), path
    )


def with_cells(**cells):
    return rows(lambda row: row | cells)


GO = GameRecord("go", 7, "file", "standard", 19, 19, (72, 288, 60), None)
GOMOKU = GameRecord("gomoku", 7, "file", "freestyle", 15, 15, (112, 97, 98), None)
AMAZONS = record_of(random_game(1, 8)[0])
OLD = b"zugwerk joseki library %d\n"
HEAD = len(OLD % library.VERSION)
DEPTH = SavedDepthNet(make_depth_net(PublishedDepthConfig(10, 1, 1)).eval(), "reached", 3, 7, "linear", "published")


def packed(path):
    """What a library of joseki packs."""
    return zlib.decompress(path.read_bytes()[HEAD + 32 :])


def sealed(change):
    """A library with other contents and the checksum that fits."""

    def write(path):
        data = zlib.compress(change(packed(path)))
        path.write_bytes(OLD % library.VERSION + sha256(data).digest() + data)

    return write


def with_array(name, index, value):
    def change(path):
        found = library.load(path)
        getattr(found, name)[index] = found.keys[0] if value is None else value
        library.save(found, path)

    return change


def write_library(path):
    builder = Builder(longest=20)
    builder.add([random_record(seed) for seed in range(4)])
    library.save(builder.library(), path)


def write_rays(path):
    rng = np.random.default_rng(0)
    heads = {name: rng.normal(size=count).astype(np.float32) for name, count in rays.WEIGHTS.items()}
    rays.write_table(path, rays.RayTable(rng.integers(-300, 300, (ROWS, rays.CHANNELS), np.int16), heads), 10)


def write_tar(path, mode="w"):
    with tarfile.open(path, mode) as tar:
        for number in range(40):
            (path.parent / "one.sgf").write_bytes(write_sgf(dataclasses.replace(GO, gid=number)))
            tar.add(path.parent / "one.sgf", f"{number}.sgf")


def write_index(path):
    write_records([GO], path.parent / "games/a.parquet")
    go_index.update(path, path.parent / "games")


def write_journal(path):
    with Journal(path, {"seed": 1}) as journal:
        journal.add({"a": 1, "b": 2})


def entries(path):
    with Journal(path, {"seed": 1}) as journal:
        return dict(journal.entries)


def packaged_net(path):
    (net,) = packaged_nets("gomoku", path)
    return net.checked()


def write_packaged(path):
    for suffix in (".lines", ".yaml"):
        shutil.copy(FOLDER / f"{ZERO}{suffix}", path)


def made_window(path):
    write_window(path, random_games(4), gomoku)


def window_of(path):
    return open_window(path, gomoku)


ZERO = "gomoku_zero-15x15-freestyle"
DATA_SET = r"dvc repro|again"
ARCHIVE = {
    "column 'game' is missing": rows(lambda row: {"gid": row["gid"]}),
    "wrong type": with_cells(gid="x"),
    "wrong type ": with_cells(actions=[2**31]),
    "wrong type|empty fields in column 'actions'": with_cells(actions=None),
    "empty fields in column 'actions'": with_cells(actions=[1, None]),
    "empty fields in column 'event'": with_cells(event=None),
    "winner 'white'": with_cells(winner="white"),
    "source 'elsewhere'": with_cells(source="elsewhere"),
}
SHARD = {
    "column 'gid' is missing": rows(lambda row: {"id": row["gid"]}),
    "wrong type": with_cells(gid="x"),
    "empty field|wrong type": with_cells(body=None),
    "none of won, lost, draw": with_cells(seats=[{"plid": 1, "name": "a", "result": "lucky"}]),
    "out of place": rows(lambda row: row | {"gid": row["gid"] + 10**4}),
    "out of place ?": lambda path: pq.write_table(pa.concat_tables([pq.read_table(path)] * 2), path),
}
TAR = {
    "no .sgf file": lambda path: tarfile.open(path, "w").close(),
    "its end is missing": rewrite(lambda data: data[:4096]),
}
MANIFEST = {"not a manifest": with_keys(format="zugwerk other"), "version 99": with_keys(version=99)}
TORCH = {
    "damaged": saved_with(kind="other"),
    r"damaged\b": saved_with(config={}),
    "damaged, ": saved_with(state_dict={}),
    "other things than weights": lambda path: torch.save(torch.nn.Linear(1, 1), path),
    "without '(kind|game|format)'": lambda path: torch.save({"weights": 1}, path),
    "other contents, TypeError": lambda path: torch.save([1], path),
}
KINDS = {
    "artifacts/games.parquet": Kind(
        lambda path: write_records(random_records(3, size=6), path),
        read_records,
        "dvc repro",
        others=ARCHIVE,
        sealed=True,
    ),
    "mine.parquet": Kind(lambda path: write_records([GO], path), read_records, r"^(?!.*dvc repro)"),
    "artifacts/raw/pages/games-000000000.parquet": Kind(
        lambda path: write_raw(path, [RawGame(gid, f"/{gid}", 200, b"(;)") for gid in range(9)]),
        lambda path: [*read_raw(path)],
        "amazons_crawl",
        others=SHARD,
        sealed=True,
        whole=True,
    ),
    "artifacts/reports/joseki/build.json": Kind(
        lambda path: files.write_json(path, {"games": 5}), files.read_json, "dvc repro"
    ),
    "artifacts/reports/joseki/growth.csv": Kind(
        lambda path: files.write_table(path, [{"games": n, "patterns": 2 * n} for n in range(9)]),
        partial(files.read_table, numbers=("games",)),
        "dvc repro",
        "cut last",
        {
            "line 1: no column games": text("game,patterns\n1,2\n"),
            "line 2: not as many cells": text("\ngames,patterns\n1,2\n"),
            "line 3: not as many cells": text("games,patterns\n1,2\n3\n"),
            "line 2: not as": text("games,patterns\n1,2,3\n"),
            "line 3: games is no number: '2r'": text("games,patterns\n1,2\n2r,2\n"),
        },
    ),
    "charts/growth.csv": Kind(
        lambda path: files.write_table(path, [{"games": n, "word": "a"} for n in range(9)]),
        lambda path: table(path, "games", words=("word",)),
        "again",
        "missing cut last",
        {"row 1: 'word'": text("games\n1\n")},
    ),
    "charts/build.json": Kind(
        lambda path: files.write_json(path, {"score": {"value": 0.5}}),
        lambda path: Metrics(path).estimate("score"),
        "again",
        "missing",
        {"row 1": text('{"score": {"value": "much"}}'), "'score'": text('{"score": 3}'), "found": text("[1]")},
    ),
    "params.yaml": Kind(text("parallel: {workers: 1,\n  address: none}\n"), read_tree, others={"list": text("- a\n")}),
    "dvc.yaml": Kind(
        text("stages: {first: {cmd: python -m pipeline_src.stage systems.a,\n  outs: [a, b]}}\n"),
        partial(read_graph, params={}),
    ),
    "levels.yaml": Kind(
        lambda path: shutil.copy(FILE, path),
        lambda path: ladders.__wrapped__(file=path),
        others={"ladders": text("ladders: 3\n")},
    ),
    f"nets/{ZERO}.lines": Kind(write_packaged, packaged_net, "package", sealed=True, whole=True),
    f"nets/{ZERO}.yaml": Kind(
        write_packaged,
        packaged_net,
        whole=True,
        others={
            "size.*nine": lambda path: path.write_text(re.sub("size: 15", "size: nine", path.read_text())),
            "elo": lambda path: path.write_text(path.read_text() + "elo: 1\n"),
            "expected sections": text("- no\n- card\n"),
            "-exact; a net and its card": replaced(b"rule: freestyle", b"rule: exact"),
            "the card says 12": rewrite(lambda data: re.sub(rb"\nbytes: \d+", b"\nbytes: 12", data, count=1)),
            r"only .*\.onnx, .*\.lines": lambda path: path.with_suffix(".onnx").touch(),
        },
    ),
    "mine.sgf": Kind(lambda path: path.write_bytes(write_sgf(GO)), zugwerk.read),
    "mine.psq": Kind(lambda path: path.write_text(write_psq(GOMOKU)), zugwerk.read, bears="last"),
    "mine.txt": Kind(lambda path: path.write_bytes(write_record(AMAZONS)), zugwerk.read),
    "openings.txt": Kind(
        text("d1d7g7\nd1d7g7 a7-b7/b9\n"),
        lambda path: read_openings(amazons, str(path), amazons.initial_state(10), 2, (1,)),
    ),
    "forced.jsonl": Kind(
        lambda path: path.write_text(json.dumps({"size": 9, "variant": "freestyle", "actions": [40], "plies": 3})),
        read_forced_wins,
    ),
    **{
        f"games.tar{ending}": Kind(
            partial(write_tar, mode=f"w:{ending[1:]}"),
            lambda path: [*read_files(path)],
            "tar",
            "last" * (not ending),
            TAR if not ending else {},
            bool(ending),
        )
        for ending in ("", ".gz", ".bz2", ".xz")
    },
    "go.index": Kind(
        write_index,
        lambda path: go_index.update(path, path.parent / "games"),
        bears="missing",
        others={"version '0'.*remove": replaced(b"index %d\n" % go_index.VERSION, b"index 0\n")},
        sealed=True,
    ),
    "journal.jsonl": Kind(
        write_journal,
        entries,
        bears="missing empty cut last",
        others={
            "format differs.; choose another --out, or remove": replaced(b'"format":2', b'"format":1'),
            "seed.*differs": replaced(b'"seed":1', b'"seed":2'),
            "damaged": text("nonsense\n"),
            "damaged ": lambda path: path.write_bytes(path.read_bytes().splitlines(keepends=True)[0] + b"{}\n"),
        },
    ),
    "artifacts/library.joseki": Kind(
        write_library,
        library.load,
        others={
            "not a joseki library": text("(;SZ[19])"),
            "of version '1'": replaced(OLD % library.VERSION, OLD % 1),
            "inconsistent": sealed(lambda data: b"nothing"),
            "inconsistent ": sealed(lambda data: data[:-9]),
            "bytes too many": sealed(lambda data: data + b"x"),
            "'to' has entries out of range": with_array("to", 0, 10**6),
            "'move' has entries out of range": with_array("move", 3, 202),
            "'samples' has entries out of range": with_array("samples", (0, 0), 10),
            "'starts' has entries out of range": with_array("starts", 1, -1),
            "'keys' has entries out of range": with_array("keys", (0, 0), 1 << 60),
            "200 moves of a corner": lambda path: library.save(
                dataclasses.replace(library.load(path), moves=200), path
            ),
            "1 patterns have two states": with_array("keys", 1, None),
            "'fingerprints' has entries out of range": with_array("fingerprints", 0, 2**64 - 1),
        },
        sealed=True,
    ),
    "net.lines": Kind(
        lambda path: shutil.copy(FOLDER / f"{ZERO}.lines", path),
        line_net.read_table,
        "zugwerk export",
        others={
            "of version 9; .* version 2": described_with(format_version=9),
            "gomoku under rules version 2": described_with(version=2),
            **{f"board of .*{side}x15, sides have 3": described_with(height=side) for side in (2, 26, -15, 15.0, None)},
        },
        sealed=True,
    ),
    "net.rays": Kind(
        write_rays,
        rays.read_table,
        "zugwerk export",
        others={
            f"of version 7.* of version {rays.VERSION}": described_with(format_version=7),
            "zugwerk line net": described_with(format="zugwerk line net"),
            f"rules version 9.*version {amazons.VERSION}": described_with(version=9),
            "made for gomoku.*this is amazons": described_with(game="gomoku"),
            "digest": described_with(sha256="0" * 64),
            "its numbers have": described_with(table=np.zeros((ROWS, rays.CHANNELS), np.int16)),
            "cut short": described_with(size=None),
        },
        sealed=True,
    ),
    "artifacts/gomoku/best.pt": Kind(
        lambda path: save_model(path, fresh(SMALL["plain"])),
        load_model,
        "dvc repro",
        others=TORCH | {"of 'go', not of gomoku": saved_with(game="go"), "rules version 0": saved_with(version=0)},
        sealed=True,
    ),
    "artifacts/amazons/nets.pt": Kind(
        lambda path: save_nets(path, small_residual(6)), load_nets, "dvc repro amazons_train", "", TORCH, True
    ),
    "artifacts/depth/model.pt": Kind(
        lambda path: save_depth_net(path, DEPTH),
        load_depth_net,
        "dvc repro depth_train",
        others=TORCH | {"version 0": saved_with(version=0)},
        sealed=True,
    ),
    "artifacts/gomoku/learner.pt": Kind(
        lambda path: save_learner(path, {"optimizer": "sgd", "state": {0: {"momentum_buffer": torch.ones(99)}}}),
        load_learner,
        "generation",
        others={"damaged": lambda path: torch.save([1], path)},
        sealed=True,
    ),
    "model.onnx": Kind(
        lambda path: path.write_bytes(export_onnx(model(SMALL["plain"]))),
        open_backend,
        "zugwerk export|rules version",
        others={
            "damaged": onnx_with(),
            "made for go": onnx_with(game="go"),
            f"version 0; this is gomoku, version {gomoku.VERSION}": onnx_with(version="0"),
        },
    ),
    "nets.onnx": Kind(
        lambda path: path.write_bytes(export_nets(small_residual(6))),
        lambda path: open_forward(str(path), 1),
        others={"not an ONNX model of these nets": lambda path: path.write_bytes(export_onnx(model(SMALL["plain"])))},
    ),
    **{
        f"artifacts/samples/amazons/{name}": Kind(write_dataset, open_dataset, DATA_SET, others=others, whole=True)
        for name, others in {
            "manifest.json": MANIFEST
            | {
                "splits cannot be read": with_keys(splits={}),
                "splits cannot": with_keys(splits=3),
                "do not cover": with_keys(samples=1),
            },
            "ply.npy": {
                r"int16 \(3,\), the manifest says int16 \(": lambda path: np.save(path, np.zeros(3, np.int16)),
                "it holds float64": lambda path: np.save(path, np.load(path).astype(float)),
            },
            "gid.npy": {},
        }.items()
    },
    **{
        f"artifacts/samples/depth/{name}": Kind(
            partial(write_synthetic, games=2),
            open_positions,
            DATA_SET,
            others=MANIFEST if name.endswith("json") else {},
            whole=True,
        )
        for name in ("manifest.json", "n.npy", "ply.npy")
    },
    "artifacts/samples/gomoku/07/manifest.json": Kind(
        made_window,
        window_of,
        DATA_SET,
        others=MANIFEST
        | {
            "of 'amazons'": with_keys(game="amazons"),
            "rules 0": with_keys(rules=0),
            "manifest of a replay window": with_keys(sha256=None),
            "a manifest of a replay": with_keys(size="6"),
            "does not fit|policy is": with_keys(size=6),
        },
        whole=True,
    ),
    **{
        f"artifacts/samples/gomoku/07/{name}.npy": Kind(
            made_window,
            window_of,
            DATA_SET,
            sealed=True,
            whole=True,
        )
        for name in ARRAYS
    },
}

DAMAGE: dict[str, Change] = {
    "missing": Path.unlink,
    "empty": rewrite(lambda data: b""),
    "cut": rewrite(lambda data: data[: len(data) // 2]),
    "last": rewrite(lambda data: data[:-5]),
    "other": rewrite(lambda data: b"no array and no table"),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


def plain(value):
    """Numbers and texts of whatever a reader returns."""
    if isinstance(value, torch.nn.Module):
        return plain(dict(value.state_dict()))
    if isinstance(value, torch.Tensor | np.ndarray):
        array = np.asarray(value)
        return str(array.dtype), array.shape, array.tobytes()
    if dataclasses.is_dataclass(value):
        return [plain(getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Makes a sound file; returns its path, and a function that reads it."""
    monkeypatch.chdir(tmp_path)

    def make(name):
        kind, path = KINDS[name], Path(name)
        what = path.parent if kind.whole else path
        (what if "nets/" in name else what.parent).mkdir(parents=True, exist_ok=True)
        kind.make(what)
        return path, partial(kind.read, what)

    return make


def check(name, read, said=""):
    """Read a damaged file: one line of error, with the file's name, and what its row says; the file stays as it is."""
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    with pytest.raises((ZugwerkError, OSError)) as error:
        read()
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before
    words = str(error.value)
    assert "\n" not in words
    assert Path(name).stem in words or (KINDS[name].whole and str(Path(name).parent) in words)
    assert re.search(said or KINDS[name].says, words), words


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_is_named(made, name, damage):
    path, read = made(name)
    read()
    DAMAGE[damage](path)
    if damage in KINDS[name].bears:
        read()
    else:
        check(name, read, "." if damage == "a folder" else "")


@pytest.mark.parametrize(("name", "said"), [(name, said) for name, kind in KINDS.items() for said in kind.others])
def test_a_file_of_something_else_is_named(made, name, said):
    path, read = made(name)
    KINDS[name].others[said](path)
    check(name, read, said)


@pytest.mark.parametrize("name", KINDS)
def test_a_turned_bit_is_named_or_harmless(made, name):
    path, read = made(name)
    data, sound = path.read_bytes(), plain(read()) if KINDS[name].sealed else None
    for place in range(0, len(data), max(1, len(data) // (12 if len(data) > 10**5 else 50))):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        try:
            found = read()
        except (ZugwerkError, OSError) as error:
            assert path.stem in str(error) or (KINDS[name].whole and str(path.parent) in str(error))  # noqa: PT017
        else:
            assert sound is None or plain(found) == sound, place


@pytest.mark.parametrize("name", KINDS)
def test_a_file_that_may_not_be_read_is_named(made, name, monkeypatch):
    path, read = made(name)
    read()
    with tempfile.TemporaryDirectory() as folder:  # a place that all may enter, unlike the folders of pytest
        shutil.copytree(Path(), folder, dirs_exist_ok=True)
        for one in (Path(folder), *Path(folder).rglob("*")):
            one.chmod(0o755)
        monkeypatch.chdir(folder)
        path.chmod(0)
        root = os.geteuid() == 0
        try:
            if root:
                os.seteuid(65534)
            with pytest.raises((ZugwerkError, OSError), match=re.escape(path.name)):
                read()
        finally:
            if root:
                os.seteuid(0)


def test_without_any_packaged_net_a_model_is_asked_for(monkeypatch):
    monkeypatch.setattr(packaged, "packaged_nets", lambda game: [])
    with pytest.raises(ZugwerkError, match=r"no net comes with the package.*zero:MODEL"):
        build_player("gomoku", "zero").check(gomoku.initial_state(9))


@pytest.mark.parametrize(("backend", "said"), [("torch", "not an ONNX"), ("tpu", "auto, torch")])
def test_a_backend_that_does_not_run_a_file_is_named(made, backend, said):
    path, _ = made("model.onnx")
    with pytest.raises(ZugwerkError, match=said):
        open_backend(path, backend)
