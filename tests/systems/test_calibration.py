"""The stages that compare win rates with results."""

import csv
import json

import pytest

from pipeline_src import yaml12
from pipeline_src.systems.amazons_net import match
from pipeline_src.systems.amazons_net.nets import save_nets
from pipeline_src.systems.gomoku_zero import evaluate
from pipeline_src.systems.gomoku_zero.models import save_model
from pipeline_src.systems.gomoku_zero.params import GenerationFiles
from tests.players.positions import small_residual
from tests.run_stage import check_kill
from tests.systems.gomoku_zero.small import SMALL, fresh

RESIDUAL = match.MODELS / "residual/nets.pt"
PARAMS = {
    "seed": 1,
    "parallel": {"workers": 1},
    "gomoku_game": {"size": 6, "variant": "exact"},
    "gomoku_generations": {"02": {"before": "01"}},
    "calibration": {"games": 3, "simulations": 4},
}


@pytest.fixture(
    params=[(match.calibrate, match.REPORT.parent), (evaluate.calibrate, evaluate.REPORTS)],
    ids=["amazons", "gomoku"],
)
def stage(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_nets(RESIDUAL, small_residual(6))
    save_model(GenerationFiles(2).best, fresh(SMALL["residual"]), variant="exact")
    return request.param


def run(stage, **changes):
    main, reports = stage
    with open("params.yaml", "w") as file:
        file.write(yaml12.dump(PARAMS | changes))
    main()
    return [(reports / f"calibration.{ending}").read_bytes() for ending in ("json", "csv")]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_figures_and_curve_are_reproducible(stage, tmp_path, workers):
    once = run(stage)
    found = json.loads(once[0])
    assert found["games"] == 4
    assert 0 < found["start_first"] < 1
    assert found["value_brier"]["low"] <= found["value_brier"]["value"] <= found["value_brier"]["high"]
    with open(stage[1] / "calibration.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(int(row["turns"]) for row in rows) == found["value_brier"]["n"]
    assert not list((tmp_path / "work").iterdir())
    assert run(stage, parallel={"workers": workers}) == once
    assert run(stage, seed=2) != once


def test_after_a_kill_only_missing_games_are_played(stage, monkeypatch):
    check_kill(monkeypatch, lambda: run(stage, calibration={"games": 5, "simulations": 4}))
