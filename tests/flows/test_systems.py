import json
import logging
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from flows import CHECKOUT, SETTINGS, systems
from flows.__main__ import parse
from flows.systems import FLOWS, LIMIT_MINUTES, REPORTS_URL, RETRIES, page_link, reproduce, results_table
from pipeline_src import yaml12
from pipeline_src.project.dvc_run import NO_LIMIT_S
from pipeline_src.project.graph import GRAPH, read_graph
from pipeline_src.project.schedule import cores


def test_commit_has_lock_and_reports_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "get_run_logger", lambda: logging.getLogger("test"))
    work = tmp_path / "work"

    def git(*words: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=b@c"]
        return subprocess.run(["git", *who, *words], cwd=work, check=True, capture_output=True, text=True).stdout

    def write(text: str) -> None:
        for name in ("params.yaml", "staged.txt", "reports/a.json", "nets.pt"):
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(text)
        outs = "".join(f"    - {{path: {name}, md5: {text}}}\n" for name in ("nets.pt", "reports/a.json", "gone.json"))
        (work / "dvc.lock").write_text(f"stages:\n  a:\n    outs:\n{outs}")

    write("1")
    (work / ".gitignore").write_text("nets.pt\n")
    git("init", "-q", "--bare", str(tmp_path / "origin"))
    git("init", "-q")
    git("remote", "add", "origin", str(tmp_path / "origin"))
    git("add", ".")
    git("commit", "-qm", "x")
    write("2")
    (work / "notes.txt").write_text("my own")
    git("add", "staged.txt")
    systems.push_commit.fn(work, "brave-owl")
    assert git("show", "--format=", "--name-only", "HEAD").split() == ["dvc.lock", "reports/a.json"]
    assert git("status", "--short").splitlines() == [" M params.yaml", "M  staged.txt", "?? notes.txt"]
    assert git("ls-remote", "origin", "runs/brave-owl").startswith(git("rev-parse", "HEAD").strip())


@pytest.fixture
def measured(checkout: Path) -> Path:
    """A checkout with a metrics file of one system and a measurement of another."""
    (checkout / "artifacts" / "reports" / "joseki").mkdir(parents=True)
    metrics = {"games": 1_000, "patterns": 13_843, "clashes_ours": 0}
    (checkout / "artifacts" / "reports" / "joseki" / "build.json").write_text(json.dumps(metrics))
    (checkout / "docs" / "measured").mkdir(parents=True)
    doubling = {"elo_per_doubling": {"value": 104.28333, "low": 61.5, "high": 147.068433, "n": 300}}
    (checkout / "docs" / "measured" / "amazons_engine.json").write_text(json.dumps(doubling))
    return checkout


def test_a_row_has_published_ours_interval_and_ratio(measured: Path) -> None:
    rows = {(row["system"], row["figure"]): row for row in results_table(measured)}

    def shown(system: str, figure: str) -> list[str]:
        return [rows[system, figure][column] for column in ("published", "ours", "interval", "ratio")]

    assert shown("joseki", "games") == ["507", "1,000", "-", "1.97"]
    assert shown("joseki", "patterns") == ["27,686", "13,843", "-", "0.5"]
    assert shown("joseki", "clashes_ours") == ["-", "0", "-", "-"]
    assert shown("amazons_engine", "elo_per_doubling") == ["-", "104", "62 to 147", "-"]
    assert shown("search_depth", "positions") == ["81,742,572", "not made yet", "-", "-"]
    assert rows["joseki", "games"]["command"] == "dvc repro joseki_build"


@pytest.mark.parametrize(
    ("system", "headings"),
    [
        ("amazons", {"amazons_net", "amazons_engine"}),
        ("gomoku", {"gomoku_zero", "gomoku_engine"}),
        ("growing", {"growing_boards"}),
        ("joseki", {"joseki"}),
        ("depth", {"search_depth"}),
    ],
)
def test_flow_of_a_system_has_figures_of_its_stages(measured: Path, system: str, headings: set[str]) -> None:
    assert {row["system"] for row in results_table(measured, system)} == headings


def test_the_link_is_to_the_page_of_the_checkout(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert page_link(checkout) is None
    page = checkout / "artifacts" / "reports" / "index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    monkeypatch.setenv(REPORTS_URL, "http://127.0.0.1:4201")
    assert page_link(checkout) == page.as_uri()  # `make serve` shows the reports of its own checkout alone
    monkeypatch.setattr("flows.systems.CHECKOUT", checkout)
    assert page_link(checkout) == "http://127.0.0.1:4201/index.html"


# prefect.yaml.

PROJECT = yaml12.parse((CHECKOUT / "prefect.yaml").read_text())
DEPLOYED = PROJECT["deployments"]


def test_version_of_prefect_is_that_of_the_lock():
    locked = (CHECKOUT / "requirements.lock").read_text().splitlines()
    machines = yaml12.parse((CHECKOUT / "flows/machines.yaml").read_text())
    assert f"prefect=={PROJECT['prefect-version']}" in locked
    assert machines["prefect-version"] == PROJECT["prefect-version"]


def test_own_prefect_commands_have_the_home_of_the_flows():
    own = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["prefect"]
    assert str(CHECKOUT / own["home"]) == SETTINGS["PREFECT_HOME"]
    assert str(own["server"]["analytics_enabled"]).lower() == SETTINGS["PREFECT_SERVER_ANALYTICS_ENABLED"]


def test_every_flow_has_a_deployment():
    places = [one["entrypoint"].split(":") for one in DEPLOYED]
    assert {name for _, name in places} == FLOWS.keys()
    assert {file for file, _ in places} == {"flows/systems.py"}


def test_deployments_have_parameters_of_flows_and_targets_of_the_graph():
    stages = read_graph(CHECKOUT / GRAPH)
    targets = {one["name"]: one["parameters"]["targets"] for one in DEPLOYED if "targets" in one.get("parameters", {})}
    crawls = [name for name in stages if name.endswith("_crawl")]
    measure = ("_baselines", "_evaluate", "_match", "_calibration", "_page")
    assert targets == {"crawl": crawls, "evaluation": [name for name in stages if name.endswith(measure)]}
    for one in DEPLOYED:
        flow = FLOWS[one["entrypoint"].partition(":")[2]]
        assert one.get("parameters", {}).keys() <= flow.parameters.properties.keys()


@pytest.mark.parametrize("target", ["amazons_crawl", "joseki_build"])
def test_only_a_crawl_is_refreshed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, target: str
) -> None:
    chosen: list[str] = []
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(systems, "get_run_logger", lambda: logging.getLogger("test"))
    monkeypatch.setattr(systems.Scheduler, "run", lambda scheduler, _: chosen.extend(scheduler.schedule.forced) or {})
    for name in (GRAPH, "params.yaml", "artifacts/code.json"):
        (checkout / name).parent.mkdir(exist_ok=True)
        shutil.copy(CHECKOUT / name, checkout / name)
    limits = {"jobs": 1, "limit_s": 60, "retries": 0, "refresh_crawl": True}
    systems.bring_up_to_date([target], None, checkout, **limits)
    crawls = target == "amazons_crawl"
    assert chosen == ([target] if crawls else [])
    assert ("no target is a crawl" in caplog.text) != crawls


def test_the_options_are_the_flow_s_parameters() -> None:
    assert parse(reproduce, []) == {
        "targets": [],
        "jobs": cores(),
        "refresh_crawl": False,
        "limit_minutes": LIMIT_MINUTES,
        "retries": RETRIES,
        "push": True,
        "commit": False,
        "checkout": CHECKOUT,
    }
    given = parse(reproduce, ["--target", "a", "--target", "b", "--refresh-crawl", "--no-push", "--checkout", "there"])
    assert (given["targets"], given["checkout"]) == (["a", "b"], Path("there"))
    assert (given["refresh_crawl"], given["push"]) == (True, False)


def test_an_endless_limit_is_the_longest() -> None:
    assert parse(reproduce, ["--limit-minutes", "inf"])["limit_minutes"] == NO_LIMIT_S / 60


def test_all_flows_have_the_same_options() -> None:
    for flow in FLOWS.values():
        assert parse(flow, []).keys() == flow.parameters.properties.keys() == parse(reproduce, []).keys()


@pytest.mark.parametrize(
    "wrong", [["--limit-minutes", "0"], ["--limit-minutes", "nan"], ["--retries", "-1"], ["--jobs", "0"]]
)
def test_a_wrong_number_names_its_option(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(reproduce, wrong)
    assert f"error: {wrong[0]} must be" in capsys.readouterr().err
