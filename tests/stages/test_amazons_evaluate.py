import csv
import json

import pytest
import torch

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.torch_state import torch_threads
from pipeline_src.systems.amazons_net import baselines as amazons_baselines
from pipeline_src.systems.amazons_net import evaluate as amazons_evaluate
from pipeline_src.systems.amazons_net.nets import save_nets
from tests.players.positions import small_dataset, small_nets, small_residual
from tests.run_stage import check_kill

PARAMS = {
    "seed": 1,
    "torch_threads": 1,
    "parallel": {"workers": 1},
    "amazons_evaluate": {"batch": 32},
    "amazons_baselines": {"fit_turns": 100},
}
RATES = {f"{choice}_top{k}" for choice in ("from_to", "arrow", "turn") for k in (1, 5)}
VALUES = {f"{rate}_{figure}" for rate in ("value", "value_before") for figure in ("accuracy", "brier", "l1")}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text(yaml12.dump(PARAMS))
    amazons_evaluate.SAMPLES.parent.mkdir(parents=True)
    small_dataset(tmp_path, 20, 6)
    (tmp_path / "samples").rename(amazons_evaluate.SAMPLES)
    save_nets(amazons_evaluate.MODELS / "soft_argmax" / "nets.pt", small_nets(6))
    save_nets(amazons_evaluate.MODELS / "residual" / "nets.pt", small_residual(6))
    with torch_threads(torch.get_num_threads()):
        yield tmp_path


def evaluate(model):
    amazons_evaluate.main("--model", model)
    return {path.name: path.read_bytes() for path in sorted(amazons_evaluate.OUT.iterdir())}


def baselines():
    amazons_baselines.main()
    return {path.name: path.read_bytes() for path in sorted(amazons_baselines.OUT.iterdir())}


def rows(text):
    return list(csv.DictReader(text.decode().splitlines()))


@pytest.mark.parametrize("model", ["soft_argmax", "residual"])
def test_the_nets_figures(project, monkeypatch, model):
    files = evaluate(model)
    assert set(files) == {f"{model}.{kind}" for kind in ("json", "phases.csv", "calibration.csv")}
    report = json.loads(files[f"{model}.json"])
    assert set(report) == {"games", "turns", "turns_left_out", "nets"}
    assert report["games"] == 2
    assert set(report["nets"]) == RATES | VALUES | {"legal_rate", "move_l2", "arrow_l2", "move_loss", "arrow_loss"}
    for figure in report["nets"].values():
        assert figure["low"] <= figure["value"] <= figure["high"]
        assert figure["n"] == report["turns"]
    assert report["nets"]["legal_rate"]["value"] == 1
    phases, bins = rows(files[f"{model}.phases.csv"]), rows(files[f"{model}.calibration.csv"])
    assert sum(int(row["turns"]) for row in phases) == sum(int(row["turns"]) for row in bins) == report["turns"]
    assert evaluate(model) == files


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_baselines_figures(project, workers):
    files = baselines()
    assert set(files) == {"baselines.json", "one_ply.phases.csv", "one_ply.calibration.csv", "uniform.phases.csv"}
    report = json.loads(files["baselines.json"])
    assert set(report["one_ply"]) == set(report["uniform"]) == RATES | VALUES
    assert report["uniform"]["value_brier"]["value"] == 0.25
    assert 0 < report["uniform"]["turn_top1"]["value"] < 0.5
    assert 0.1 <= report["one_ply_scale"] <= 1_000
    (project / "params.yaml").write_text(yaml12.dump(PARAMS | {"parallel": {"workers": workers}}))
    assert baselines() == files


def test_after_a_kill_the_baselines_equal_those_of_one_run(project, monkeypatch):
    monkeypatch.setattr(amazons_baselines, "CHUNK", 7)
    check_kill(monkeypatch, baselines)
    assert not amazons_baselines.WORK.exists()


def test_missing_inputs_are_named(project, monkeypatch):
    with pytest.raises(ZugwerkError, match=r"models/amazons/nonesuch/nets\.pt: no such model; `dvc repro"):
        evaluate("nonesuch")
    amazons_evaluate.SAMPLES.rename("elsewhere")
    with pytest.raises(ZugwerkError, match="no such data set; `dvc repro amazons_samples` makes it"):
        evaluate("soft_argmax")
    with pytest.raises(ZugwerkError, match="no such data set"):
        baselines()
    assert not amazons_evaluate.OUT.exists()


@pytest.mark.parametrize(
    ("section", "value", "complaint"),
    [
        ("amazons_evaluate", {"batch": 0}, "amazons_evaluate: batch must be at least 1"),
        ("amazons_evaluate", {"batch": 8, "beam": 5}, "amazons_evaluate.beam: unknown key"),
        ("amazons_baselines", {"fit_turns": 0}, "amazons_baselines: fit_turns must be at least 1"),
    ],
)
def test_bad_params_are_named(project, monkeypatch, section, value, complaint):
    (project / "params.yaml").write_text(yaml12.dump(PARAMS | {section: value}))
    with pytest.raises(ZugwerkError, match=complaint):
        evaluate("soft_argmax") if section == "amazons_evaluate" else baselines()
