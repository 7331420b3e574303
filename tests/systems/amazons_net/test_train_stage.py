import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.project.params import load
from pipeline_src.stages import amazons_train
from pipeline_src.systems.amazons_net.models import load_nets
from pipeline_src.systems.amazons_net.params import AmazonsResidualParams, AmazonsTrainParams
from tests.systems.amazons_net.samples import RESIDUAL, SECTION, write_dataset

ROOT = Path(__file__).parents[3]
OUTS = [
    amazons_train.MODELS / "cross_entropy" / "nets.pt",
    amazons_train.REPORTS / "cross_entropy.json",
    amazons_train.REPORTS / "cross_entropy.csv",
]


def write_params(folder, **changed):
    residual = changed.pop("residual", {})
    sections = {"amazons_train": SECTION | changed, "amazons_residual": RESIDUAL | residual}
    tree = {"seed": 1, "torch_threads": 1, **sections}
    (folder / "params.yaml").write_text(yaml.safe_dump(tree))


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_params(tmp_path)
    return tmp_path


def command(project):
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline_src.stages.amazons_train", "--model", "cross_entropy"],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("model", ["soft_argmax", "expected_distance", "residual"])
def test_leaves_nets_measures_and_curves_and_no_work_folder(project, model):
    write_dataset(amazons_train.SAMPLES)
    amazons_train.run(model)
    config = load_nets(amazons_train.MODELS / model / "nets.pt").config
    if model == "residual":
        assert config.channels == RESIDUAL["channels"]
    else:
        assert config.width == SECTION["width"]
    report = read_json(amazons_train.REPORTS / f"{model}.json")
    assert report["epochs"] == 2
    with open(amazons_train.REPORTS / f"{model}.csv") as file:
        curve = list(csv.DictReader(file))
    assert [float(row["epoch"]) for row in curve] == [1, 2]
    assert float(curve[-1]["validation_loss"]) == report["last"]["validation_loss"]
    assert read_json(amazons_train.REPORTS / f"{model}.timings.json")["device"] == "cpu"
    assert not list(amazons_train.WORK.iterdir())


@pytest.mark.slow
def test_as_a_command_it_ends_in_one_line_without_a_data_set(project):
    running = command(project)
    _, errors = running.communicate(timeout=240)
    assert running.returncode == 1
    assert errors.splitlines() == [
        f"error: {amazons_train.SAMPLES}: no such data set; `dvc repro amazons_samples` makes it"
    ]
    assert not Path("artifacts").exists()


@pytest.mark.slow
def test_killed_in_the_middle_of_an_epoch_and_run_again_it_writes_the_same_bytes(tmp_path, monkeypatch):
    written = []
    for kill in (False, True):
        project = tmp_path / ("killed" if kill else "whole")
        project.mkdir()
        write_params(project, batch=4, epochs=4, checkpoint_steps=5)
        write_dataset(project / amazons_train.SAMPLES)
        if kill:
            with command(project) as running:
                try:
                    wait_for_a_second_checkpoint(project / amazons_train.WORK, running)
                finally:
                    running.kill()
                running.communicate()
            assert running.returncode == -signal.SIGKILL
            assert not any((project / out).exists() for out in OUTS)
        monkeypatch.chdir(project)
        amazons_train.run("cross_entropy")
        written.append([(project / out).read_bytes() for out in OUTS])
        assert read_json(project / amazons_train.REPORTS / "cross_entropy.timings.json")["resumed"] is kill
    assert written[0] == written[1]


def wait_for_a_second_checkpoint(work, running):
    until = time.monotonic() + 240
    while len(list(work.glob("*/step=*.ckpt"))) < 2:
        assert running.poll() is None, "training ended before it could be killed"
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"optimizer": "adam"}, "amazons_train.optimizer: 'adam' is not one of rmsprop"),
        ({"batch": 0}, "amazons_train: batch must be at least 1, not 0"),
        ({"dropout": 1.0}, "amazons_train: dropout must be at least 0 and below 1, not 1.0"),
        ({"width": 0.0}, "amazons_train: width must be above 0, not 0.0"),
        ({"value_weight": -1.0}, "amazons_train: value_weight must be at least 0"),
        ({"weight_decay": -1.0}, "amazons_train: weight_decay must be at least 0"),
        ({"residual": {"blocks": 0}}, "amazons_residual: blocks must be at least 1"),
        ({"residual": {"width": 0.5}}, "amazons_residual.width: unknown key"),
        ({"batches": 3}, "amazons_train.batches: unknown key"),
    ],
)
def test_bad_params_name_the_key(project, changed, message):
    write_params(project, **changed)
    section, kind = (
        ("amazons_residual", AmazonsResidualParams) if "residual" in changed else ("amazons_train", AmazonsTrainParams)
    )
    with pytest.raises(ZugwerkError, match=message):
        load(kind, section)
