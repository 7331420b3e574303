import json

import pytest

from pipeline_src import yaml12
from pipeline_src.report import headlines
from pipeline_src.report.figures import REGISTRY, SYSTEMS
from tests.layout.imports import ROOT

ESTIMATE = {"value": 0.4, "low": 0.3, "high": 0.5, "n": 90}


@pytest.fixture
def pick(tmp_path, monkeypatch):
    """Runs the stage for the Amazons' reports; gives what it wrote."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text("amazons_match: {loss: soft_argmax}\n")

    def run(reports):
        for name, content in reports.items():
            path = tmp_path / "artifacts/reports/amazons" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(content))
        headlines.main("--system", "amazons")
        return json.loads((tmp_path / "artifacts/reports/amazons.headlines.json").read_text())["amazons"]

    return run


def test_figures_are_as_in_the_reports_of_the_chosen_reading(pick):
    nets = {"evaluate/soft_argmax.json": {"nets": {"from_to_top1": ESTIMATE, "value_brier": ESTIMATE}}}
    other = {"evaluate/cross_entropy.json": {"nets": {"from_to_top1": ESTIMATE | {"value": 0.45}}}}
    found = pick(nets | other | {"match.json": {"alphabeta": {"score": ESTIMATE | {"n": 10}, "wins": 4}}})
    assert found == {"from_to_top1": ESTIMATE, "score_vs_alphabeta": ESTIMATE | {"n": 10}, "residual_turn_top1": None}


def test_each_system_in_dvc_yaml_has_figures_of_the_graph():
    stages = yaml12.parse((ROOT / "dvc.yaml").read_text())["stages"]
    chosen = {system.word: (name, system.metrics) for name, system in SYSTEMS.items() if system.metrics}
    assert sorted(stages["report_headlines"]["foreach"]) == sorted(chosen)
    for name, figures in chosen.values():
        assert all(REGISTRY[name][figure].path for figure in figures)
    assert sum(len(figures) for _, figures in chosen.values()) <= 15


def test_dvc_shows_the_headlines_and_no_other_report():
    stages = yaml12.parse((ROOT / "dvc.yaml").read_text())["stages"]
    metrics = {name for name, stage in stages.items() if "metrics" in stage.get("do", stage)}
    assert metrics == {"report_headlines"}
