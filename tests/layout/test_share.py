"""docs/share.md: what one clone pushed brings another up to date, though it has none of the other's times."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.layout.imports import ROOT

DVC_YAML = """
stages:
  make:
    cmd: python make.py
    deps: [make.py]
    outs: [artifacts/models, artifacts/reports/board/6.json]
  evaluate:
    cmd: echo ran >> runs.txt && cp artifacts/reports/board/6.json artifacts/reports/board.headlines.json
    deps: [artifacts/reports/board, artifacts/models]
    metrics:
      - artifacts/reports/board.headlines.json: {cache: false}
"""
NEVER_RUN = """
  later:
    cmd: echo later > artifacts/records/later.txt
    outs: [artifacts/records/later.txt]
"""
MAKE = """
import os, time
os.makedirs("artifacts/models"), os.makedirs("artifacts/reports/board", exist_ok=True)
open("artifacts/models/a.pt", "w").write("weights"), open("artifacts/models/b.pt", "w").write("others")
open("artifacts/reports/board/6.json", "w").write('{"games": 6}')
open("artifacts/reports/board/6.timings.json", "w").write(f'{{"seconds": {time.time()}}}')
"""


def run(folder, *words):
    environment = os.environ | {"DVC_NO_ANALYTICS": "1"}
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def dvc(folder, *words):
    return run(folder, sys.executable, "-m", "dvc", *words)


@pytest.fixture
def clone(tmp_path, request):
    """A clone of a checkout that has pushed what its stages made; stages given by the test were never run there."""
    first = tmp_path / "first"
    first.mkdir()
    run(first, "git", "init", "-q", "-b", "main")
    dvc(first, "init", "-q")
    for name in (".gitignore", ".dvcignore", ".dvc/config"):
        shutil.copyfile(ROOT / name, first / name)
    (first / "dvc.yaml").write_text(DVC_YAML + getattr(request, "param", ""))
    (first / "make.py").write_text(MAKE)
    dvc(first, "remote", "add", "-d", "storage", str(tmp_path / "remote"))
    dvc(first, "repro", "evaluate")
    run(first, "git", "add", "-A")
    run(first, "git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "All")
    dvc(first, "push")
    run(tmp_path, "git", "clone", "-q", str(first), str(tmp_path / "clone"))
    return tmp_path / "clone"


@pytest.mark.slow
def test_a_fresh_clone_pulls_and_has_nothing_to_run(clone):
    made = {path.relative_to(clone).as_posix() for path in (clone / "artifacts").rglob("*") if path.is_file()}
    assert made == {"artifacts/reports/board.headlines.json"}  # in git: the headline figures alone, no list of DVC's
    dvc(clone, "pull")
    assert (clone / "artifacts/models/a.pt").read_text() == "weights"
    assert (clone / "artifacts/reports/board/6.json").exists()
    assert not (clone / "artifacts/reports/board/6.timings.json").exists()
    assert "Running stage" not in dvc(clone, "repro")
    assert (clone / "runs.txt").read_text() == "ran\n"  # of the first checkout
    assert run(clone, "git", "status", "--porcelain") == ""


@pytest.mark.slow
@pytest.mark.parametrize("clone", [NEVER_RUN], indirect=True)
def test_one_system_is_pulled_where_the_others_were_never_run(clone):
    dvc(clone, "pull", "--with-deps", "evaluate")
    assert (clone / "artifacts/models/a.pt").read_text() == "weights"
    assert "Running stage" not in dvc(clone, "repro", "evaluate")
