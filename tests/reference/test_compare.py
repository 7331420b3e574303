import importlib.util
import re

import pytest

from pipeline_src.cli.project import compare as command
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.dvc_run import ask_dvc
from pipeline_src.reference.compare import (
    Estimate,
    Pair,
    compare,
    number,
    opened,
    params_changes,
)
from tests.report.project import estimate, make_project, write

MATCH = "artifacts/reports/amazons/match.json"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"))


def test_figures_params_and_other_metrics_are_compared(project):
    with opened("HEAD~1", project) as a, opened("HEAD", project) as b:
        found = compare(a, b, project)
    figures = {pair.name: pair for pair in found.figures}
    assert set(figures) == {"score_vs_random", "games"}
    score = figures["score_vs_random"]
    assert score.a == Estimate(0.2, 0.1, 0.3)
    assert score.difference == pytest.approx(0.6)
    assert score.apart
    assert [pair.name for pair in found.shown(False)] == ["score_vs_random"]  # games are alike
    assert len(found.shown(True)) == 2
    assert found.params == [("amazons_match.pairs", 10, 12), ("seed", 1, 2)]
    metrics = {pair.name: pair for pair in found.metrics}
    assert set(metrics) == {"random.wins", "random.margin", "<b>gone</b>.wins"}  # the score is a headline figure
    assert metrics["random.margin"].a == Estimate(1.5, 0.5, 2.5)
    assert not metrics["random.margin"].apart
    assert metrics["<b>gone</b>.wins"].b.value is None


def test_the_working_tree_against_a_commit(tmp_path):
    project = make_project(tmp_path)
    write(project, estimate(0.75, 0.65, 0.85), 1.25, seed=2, wins=12)
    with opened("HEAD", project) as a, opened("workspace", project) as b:
        found = compare(a, b, project)
    (score,) = found.shown(False)
    assert (score.a.value, score.b.value, score.apart) == (0.8, 0.75, False)
    assert found.params == []
    assert found.metrics == []


def test_the_command_prints_tables(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    command("wide", "HEAD", True)
    printed = capsys.readouterr().out
    assert re.search(r"score_vs_random +0.2 +0.1 to 0.3 +0.8 +0.7 to 0.9 +\+0.6 \* +score", printed)
    assert re.search(r"amazons_match.pairs +10 +12", printed)
    assert re.search(r"A: wide \(.*profile smoke, seed 1: One <script>", printed)
    assert "other metrics, which" not in printed
    monkeypatch.setattr("pipeline_src.cli.project.MOST_METRICS", 1)
    command("wide", "HEAD", False)
    assert "and 2 other metrics, which --all shows" in capsys.readouterr().out
    with pytest.raises(ZugwerkError, match="can only be the second version"):
        command("workspace", "HEAD", True)


def test_dvc_draws_plots_in_clone_before_make_setup(tmp_path):
    """The project has the committed .dvc/config and no .dvc/plots.html."""
    project = make_project(tmp_path)
    ask_dvc(project, "plots", "diff", "--out", "drawn", "HEAD~1", "HEAD")
    assert "vega" in (project / "drawn/index.html").read_text()
    assert not (project / ".dvc/plots.html").exists()


def test_missing_dvc_is_reported_in_one_line(project, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with opened("HEAD", project) as a, pytest.raises(ZugwerkError, match="dvc is not installed"):
        params_changes(a, a, project)


def test_errors_of_dvc_are_passed_on(project, tmp_path):
    (tmp_path / "params.yaml").write_text("seed: 1\n")
    with opened("HEAD", project) as a, pytest.raises(ZugwerkError, match="`dvc params diff` failed: "):
        params_changes(a, a, tmp_path)


def test_intervals_are_disjoint_only_if_both_are_known():
    def apart(a, b):
        return Pair("", "", a, b).apart

    assert apart(Estimate(1, 0.5, 1.5), Estimate(3, 2, 4))
    assert apart(Estimate(3, 2, 4), Estimate(1, 0.5, 1.5))
    assert not apart(Estimate(1, 0.5, 2), Estimate(3, 2, 4))  # they touch
    assert not apart(Estimate(1), Estimate(3, 2, 4))
    assert not apart(Estimate(None), Estimate(None))


def test_numbers_as_text():
    assert [number(value) for value in (None, 0, 1234567, 0.123456, -0.5)] == ["-", "0", "1,234,567", "0.1235", "-0.5"]
    assert [number(value, "+") for value in (3, -2, 0.25)] == ["+3", "-2", "+0.25"]
