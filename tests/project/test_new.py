"""`zugwerk new`: a checkout around the installed package, and the wheel that carries its files."""

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline_src import yaml12
from pipeline_src.cli.app import app
from pipeline_src.project import new as module
from pipeline_src.project.code import private
from pipeline_src.project.graph import read_graph
from pipeline_src.project.params import read_tree
from pipeline_src.project.profile import profile_names, switch_profile
from pipeline_src.reference.stage_code import digests, record
from tests.layout.imports import ROOT

ENGINE = "zugwerk/_engine"  # Folder of the wheel with the packages that zugwerk stands on


def run(folder, *words):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DVC_NO_ANALYTICS": "1"}
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def small_page(monkeypatch):
    """The drawing libraries take seconds to bundle; `test_plots_page` looks at them."""
    monkeypatch.setattr("pipeline_src.project.plots_page.write", lambda page: page.write_text("{plot_divs}"))


@pytest.fixture
def checkout(tmp_path):
    told = CliRunner().invoke(app, ["new", str(tmp_path / "made")])
    assert told.exit_code == 0, told.output
    assert "next: cd" in told.output
    return tmp_path / "made"


def test_a_new_checkout_is_committed_and_takes_profiles(checkout):
    assert run(checkout, "git", "status", "--porcelain") == ""
    assert run(checkout, "git", "log", "--format=%an %s") == f"Zugwerk Zugwerk {module.__version__}\n"
    for name in ("params.yaml", "prefect.yaml", ".dvc/config", "flows/systems.py", "docs/measured/overnight.json"):
        assert (checkout / name).read_bytes() == (ROOT / name).read_bytes()
    assert not (checkout / "pipeline_src").exists()
    assert (checkout / ".dvc/plots.html").is_file()
    assert profile_names(checkout) == profile_names(ROOT)
    assert "is now the profile smoke" in switch_profile("smoke", checkout)


def test_graph_is_the_clones_without_the_package_as_dependency(checkout):
    ours, theirs = (yaml12.parse((folder / "dvc.yaml").read_text())["stages"] for folder in (checkout, ROOT))
    for mine, its in zip(ours.values(), theirs.values(), strict=True):
        mine, its = (stage.get("do", stage) for stage in (mine, its))
        deps = [dep for dep in its.pop("deps", []) if not dep.startswith("pipeline_src/")]
        assert mine.pop("deps", []) == deps
    assert ours == theirs
    assert {path.name for path in (checkout / ".dvc/plots").iterdir()} >= {"linear.json", "theme.json"}
    assert yaml12.parse((checkout / "dvc.yaml").read_text())["artifacts"].keys() == {
        "amazons-residual-run",
        "amazons-rays-run",
        "joseki-library-run",
    }
    assert read_graph(checkout / "dvc.yaml").keys() == read_graph(ROOT / "dvc.yaml").keys()


def test_a_folder_with_files_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    for folder in (tmp_path, tmp_path / "mine.txt"):
        told = CliRunner().invoke(app, ["new", str(folder)])
        assert "there is something already; name a new or empty folder" in str(told.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("there", [True, False])
def test_a_failure_leaves_nothing(tmp_path, monkeypatch, there):
    folder = tmp_path / "made"
    if there:
        folder.mkdir()
    monkeypatch.setattr(module, "AUTHOR", ("--no-such-option",))
    with pytest.raises(module.ZugwerkError, match="git init failed: unknown option"):
        module.new(folder, record)
    assert folder.exists() == there
    assert not there or not list(folder.iterdir())


def test_dvc_keeps_its_state_where_no_other_user_can_write(checkout, tmp_path):
    """DVC unpickles it, and by default it is below /var/tmp/dvc, which is open to all."""
    local = checkout / ".dvc/config.local"
    local.write_text("['remote \"mine\"']\nurl = /mnt/mine\n")
    (checkout / ".dvc/plots.html").unlink()
    for _ in range(2):
        module.write_local(checkout)
    settings = ConfigParser(interpolation=None)
    settings.read(local)
    state = Path(settings["core"]["site_cache_dir"])
    assert settings.sections() == ["'remote \"mine\"'", "core"]
    assert state.is_dir()
    assert private(state)


@pytest.mark.parametrize("words", [["repro"], ["status"], ["profile", "smoke"]])
def test_graph_commands_elsewhere_explain_how_to_get_a_checkout(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(app, words)
    assert "no dvc.yaml here; run this in a checkout: `zugwerk new FOLDER` writes one" in str(told.exception)
    assert not list(tmp_path.iterdir())


def test_wheel_contains_files_of_a_checkout():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    packed = {name: f"{ENGINE}/pipeline_src/checkout/{name}" for name in sorted(module.FILES)}
    assert wheel["force-include"] == {"zugwerk/zugwerk.pth": "zugwerk.pth", **packed}
    assert {path.split("/")[0] for path in module.INSTALLED.values()} <= set(wheel["only-include"])
    assert (ROOT / "zugwerk/zugwerk.pth").read_text().split() == [ENGINE]


@pytest.mark.slow
def test_stages_of_a_new_checkout_run_once(checkout):
    dvc = [sys.executable, "-P", "-m", "dvc"]
    target = "joseki_records"
    params = checkout / "params.yaml"
    params.write_text(params.read_text().replace("    games: 1000\n", "    games: 20\n", 1))
    run(checkout, *dvc, "repro", target)
    made = json.loads((checkout / "artifacts/code.json").read_text())["code"]
    assert made == digests(read_graph(checkout / "dvc.yaml"), read_tree(params))
    report = json.loads((checkout / "artifacts/reports/joseki/records.json").read_text())["made_by"]
    values = {key: read_tree(params)[key] for key in ("joseki_records", "seed")}
    assert report == {"stage": target, "code": made[target], "params": values}
    again = run(checkout, *dvc, "repro", target)
    assert f"Stage '{target}' didn't change, skipping" in again


@pytest.mark.slow
def test_the_same_sources_give_the_same_wheel_and_sdist(tmp_path):
    pytest.importorskip("hatchling", reason="`make setup` installs it")
    tracked = run(ROOT, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    made = []
    for name in ("one", "two"):
        for path in filter(None, tracked):
            if (ROOT / path).is_file():
                (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / name / path).write_bytes((ROOT / path).read_bytes())
        run(tmp_path / name, sys.executable, "-P", "-m", "hatchling", "build", "-d", str(tmp_path / f"{name}-dist"))
        made.append({path.name: path.read_bytes() for path in (tmp_path / f"{name}-dist").iterdir()})
    assert made[0] == made[1]
    assert {name.rpartition(".")[2] for name in made[0]} == {"whl", "gz"}
    (wheel,) = (tmp_path / "one-dist").glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    (source,) = (tmp_path / "one-dist").glob("*.tar.gz")
    with tarfile.open(source) as tar:
        sources = {name.partition("/")[2] for name in tar.getnames()}
    places = ("", f"{ENGINE}/", f"{ENGINE}/pipeline_src/checkout/")
    lacking = {name for name in names if not any(name.removeprefix(place) in sources for place in places)}
    assert {name.split("/")[0] for name in lacking} == {"zugwerk.pth", f"zugwerk-{module.__version__}.dist-info"}
    assert {f"{places[2]}dvc.yaml", f"{places[2]}flows/systems.py", f"{ENGINE}/spiders/spider.py"} <= names
    assert {name.split("/")[0] for name in names} == {
        "zugwerk",
        "zugwerk.pth",
        f"zugwerk-{module.__version__}.dist-info",
    }
    assert not [name for name in names if ".pyc" in name]
