"""Reports of a project, and a small project with two commits and an experiment's ref, for the tests of comparing."""

import json
import shutil
import subprocess
from pathlib import Path

DVC_YAML = """
stages:
  amazons_match:
    cmd: "true"
    params: [seed, amazons_match]
    outs:
      - artifacts/reports/amazons/curve.csv: {cache: false}
    metrics:
      - artifacts/reports/amazons/match.json: {cache: false}
plots:
  - curve:
      x: step
      y:
        artifacts/reports/amazons/curve.csv: loss
"""
IDENTITY = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]


def git(folder, *words):
    done = subprocess.run(["git", *IDENTITY, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def estimate(value, low, high, n=100):
    return {"value": value, "low": low, "high": high, "n": n}


def report(folder, name, metrics, code=None, **params):
    """A report below artifacts/reports that says it was made with these params, sections or values; unknown without."""
    path = folder / "artifacts/reports" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    said = {"made_by": {"stage": "stage", "code": code, "params": params}} if params else {}
    path.write_text(json.dumps({**metrics, **said}))
    return path


def write(folder, score, loss, seed=1, wins=10, extra=None):
    """The files of one version: a headline figure and other metrics."""
    reports = folder / "artifacts/reports/amazons"
    reports.mkdir(parents=True, exist_ok=True)
    match = {"random": {"score": score, "wins": wins, "margin": estimate(loss, loss - 1, loss + 1)}, **(extra or {})}
    (reports / "match.json").write_text(json.dumps(match))
    (reports / "samples.json").write_text(json.dumps({"games": 5, "sources": {"engine": 5, "file": 0}}))
    (reports / "curve.csv").write_text(f"step,loss\n1,2.0\n2,{loss}\n")
    (folder / "params.yaml").write_text(f"profile: smoke\nseed: {seed}\namazons_match: {{loss: x, pairs: {wins}}}\n")


def make_project(folder):
    """Commit A: a score of 0.2; commit B: 0.8, apart from it; the working tree is B's. Also the experiment ``wide``."""
    git(folder, "init", "-q", "-b", "main")
    (folder / ".dvc").mkdir()
    (folder / ".dvc/.gitignore").write_text("/config.local\n/tmp\n/cache\n/plots.html\n")
    shutil.copy(Path(__file__).parents[2] / ".dvc/config", folder / ".dvc/config")
    (folder / "dvc.yaml").write_text(DVC_YAML)
    (folder / ".gitignore").write_text("/work/\n")
    write(folder, estimate(0.2, 0.1, 0.3), 1.5, extra={"<b>gone</b>": {"wins": 3}})
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "One <script>alert(1)</script>")
    write(folder, estimate(0.8, 0.7, 0.9), 1.25, seed=2, wins=12)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Two")
    base = git(folder, "rev-parse", "HEAD")
    git(folder, "update-ref", f"refs/exps/{base[:2]}/{base[2:]}/wide", "HEAD~1")
    return folder


# Small files as the stages write them, in the folder ``charts/checkout``.


CHECKOUT = Path(__file__).parent / "charts/checkout"
FILES = sorted(path.relative_to(CHECKOUT).as_posix() for path in CHECKOUT.rglob("*.*") if path.is_file())


def write_files(folder, names=FILES):
    """Write files of `FILES` into a checkout."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CHECKOUT / name, path)
