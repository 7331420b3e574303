"""DVC's differences between two versions: params, metrics and plots, and the table of experiments.

DVC runs as a command of its own: the package imports none of it.
"""

import csv
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.project import plots_page
from pipeline_src.project.revision import Revision

Changes = dict[str, dict[str, dict[str, Any]]]
"""``{file: {dotted key: {old, new}}}``."""


def params_changes(a: Revision, b: Revision, project: Path = Path()) -> Changes:
    """`dvc params diff`: the values of params.yaml that differ."""
    return _changes(a, b, project, "params", "diff", "--json")


def metrics_changes(a: Revision, b: Revision, project: Path = Path()) -> Changes:
    """`dvc metrics diff --all`: every number of every metrics file, alike or not."""
    return _changes(a, b, project, "metrics", "diff", "--all", "--json")


def experiments(a: Revision, b: Revision, project: Path = Path()) -> list[list[str]]:
    """`dvc exp show --only-changed`, turned: a row a metric or param that varies, a column a version or experiment.

    The first column has the names; empty if there is nothing to show.
    """
    revisions = [word for one in (a, b) if one.for_dvc for word in ("--rev", one.for_dvc)]
    hidden = ["--hide-workspace"] * all(one.for_dvc for one in (a, b))
    dropped = ["--drop", r".*\.(low|high|n)$"]
    text = run_dvc(project, "exp", "show", "--csv", "--only-changed", *dropped, *hidden, *revisions)
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    return [list(column) for column in zip(*rows, strict=True)]


def write_plots(a: Revision, b: Revision, out: Path, project: Path = Path()) -> None:
    """`dvc plots diff`: write ``out/index.html``, which holds the drawing library and opens offline.

    Raises:
        ZugwerkError: DVC is missing or fails.
    """
    page = project / plots_page.PAGE
    if not page.exists():
        plots_page.write(page)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)  # DVC makes the last folder only
    run_dvc(project, "plots", "diff", "--out", str(out.resolve()), *_names(a, b))


def _changes(a: Revision, b: Revision, project: Path, *words: str) -> Changes:
    text = run_dvc(project, *words, *_names(a, b))
    try:
        return json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise ZugwerkError(f"dvc {' '.join(words)}: its answer is no JSON ({error})") from None


def _names(a: Revision, b: Revision) -> list[str]:
    """One name means: against the working tree."""
    if a.for_dvc is None:
        raise ZugwerkError(
            "the working tree can only be the second of two versions; give a commit or an experiment first"
        )
    return [a.for_dvc, *([b.for_dvc] if b.for_dvc else [])]


def run_dvc(project: Path, *words: str) -> str:
    """Run `dvc` and return its standard output.

    Raises:
        ZugwerkError: DVC is missing or fails.
    """
    if importlib.util.find_spec("dvc") is None:
        raise ZugwerkError("dvc is not installed beside zugwerk; `make setup` or `pip install dvc` brings it")
    # DVC's page for plots is named relative to .dvc/, and a pager or colours would spoil what is read here.
    env = os.environ | {"DVC_NO_ANALYTICS": "1", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "dvc", *words]
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        said = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
        raise ZugwerkError(f"`dvc {' '.join(words[:2])}` failed: {said[0] if said else f'status {done.returncode}'}")
    return done.stdout
