"""docs/how-to/add-a-system.md, followed in a copy of the project."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from pipeline_src import yaml12
from tests.layout.imports import ROOT

PAGE = ROOT / "docs" / "how-to" / "add-a-system.md"
FILE = re.compile(r"^`([\w./-]+)`:\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DIFF = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPIED = ("pipeline_src", "spiders", "flows", "docs", "profiles", ".dvc/plots")
WRITTEN = ("dvc.yaml", "params.yaml", "prefect.yaml", "Makefile", "README.md", "pyproject.toml", ".gitignore")
SEEN = """
import json
from pathlib import Path
from flows.systems import FLOWS
from pipeline_src.project.graph import GRAPH, read_graph
from pipeline_src.project.params import read_tree
from pipeline_src.report.charts import charts
from pipeline_src.report.figures import figures
from pipeline_src.report.page import write_report
write_report(Path("artifacts/reports"))
found = figures()["random_games"]["first_wins"]
print(json.dumps({
    "figure": [found["ours"], found["command"]],
    "charts": [chart.name for chart in charts("random_games")],
    "flow": "random_games" in FLOWS,
    "target": "random_play" in read_graph(GRAPH, read_tree()),
}))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in WRITTEN:
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=a", "-c", "user.email=b@c", "commit", "-qm", "x")
    text = PAGE.read_text()
    for name, content in FILE.findall(text):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    for diff in DIFF.findall(text):
        subprocess.run(["git", "apply", "-"], cwd=folder, input=diff, text=True, check=True)
    return folder


@pytest.fixture(scope="module")
def made(copy):
    """The copy after its stages have run and `make docs` has."""
    for command in ("reference.stage_code", "systems.random_games.play", "report.headlines --system random"):
        run(copy, "-m", "pipeline_src.stage", *command.split())
    run(copy, "-m", "pipeline_src.reference")
    return copy


def git(folder, *words):
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def run(folder, *words):
    env = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_is_in_shape(copy):
    files = [name for name, _ in FILE.findall(PAGE.read_text()) if name.endswith(".py")]
    assert len(files) == 5
    run(copy, "-m", "ruff", "check", *files)
    run(copy, "-m", "ruff", "format", "--check", *files)


@pytest.mark.slow
def test_system_is_in_graph_report_and_flows(made):
    seen = json.loads(run(made, "-c", SEEN))
    share = json.loads((made / "artifacts/reports/random/play.json").read_text())["first_wins"]["value"]
    assert 0.3 < share < 0.8
    assert seen == {
        "figure": [share, "dvc repro random_play"],
        "charts": ["random-games"],
        "flow": True,
        "target": True,
    }
    assert "Wins of the first side in random games" in (made / "artifacts/reports/index.html").read_text()
    assert "random_play" in json.loads((made / "artifacts/code.json").read_text())["code"]
    headlines = json.loads((made / "artifacts/reports/random.headlines.json").read_text())
    assert headlines["random"]["first_wins"]["value"] == share


@pytest.mark.slow
def test_the_pages_and_deployments_are_made(made):
    assert "## Random games" in (made / "docs/results.md").read_text()
    assert "| `first_wins` | wins of the first side |" in (made / "docs/reference/metrics.md").read_text()
    assert "random_play" in json.loads((made / "docs/reference/params.schema.json").read_text())["properties"]
    deployed = yaml12.parse((made / "prefect.yaml").read_text())["deployments"]
    assert deployed[-1]["entrypoint"] == "flows/systems.py:random_games"


@pytest.mark.slow
def test_no_other_file_is_edited_by_hand(made):
    changed = {line[3:] for line in git(made, "status", "--porcelain").splitlines() if line.startswith(" M")}
    made = {name for name in changed if name.startswith("docs/")} | {"prefect.yaml", "README.md"}
    assert changed - made == {"dvc.yaml", "params.yaml"}
