"""How much disk a run takes, and what is said where there is less."""

import re
from collections import namedtuple

import pytest
from typer.testing import CliRunner

from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.project import disk, memory
from pipeline_src.project.disk import check, graph_targets, needed
from pipeline_src.project.repro import cores
from pipeline_src.systems.gomoku_zero.declaration import weights
from pipeline_src.systems.gomoku_zero.models import make_config, make_net
from pipeline_src.systems.gomoku_zero.params import GomokuNet
from tests.layout.imports import ROOT
from tests.profiles import profile_tree

LAPTOP = profile_tree("laptop")
NIGHT = profile_tree("overnight")
Usage = namedtuple("Usage", "total used free")


def of(*targets, params=LAPTOP):
    """Bytes of one copy."""
    return (needed(targets, params) - disk.REST) / disk.COPIES


def test_estimates_are_near_the_laptops_outputs():
    """By dvc.lock of the time of writing: 36.5 MB a generation, 32.69 MB, 21.94 MB, 1.45 MB."""
    assert of("gomoku_generation@10") == pytest.approx(36.5e6, rel=0.15)
    assert of("amazons_train@cross_entropy") == pytest.approx(32.69e6, rel=0.1)
    assert of("amazons_samples") == pytest.approx(21.94e6, rel=0.1)
    assert of("depth_label") == pytest.approx(1.45e6, rel=0.1)
    assert of("growing_board@9") == pytest.approx(1.83e6, rel=0.5)
    assert of("report_page", "joseki_build") == 0


def test_windows_of_self_play_dominate_a_long_run():
    generations = [f"gomoku_generation@{n:02d}" for n in range(2, 17)]
    whole = needed(generations, NIGHT)
    windows = 15 * 200_000 * 2 * 225 * disk.COPIES
    assert windows < whole < 1.5 * windows
    assert needed(graph_targets(LAPTOP), LAPTOP) < whole / 2


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml")))
def test_every_profile_has_an_estimate(name):
    params = profile_tree(name)
    assert disk.REST < needed(graph_targets(params), params) < 1 << 40


def test_a_line_net_counts_by_its_weights():
    net = make_net(make_config(GomokuNet(kind="lines"), 9, 9))
    own = {"kind": "lines", "lines": {"window": 9, "units": 96}}
    assert weights(own, 9) == pytest.approx(sum(p.numel() for p in net.parameters()), rel=0.05)


def test_too_little_disk_is_refused_with_both_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda path: Usage(9 << 30, 8 << 30, 1 << 30))
    check(["gomoku_generation@02"], NIGHT, tmp_path)
    with pytest.raises(ZugwerkError, match=rf"{tmp_path}: 1\.0 GiB of disk free, but about 2\.\d GiB needed"):
        check([f"gomoku_generation@{n:02d}" for n in range(2, 17)], NIGHT, tmp_path)


@pytest.mark.parametrize("room", [100, 1])
def test_profile_prints_its_size_and_warns_of_a_full_disk(tmp_path, monkeypatch, room):
    for name in ("params.yaml", "dvc.yaml", "profiles/overnight.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda path: Usage(0, 0, room << 30))
    monkeypatch.setattr(memory, "available", lambda: 8 << 30)
    answer = CliRunner().invoke(app, ["profile", "overnight"])
    assert answer.exit_code == 0
    said = answer.output.splitlines()
    assert said[0].startswith("params.yaml is now the profile overnight")
    assert re.fullmatch(rf"disk: about 3\.\d GiB needed for all of it, {room}.0 GiB free at {tmp_path}", said[1])
    assert re.fullmatch(rf"memory: about \d\.\d GiB needed with --jobs {cores()}, 8\.0 GiB available", said[2])
    warned = [line for line in said if line.startswith(f"warning: {tmp_path}: 1.0 GiB of disk free, but about 3.")]
    assert len(warned) == (room == 1)


@pytest.mark.parametrize("change", [{"gomoku_train": {}}, {"growing_larger": {9: {}}}, {"amazons_samples": None}])
def test_params_that_lack_sizes_are_an_error(change):
    params = LAPTOP | change
    with pytest.raises(ZugwerkError, match=r"params\.yaml: the size of the run cannot be estimated \("):
        needed([*graph_targets(params), "amazons_samples"], params)
