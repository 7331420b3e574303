"""DVC's differences between two versions: params, metrics and plots, and the table of experiments."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.project import plots_page
from pipeline_src.project.dvc_run import ask_dvc
from pipeline_src.reference.revision import Revision

REPORTS = Path("artifacts/reports")
"""Has a folder for each system. Reports end in .json, files of times in .timings.json."""
Changes = dict[str, dict[str, dict[str, Any]]]
"""Changed values as ``{file: {dotted key: {old, new}}}``."""


def params_changes(a: Revision, b: Revision, project: Path = Path()) -> Changes:
    """Return the values of params.yaml that differ (`dvc params diff`)."""
    return _changes(a, b, project, "params", "diff", "--json")


def metrics_changes(a: Revision, b: Revision, project: Path = Path()) -> Changes:
    """Return every number of every report, equal or not (`dvc metrics diff --all`)."""
    found = ((one.folder, path) for one in (a, b) for path in (one.folder / REPORTS).glob("*/**/*.json"))
    files = {path.relative_to(folder).as_posix() for folder, path in found if not path.name.endswith(".timings.json")}
    return _changes(a, b, project, "metrics", "diff", "--all", "--json", "--targets", *sorted(files), "--")


def experiments(a: Revision, b: Revision, project: Path = Path()) -> list[list[str]]:
    """Return `dvc exp show --only-changed` transposed: a row for each metric or param that varies, a column a version.

    Experiments are versions too. The first column has the names; the table is empty if there is nothing to show.
    """
    revisions = [word for one in (a, b) if one.for_dvc for word in ("--rev", one.for_dvc)]
    hidden = ["--hide-workspace"] * all(one.for_dvc for one in (a, b))
    dropped = ["--drop", r".*\.(low|high|n)$|(.*:)?code\..*"]
    text = ask_dvc(project, "exp", "show", "--csv", "--only-changed", *dropped, *hidden, *revisions)
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    return [list(column) for column in zip(*rows, strict=True)]


def write_plots(a: Revision, b: Revision, out: Path, project: Path = Path()) -> None:
    """Write ``out/index.html`` by `dvc plots diff`; it contains the drawing library and opens offline.

    Raises:
        ZugwerkError: DVC is missing or fails.
    """
    page = project / plots_page.PAGE
    if not page.exists():
        plots_page.write(page)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)  # DVC creates only the last folder
    template = ["--html-template", str(page.resolve())]
    ask_dvc(project, "plots", "diff", "--out", str(out.resolve()), *template, *_names(a, b))


def _changes(a: Revision, b: Revision, project: Path, *words: str) -> Changes:
    text = ask_dvc(project, *words, *_names(a, b))
    try:
        return json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise ZugwerkError(f"dvc {' '.join(words)}: its answer is not JSON ({error})") from None


def _names(a: Revision, b: Revision) -> list[str]:
    """Return the arguments for two versions; the working tree is the second one if none is given."""
    if a.for_dvc is None:
        raise ZugwerkError(
            "the working tree can only be the second of two versions; give a commit or an experiment first"
        )
    return [a.for_dvc, *([b.for_dvc] if b.for_dvc else [])]
