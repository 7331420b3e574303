"""Devices and shares of a training, its learning rate, the optimiser and the convolutions."""

import contextlib
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.learning.devices import Devices
from pipeline_src.learning.fit import Checkpoints, Share, rate_factor, share, summed, trainer_options
from pipeline_src.learning.torch_state import SameConv2d, dense
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import build
from pipeline_src.selfplay.generation import run_generation
from pipeline_src.selfplay.params import ARTIFACTS
from pipeline_src.systems.amazons_net import train as amazons_train
from pipeline_src.systems.amazons_net.losses import NesterovRMSprop
from pipeline_src.systems.amazons_net.nets import load_nets
from pipeline_src.systems.amazons_net.train import Plan, Validation
from pipeline_src.systems.gomoku_zero.params import read_setting
from pipeline_src.systems.gomoku_zero.self_play import Gomoku
from pipeline_src.systems.search_depth import train as depth_train
from pipeline_src.systems.search_depth.net import load_depth_net
from tests.layout.imports import ROOT
from tests.namespaces import hosts, needs_namespaces
from tests.starts import Start
from tests.systems.amazons_net.positions import RESIDUAL, SIZE, write_dataset
from tests.systems.gomoku_zero.small import write_params
from tests.systems.search_depth.synthetic import write_synthetic

TWO = [Share(0, 2), Share(1, 2)]


def test_single_process_has_the_whole_batch():
    sums = torch.ones(3)
    assert share() == Share(0, 1)
    assert summed(sums) is sums
    assert Share().of(np.arange(5)).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("make", [lambda plan, one: [plan.step(number, one) for number in range(4)], Validation])
def test_shares_together_are_the_batch_of_one_process(dataset, make):
    plan = Plan(dataset, batch=16, seed=3, augment=True)
    whole = list(make(plan, Share()))
    for one, *parts in zip(whole, *(make(plan, part) for part in TWO), strict=True):
        for kind in ("amazon", "arrow"):
            for name in ("boards", "movers", "start", "to", "won"):
                full = getattr(getattr(one, kind), name)
                for part, step in zip(TWO, parts, strict=True):
                    assert np.array_equal(getattr(getattr(step, kind), name), full[part.rank :: 2])


def test_unequal_shares_are_refused():
    with pytest.raises(ZugwerkError, match="a batch of 16 has no equal shares for 3 processes"):
        trainer_options(Devices(devices=3), 16)
    with pytest.raises(ZugwerkError, match="num_nodes must be at least 1, not 0"):
        build(Devices, {"num_nodes": 0}, "train", "params.yaml")


@pytest.mark.parametrize("kept", [0, 300])
def test_damaged_checkpoint_is_named(tmp_path, kept):
    path = tmp_path / "last.ckpt"
    Checkpoints().save_checkpoint({"global_step": 3}, path)
    files = Checkpoints()
    assert (files.load_checkpoint(path), files.step) == ({"global_step": 3}, 3)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ZugwerkError, match=r"last.ckpt: damaged .*; delete it"):
        files.load_checkpoint(path)


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


TRAINING = (
    *("torch._dynamo", "pipeline_src.systems.amazons_net.train", "pipeline_src.systems.search_depth.train"),
    "pipeline_src.systems.gomoku_zero.self_play",
)  # What the first process of each training imports; Lightning starts the others again


def start(folder, words, **pipes):
    return Start([sys.executable, "-m", *words], modules=TRAINING, cwd=folder, env=ENVIRONMENT, **pipes)


def stage(folder, *words):
    with start(folder, words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        _, errors = process.communicate()
    assert process.returncode == 0, errors


def killed_stage(folder, *words):
    """The same, killed as soon as it has a checkpoint."""
    with start(folder, words) as process:
        # A glob fails where a folder is renamed between its name and its contents, as the stage does meanwhile.
        while not any(name == "last.ckpt" for _, _, names in os.walk(folder / "work") for name in names):
            assert process.poll() is None, "over before it could be killed"
            time.sleep(0.01)
        others = psutil.Process(process.pid).children()
        process.kill()
    assert others
    _, alive = psutil.wait_procs(others, timeout=120)
    assert not alive


GOMOKU = ("pipeline_src.stage", "systems.gomoku_zero.self_play", "--number", "1")


def write_amazons(folder, **changed):
    write_dataset(folder / "artifacts/samples/amazons")
    params = {"seed": 3, "torch_threads": 1, "amazons_residual": RESIDUAL | changed}
    (folder / "params.yaml").write_text(yaml12.dump(params))


@pytest.mark.slow
def test_two_processes_train_amazons_nets_about_as_one_does(tmp_path, monkeypatch):
    """The same batches, so nearly the same losses; batch norm sees half a batch at a time."""
    reports = []
    for devices in (1, 2):
        folder = tmp_path / str(devices)
        write_amazons(folder, devices=devices)
        monkeypatch.chdir(folder)
        if devices == 1:
            amazons_train.main("--model", "residual")
        else:
            stage(folder, *RANKS)
        reports.append(read_json(folder / "artifacts/reports/amazons/train/residual.json"))
        assert not list((folder / "work/amazons_train").iterdir())
        assert load_nets(folder / "artifacts/models/amazons/residual/nets.pt").config.size == SIZE
    one, two = reports
    assert two["epochs"] == one["epochs"] == 2
    assert two["last"]["validation_loss"] == pytest.approx(one["last"]["validation_loss"], rel=0.1)
    assert two["last"]["train_loss"] == pytest.approx(one["last"]["train_loss"], rel=0.1)


RANKS = ("pipeline_src.stage", "systems.amazons_net.train", "--model", "residual")
# Without its name the stage asks for no digest of its code, which this folder does not have.
DVC_YAML = f"""
stages:
  train:
    cmd: DVC_STAGE= python -m {" ".join(RANKS)}
    deps: [artifacts/samples]
    outs: [artifacts/models/amazons/residual/nets.pt]
"""


@pytest.mark.slow
@needs_namespaces
def test_two_machines_train_amazons_as_two_processes_to_the_byte(tmp_path):
    """DVC runs the stage on the first machine; the second one is started with the stage's command."""
    one, shared = tmp_path / "one", tmp_path / "shared"
    for folder, changed in ((one, {"devices": 2}), (shared, {"num_nodes": 2})):
        folder.mkdir()
        write_amazons(folder, **changed)
    stage(one, *RANKS)
    (shared / "dvc.yaml").write_text(DVC_YAML)
    dvc = [sys.executable, "-m", "dvc"]
    subprocess.run([*dvc, "init", "--quiet", "--no-scm"], cwd=shared, check=True)
    commands = [*dvc, "repro"], [sys.executable, "-m", *RANKS]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with hosts(2) as made, contextlib.ExitStack() as stack:
        places = {"PATH": path, "MASTER_ADDR": made[0][0], "MASTER_PORT": "29500", "GLOO_SOCKET_IFNAME": "eth0"}
        started = []
        for rank, ((_, words), command) in enumerate(zip(made, commands, strict=True)):
            env = ENVIRONMENT | places | {"NODE_RANK": str(rank)}
            started.append(stack.enter_context(subprocess.Popen([*words, *command], cwd=shared, env=env)))
            stack.callback(started[-1].kill)
        assert [process.wait(240) for process in started] == [0, 0]
    for name in (
        "models/amazons/residual/nets.pt",
        *(f"reports/amazons/train/residual.{end}" for end in ("json", "csv")),
    ):
        assert (shared / "artifacts" / name).read_bytes() == (one / "artifacts" / name).read_bytes()
    assert subprocess.run([*dvc, "status", "--quiet"], cwd=shared).returncode == 0


@pytest.mark.slow
def test_two_processes_make_a_gomoku_generation_about_as_one(tmp_path, monkeypatch):
    """One process plays, both train; a kill while they do changes no byte."""
    reports, models = [], []
    for name, devices in (("one", 1), ("two", 2), ("killed", 2)):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        params = write_params(folder, gomoku_train={"devices": devices, "passes": 8.0})
        if name == "killed":
            killed_stage(folder, *GOMOKU)
        if devices == 1:
            run_generation(Gomoku(), 1, read_setting(params), Parallel(workers=1), ARTIFACTS)
        else:
            stage(folder, *GOMOKU)
        reports.append(read_json(folder / "artifacts/reports/gomoku/generations/01.json"))
        models.append((folder / "artifacts/models/gomoku/01/model.pt").read_bytes())
    one, two, killed = reports
    assert two == killed
    assert two["self_play"] == one["self_play"]
    assert two["train"]["loss"] == pytest.approx(one["train"]["loss"], rel=0.1)
    assert models[1] == models[2] != models[0]


@pytest.mark.slow
def test_two_processes_train_a_depth_net_about_as_one_does(tmp_path, monkeypatch):
    found = []
    for devices in (1, 2):
        folder = tmp_path / str(devices)
        write_synthetic(folder / "artifacts/samples/depth")
        training = {"steps": 40, "batch": 64, "learning_rate": 0.01, "log_steps": 20, "devices": devices}
        model = {"label": "reached", "balance": "none", "filters": 4}
        train = {"balancing": {}, "training": training, "models": {"none": model}}
        split = {"train": 75, "validation": 10, "test": 15}
        params = {"seed": 3, "depth_split": split, "depth_train": train}
        (folder / "params.yaml").write_text(yaml12.dump(params))
        monkeypatch.chdir(folder)
        if devices == 1:
            depth_train.main("--model", "none")
        else:
            stage(folder, "pipeline_src.stage", "systems.search_depth.train", "--model", "none")
        found.append(read_json(folder / "artifacts/reports/depth/train/none.json")["last"])
        load_depth_net(folder / "artifacts/models/depth/none/model.pt")
    assert found[1]["loss"] == pytest.approx(found[0]["loss"], rel=1e-3)  # no batch norm, so all but rounding
    assert found[1]["validation_accuracy"] == pytest.approx(found[0]["validation_accuracy"], abs=0.05)


@pytest.mark.parametrize("schedule", ["linear", "cosine"])
def test_rises_then_falls(schedule):
    factors = [rate_factor(schedule, step, 110, 10 / 110) for step in range(111)]
    assert factors[:10] == pytest.approx([(step + 1) / 11 for step in range(10)])
    assert factors[10] == 1
    assert factors[60] == pytest.approx(0.5)
    assert factors[110] == pytest.approx(0)
    assert factors[10:] == sorted(factors[10:], reverse=True)
    assert rate_factor(schedule, 0, 5, 0.0) == 1


LR, RHO, MU, EPS = 0.01, 0.8, 0.7, 1e-3


def gradient(theta, step):
    """Of a badly scaled bowl whose bottom moves."""
    return [a * (t - math.sin(step)) for a, t in zip((1.0, 30.0, 0.01), theta, strict=True)]


def plain_loop(theta, steps, mu):
    v, m = [0.0] * 3, [0.0] * 3
    for step in range(steps):
        for i, g in enumerate(gradient(list(theta), step)):
            v[i] = RHO * v[i] + (1 - RHO) * g * g
            u = g / (math.sqrt(v[i]) + EPS)
            m[i] = mu * m[i] + LR * u
            theta[i] -= mu * m[i] + LR * u
    return theta


@pytest.mark.parametrize("mu", [0.0, MU])
def test_equals_a_plain_loop(mu):
    start = [1.0, -2.0, 3.0]
    parameters = [torch.tensor([start[0]]).double(), torch.tensor(start[1:]).double()]
    parameters = [p.requires_grad_() for p in parameters]
    optimizer = NesterovRMSprop(parameters, lr=LR, rho=RHO, momentum=mu, eps=EPS)
    for step in range(50):
        g = gradient([*parameters[0].tolist(), *parameters[1].tolist()], step)
        parameters[0].grad = torch.tensor(g[:1], dtype=torch.float64)
        parameters[1].grad = torch.tensor(g[1:], dtype=torch.float64)
        optimizer.step()
    found = [*parameters[0].tolist(), *parameters[1].tolist()]
    assert found == pytest.approx(plain_loop(list(start), 50, mu), rel=1e-12)


def test_parameters_without_gradient_stay():
    used, unused = (torch.ones(2, requires_grad=True) for _ in range(2))
    optimizer = NesterovRMSprop([used, unused])
    used.square().sum().backward()
    optimizer.step()
    assert (unused == 1).all()
    assert (used < 1).all()
    assert unused not in optimizer.state


@pytest.mark.parametrize("kernel", range(1, 7))
def test_each_output_sees_the_window_that_starts_above_left(kernel):
    assert SameConv2d(3, 5, kernel)(torch.zeros(2, 3, 10, 9)).shape == (2, 5, 10, 9)
    conv = SameConv2d(1, 1, kernel)
    torch.nn.init.ones_(conv.weight)
    board = torch.arange(49.0).view(1, 1, 7, 7)
    out = conv(board)
    before = (kernel - 1) // 2
    for row, column in [(0, 0), (0, 6), (3, 3), (6, 0), (6, 6), (2, 5)]:
        top, left = row - before, column - before
        window = board[0, 0, max(top, 0) : top + kernel, max(left, 0) : left + kernel]
        torch.testing.assert_close(out[0, 0, row, column], window.sum())


def test_starts_with_the_spread_that_keeps_signals_and_no_bias():
    torch.manual_seed(1)
    conv, layer = SameConv2d(16, 32, 3), dense(400, 100)
    for weight, fans in ((conv.weight, 9 * 16), (layer.weight, 500)):
        assert weight.var().item() == pytest.approx(2 / fans, rel=0.1)
    assert not conv.bias.any()
    assert not layer.bias.any()
