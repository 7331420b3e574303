"""What stages read, missing or damaged: the message names the file, and what to do."""

import json
import os
import re
from pathlib import Path

import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.record import write_records
from pipeline_src.stage import main_of
from pipeline_src.systems.amazons_net import build
from pipeline_src.systems.amazons_net.forward import export_nets
from pipeline_src.systems.amazons_net.nets import load_nets, save_nets
from pipeline_src.systems.amazons_net.player import open_forward
from pipeline_src.systems.amazons_net.samples import open_dataset
from pipeline_src.systems.search_depth.net import (
    PublishedDepthConfig,
    SavedDepthNet,
    load_depth_net,
    make_depth_net,
    save_depth_net,
)
from pipeline_src.systems.search_depth.positions import open_positions
from tests.players.positions import small_residual
from tests.profiles import profile_text
from tests.reference.test_params_read import command, graph_of, words
from tests.systems.amazons_net.positions import random_records
from tests.systems.amazons_net.samples import write_dataset
from tests.systems.search_depth.synthetic import write_synthetic

GAMES = Path("artifacts/records/amazons/games.parquet")
SAMPLES, POSITIONS = Path("artifacts/samples/amazons"), Path("artifacts/samples/depth")
NETS, DEPTH = Path("artifacts/models/amazons/residual/nets.pt"), Path("artifacts/models/depth/smote/model.pt")
ONNX = Path("nets.onnx")  # the user's own


def write_depth(path):
    net = make_depth_net(PublishedDepthConfig(10, 1, 1)).eval()
    save_depth_net(path, SavedDepthNet(net, "reached", 3, 7, "linear", "published"))


WRITERS = {
    GAMES: lambda path: write_records(random_records(3, size=6), path),
    SAMPLES: write_dataset,
    POSITIONS: lambda path: write_synthetic(path, games=2),
    NETS: lambda path: save_nets(path, small_residual(6)),
    DEPTH: write_depth,
    ONNX: lambda path: path.write_bytes(export_nets(small_residual(6))),
}
READERS = {
    GAMES: lambda path: build.read_games(path, 6, ["standard"]),
    SAMPLES: open_dataset,
    POSITIONS: open_positions,
    NETS: load_nets,
    DEPTH: load_depth_net,
    ONNX: lambda path: open_forward(str(path), 1),
}
FILES = [(GAMES, GAMES), (NETS, NETS), (DEPTH, DEPTH), (ONNX, ONNX)]
FILES += [(SAMPLES, SAMPLES / name) for name in ("manifest.json", "board.npy", "gid.npy")]
FILES += [(POSITIONS, POSITIONS / name) for name in ("manifest.json", "n.npy", "ply.npy")]


def rewrite(path, change):
    path.write_bytes(change(path.read_bytes()))


def other_content(path):
    """Something of the right kind that is not what belongs there."""
    if path.suffix == ".json":
        path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 99}))
    elif path.suffix == ".pt":
        torch.save({"config": {"size": 6}, "state_dict": {}, "kind": "other"}, path)
    else:
        path.write_bytes(b"no array and no table")


def become_a_folder(path):
    path.unlink()
    path.mkdir()


DAMAGE = {
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: rewrite(path, lambda whole: whole[: len(whole) // 2]),
    "last bytes lost": lambda path: rewrite(path, lambda whole: whole[:-5]),
    "bit turned": lambda path: rewrite(  # the magic bytes of a table stand at its end
        path, lambda whole: whole[:-1] + b"0" if path.suffix == ".parquet" else bytes([whole[0] ^ 1]) + whole[1:]
    ),
    "other content": other_content,
    "a folder": become_a_folder,
    "not permitted": lambda path: path.chmod(0),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize(("what", "file"), FILES, ids=str)
def test_a_damaged_file_is_named(tmp_path, monkeypatch, what, file, damage):
    if damage == "not permitted" and not os.geteuid():
        pytest.skip("root may read everything")
    monkeypatch.chdir(tmp_path)
    what.parent.mkdir(parents=True, exist_ok=True)
    WRITERS[what](what)
    READERS[what](what)
    DAMAGE[damage](file)
    with pytest.raises((ZugwerkError, OSError)) as error:
        READERS[what](what)
    assert file.name in str(error.value)
    assert "\n" not in str(error.value)
    assert damage in ("a folder", "not permitted") or file == ONNX or "dvc repro" in str(error.value)


def with_inputs():
    """The first target of each stage that reads what another one makes."""
    for name, stage in graph_of("laptop").items():
        made = {dep for dep in stage.deps if dep.startswith("artifacts/")} - {"artifacts/code.json"}
        if made and not name.startswith("report"):
            yield next(iter(stage.listed))


@pytest.mark.parametrize("target", with_inputs())
def test_a_stage_without_its_inputs_names_one_and_writes_nothing(tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text(profile_text("laptop"))
    with pytest.raises(ZugwerkError) as error:
        main_of(command(target)[0])(*words(target, "laptop"))
    assert re.search(r"artifacts/.*(dvc repro|run the one before)", str(error.value))
    assert not [path for path in tmp_path.glob("artifacts/**/*") if path.is_file()]
