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
    outs:
      - artifacts/models
    metrics:
      - artifacts/reports/board/6.json: {cache: false}
  evaluate:
    cmd: echo ran >> runs.txt && cp artifacts/reports/board/6.json artifacts/reports/evaluate.json
    deps: [artifacts/reports/board, artifacts/models]
    metrics:
      - artifacts/reports/evaluate.json: {cache: false}
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


@pytest.mark.slow
def test_a_fresh_clone_pulls_and_has_nothing_to_run(tmp_path):
    first, clone = tmp_path / "first", tmp_path / "clone"
    first.mkdir()
    run(first, "git", "init", "-q", "-b", "main")
    dvc(first, "init", "-q")
    for name in (".gitignore", ".dvcignore", ".dvc/config"):
        shutil.copyfile(ROOT / name, first / name)
    (first / "dvc.yaml").write_text(DVC_YAML)
    (first / "make.py").write_text(MAKE)
    dvc(first, "remote", "add", "-d", "storage", str(tmp_path / "remote"))
    dvc(first, "repro")
    run(first, "git", "add", "-A")
    run(first, "git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "All")
    dvc(first, "push")
    run(tmp_path, "git", "clone", "-q", str(first), str(clone))
    assert not (clone / "artifacts/models").exists()
    assert (clone / "artifacts/reports/board/6.json").exists()  # git's
    assert not (clone / "artifacts/reports/board/6.timings.json").exists()
    dvc(clone, "pull")
    assert (clone / "artifacts/models/a.pt").read_text() == "weights"
    assert "Running stage" not in dvc(clone, "repro")
    assert (clone / "runs.txt").read_text() == "ran\n"  # of the first checkout
    assert run(clone, "git", "status", "--porcelain") == ""
