"""The figures of a run are kept by profile, compared with a later run, and name code and machine."""

import json

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.profile import switch_profile
from pipeline_src.report import figures as module
from pipeline_src.report.figures import agreement, commit, committed_run, figures, hardware, keep
from tests.report.project import git, report

MADE = {"seed": 1, "amazons_match": {"loss": "x"}}


def rerun(night, score, **made):
    """A match with an interval of 0.1 on both sides."""
    row = {"value": score, "low": score - 0.1, "high": score + 0.1, "n": 100}
    report(night, "amazons/match.json", {"random": {"score": row}}, "c0de", **{**MADE, **made})


@pytest.fixture
def night(tmp_path):
    """A checkout whose matches were made at the profile `overnight`, and whose samples at another one."""
    laptop = "profile: laptop\nseed: 1\namazons_match: {loss: x}\namazons_samples: {size: 10}\n"
    (tmp_path / "params.yaml").write_text(laptop)
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles/laptop.yaml").write_text(laptop)
    (tmp_path / "profiles/overnight.yaml").write_text("amazons_match: {loss: x}\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        git(tmp_path, *command)
    switch_profile("overnight", tmp_path)
    rerun(tmp_path, 0.9)
    report(tmp_path, "amazons/samples.json", {"games": 7}, amazons_samples={})
    known = {"joseki": {"games": {"ours": 5, "command": "x"}}, "amazons_net": {"games": {"ours": 6, "command": "x"}}}
    (tmp_path / "docs/measured").mkdir(parents=True)
    (tmp_path / "docs/measured/overnight.json").write_text(json.dumps(known))
    return tmp_path


def labels(night):
    row = figures(night)["amazons_net"]["score_vs_random"]
    return [one["label"] for one in (row, *row["others"])]


def test_figures_of_the_profile_are_kept_and_older_ones_stay(night):
    path, count = keep(night)
    assert count == 1
    kept = json.loads(path.read_text())
    row = kept["amazons_net"]["score_vs_random"]
    command = "zugwerk profile overnight && dvc repro amazons_match"
    said = {"ours": 0.9, "low": 0.8, "high": 1.0, "n": 100, "player": None, "code": "c0de", "seed": 1}
    assert (said | {"command": command}).items() <= row.items()
    assert kept["joseki"]["games"]["ours"] == 5
    assert kept["amazons_net"]["games"]["ours"] == 6  # the graph's was made with other params
    assert labels(night) == ["overnight", "overnight, committed"]


@pytest.mark.parametrize("made", [{}, {"seed": 2}])
def test_keep_refuses_a_run_of_unknown_or_other_params(night, made):
    report(night, "amazons/match.json", {"random": {"score": {"value": 0.9}}}, **made)
    before = (night / "docs/measured/overnight.json").read_text()
    with pytest.raises(ZugwerkError, match=r"overnight\.json: the graph has made nothing at the profile overnight"):
        keep(night)
    assert (night / "docs/measured/overnight.json").read_text() == before


def change_loss(night, loss):
    (night / "params.yaml").write_text((night / "params.yaml").read_text().replace("loss: x", f"loss: {loss}"))
    rerun(night, 0.9, amazons_match={"loss": loss})


@pytest.mark.parametrize(
    ("loss", "name", "option"),
    [
        ("z", "amazons_match.loss=z", "amazons_match.loss=z"),
        ("50% of my/loss", "amazons_match.loss=50%25 of my%2Floss", "'amazons_match.loss=50% of my/loss'"),
    ],
)
def test_run_with_changed_values_is_kept_separately(night, loss, name, option):
    keep(night)
    before = (night / "docs/measured/overnight.json").read_text()
    change_loss(night, loss)
    assert keep(night) == (night / f"docs/measured/overnight,{name}.json", 1)
    assert (night / "docs/measured/overnight.json").read_text() == before
    row = json.loads((night / f"docs/measured/overnight,{name}.json").read_text())["amazons_net"]["score_vs_random"]
    assert row["command"] == f"zugwerk profile overnight && dvc exp run -S {option} amazons_match"
    assert {"overnight", f"overnight,{name}"} <= {*labels(night)}


def test_run_with_many_changed_values_needs_its_own_profile(night):
    text = (night / "params.yaml").read_text()
    (night / "params.yaml").write_text(text.replace("seed: 1", "seed: 2").replace("x", "z").replace("10", "8"))
    with pytest.raises(ZugwerkError, match=r"params\.yaml: seed, amazons_match\.loss, amazons_samples\.size: not the"):
        keep(night)


def test_run_without_a_key_of_the_profile_is_kept_separately(night):
    params = night / "params.yaml"
    params.write_text(params.read_text().replace("amazons_samples: {size: 10}\n", ""))
    path, _ = keep(night)
    assert path.name == "overnight,~amazons_samples.json"
    row = json.loads(path.read_text())["amazons_net"]["score_vs_random"]
    assert row["command"] == "zugwerk profile overnight && dvc exp run -S '~amazons_samples' amazons_match"


def at_laptop(night):
    params = (night / "params.yaml").read_text()
    (night / "params.yaml").write_text(params.replace("overnight", "laptop"))
    return night


def test_reports_of_the_committed_profile_are_kept_too(night):
    reports = at_laptop(night) / "artifacts/reports"
    (reports / "amazons/curve.csv").write_text("step,loss\n1,0.5\n")
    (reports / "amazons/match.timings.json").write_text("{}")
    (reports / "amazons/board.svg").write_text("<svg/>")
    (night / "docs/measured/laptop/amazons").mkdir(parents=True)
    (night / "docs/measured/laptop/amazons/older.json").write_text("{}")
    (night / "docs/measured/laptop/joseki").mkdir()  # this checkout has not made it
    (night / "docs/measured/laptop/joseki/build.json").write_text("{}")
    assert keep(night) == (night / "docs/measured/laptop.json", 1)
    kept = night / "docs/measured/laptop"
    names = {path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file()}
    amazons = {"amazons/match.json", "amazons/samples.json", "amazons/curve.csv"}
    assert names == {"params.yaml", "joseki/build.json", *amazons}
    (reports / "amazons/curve.csv").write_text("step,loss\n1,0.25\n")
    with committed_run(night) as run:
        assert (run / "artifacts/reports/amazons/curve.csv").read_text() == "step,loss\n1,0.5\n"
        assert (run / "docs/measured/laptop.json").exists()


def test_a_run_agrees_with_the_kept_one_inside_its_intervals(night, monkeypatch):
    """The interval that was kept is 0.8 to 1."""
    assert agreement(at_laptop(night)) == [
        "1 headline figures; none of the profile laptop is committed to compare with"
    ]
    keep(night)
    assert agreement(night) == ["1 headline figures, all as committed"]
    rerun(night, 0.82)
    assert agreement(night) == ["1 headline figures, all inside the committed intervals (bits differ)"]
    monkeypatch.setattr(module, "hardware", lambda: "another one")
    assert agreement(night)[0].endswith("(bits differ from one kind of processor to another)")
    rerun(night, 0.75)
    told, outside = agreement(night)
    assert told.startswith("1 headline figures, 0 inside the committed intervals, 1 outside (bits differ from")
    assert outside == "  amazons_net.score_vs_random: 0.750, committed 0.800 to 1.000"
    (night / "artifacts/reports/amazons/match.json").unlink()
    assert agreement(night) == []


def test_counts_must_agree_and_times_are_not_compared(night):
    report(at_laptop(night), "amazons/samples.json", {"games": 7}, seed=1)
    report(night, "joseki/evaluate.json", {}, seed=1)
    times = night / "artifacts/reports/joseki/evaluate.timings.json"
    times.write_text(json.dumps({"encode_us": 0.5}))
    keep(night)
    times.write_text(json.dumps({"encode_us": 0.7}))
    report(night, "amazons/samples.json", {"games": 8}, seed=1)
    assert agreement(night) == [
        "2 headline figures, 1 inside the committed intervals, 1 outside (bits differ)",
        "  amazons_net.games: 8, committed 7",
    ]


def test_only_changed_code_marks_the_commit(tmp_path):
    assert commit(tmp_path) is None
    git(tmp_path, "init")
    (tmp_path / "params.yaml").write_text("seed: 1\n")
    (tmp_path / "dvc.lock").write_text("a")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "x")
    head = git(tmp_path, "rev-parse", "--short=10", "HEAD")
    assert commit(tmp_path) == head
    (tmp_path / "dvc.lock").write_text("b")
    assert commit(tmp_path) == head
    (tmp_path / "params.yaml").write_text("seed: 2\n")
    assert commit(tmp_path) == f"{head}+"


def test_hardware_counts_cores_and_gpus(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "GPUS", tmp_path)
    cores, words = hardware().split(" ", 1)
    assert int(cores) >= 1
    assert words.startswith("core")
    for bus, name in (("a", "NVIDIA L4"), ("b", "NVIDIA H100 80GB HBM3"), ("c", "NVIDIA L4")):
        (tmp_path / bus).mkdir()
        (tmp_path / bus / "information").write_text(f"Model: \t\t {name}\nIRQ:   \t\t 99\n")
    assert hardware() == f"2 NVIDIA L4 and 1 NVIDIA H100 80GB HBM3 and {cores} {words}"
