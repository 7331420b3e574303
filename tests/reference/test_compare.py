"""Two versions of a project: how they are found, and what differs between them."""

import importlib.util
import json
import re

import pytest

from pipeline_src.cli.project import compare as command
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.dvc_run import ask_dvc
from pipeline_src.reference.compare import WORKSPACE, Estimate, Pair, compare, number, params_changes, read_revision
from tests.report.project import estimate, git, make_project, report, write


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"))


def both(project, a="HEAD~1", b="HEAD"):
    return compare(read_revision(a, project), read_revision(b, project), project)


def test_revision_is_commit_experiment_or_working_tree(project, tmp_path):
    one = read_revision("HEAD~1", project)
    assert one.params["seed"] == 1
    assert one.commit == read_revision("wide", project).commit == git(project, "rev-parse", "HEAD~1")
    assert one.commit.startswith(one.for_dvc)
    assert one.title == f"HEAD~1 ({one.commit[:7]})"
    other = make_project(tmp_path)
    one = read_revision(WORKSPACE, other)
    assert (one.changed, one.for_dvc) == (False, None)
    write(other, estimate(0.5, 0.4, 0.6), 1.0)
    one = read_revision(WORKSPACE, other)
    assert one.changed
    assert one.title.endswith(" and changes)")


def test_reports_missing_in_git_come_from_dvc_cache(tmp_path):
    project = make_project(tmp_path)
    text = (project / "dvc.yaml").read_text().replace("match.json: {cache: false}", "match.json")
    (project / "dvc.yaml").write_text(text)
    name = "artifacts/reports/amazons/match.json"
    git(project, "rm", "-q", "--cached", name)
    (project / ".gitignore").write_text(f"/work/\n/{name}\n")
    for score, subject in ((0.3, "Three"), (0.4, "Four")):
        write(project, estimate(score, 0.2, 0.5), 1.5)
        ask_dvc(project, "commit", "--force")
        git(project, "add", "-A")
        git(project, "commit", "-qm", subject)
    (score,) = both(project).shown(False)
    assert (score.a.value, score.b.value) == (0.3, 0.4)


def test_headlines_in_git_stand_for_reports_that_are_gone(tmp_path):
    project = make_project(tmp_path)
    (project / "artifacts/reports/amazons/match.json").unlink()
    headlines = project / "artifacts/reports/amazons.headlines.json"
    headlines.write_text(json.dumps({"amazons": {"score_vs_random": estimate(0.6, 0.5, 0.7)}}))
    found = both(project, "HEAD", WORKSPACE)
    (score,) = found.shown(False)
    assert (score.a.value, score.b) == (0.8, Estimate(0.6, 0.5, 0.7))
    assert not [pair for pair in found.metrics if "headlines" in pair.group]


@pytest.mark.parametrize("name", ["nowhere", "--upload-pack=x", "-h", "HEAD:params.yaml", ""])
def test_an_unknown_revision_is_a_clear_error(project, name):
    with pytest.raises(ZugwerkError, match="git knows no revision"):
        read_revision(name, project)


def test_experiments_with_the_same_name_need_their_refs(tmp_path):
    project = make_project(tmp_path)
    base = git(project, "rev-parse", "HEAD~1")
    git(project, "update-ref", f"refs/exps/{base[:2]}/{base[2:]}/wide", "HEAD")
    with pytest.raises(ZugwerkError, match="several experiments are called 'wide'; give one of refs/exps/"):
        read_revision("wide", project)
    one = read_revision(f"refs/exps/{base[:2]}/{base[2:]}/wide", project)
    assert one.commit == git(project, "rev-parse", "HEAD")


def test_a_revision_without_metrics_and_a_folder_without_git(tmp_path, monkeypatch):
    plain = tmp_path / "plain"
    plain.mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(ZugwerkError, match="not a git repository"):
        read_revision("HEAD", plain)
    git(plain, "init", "-q", "-b", "main")
    with pytest.raises(ZugwerkError, match="git knows no revision 'HEAD'"):
        read_revision("HEAD", plain)
    git(plain, "commit", "-q", "--allow-empty", "-m", "Nothing")
    with pytest.raises(ZugwerkError, match="no metrics in artifacts/reports; `dvc repro` makes"):
        read_revision("HEAD", plain)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ZugwerkError, match="git is not installed"):
        read_revision("HEAD", plain)


def test_figures_params_and_other_metrics_are_compared(project):
    found = both(project)
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
    found = both(project, "HEAD", WORKSPACE)
    (score,) = found.shown(False)
    assert (score.a.value, score.b.value, score.apart) == (0.8, 0.75, False)
    assert found.params == []
    assert found.metrics == []  # what made a report is no metric
    report(project, "amazons/other.json", {"a": 1}, pairs=5)
    assert [(pair.group[-10:], pair.name) for pair in both(project, "HEAD", WORKSPACE).metrics] == [("other.json", "a")]


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
    a = read_revision("HEAD", project)
    with pytest.raises(ZugwerkError, match="dvc is not installed"):
        params_changes(a, a, project)


def test_errors_of_dvc_are_passed_on(project, tmp_path):
    (tmp_path / "params.yaml").write_text("seed: 1\n")
    a = read_revision("HEAD", project)
    with pytest.raises(ZugwerkError, match="`dvc params diff` failed: "):
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
