"""Steps after a run: outputs are pushed to DVC's default remote; metrics, charts and results become artifacts.

DVC lists the files of the metrics, so a stage's new one in dvc.yaml appears without changes here.
"""

import base64
import json
import os
import re
import socket
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from prefect import task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger

from flows import CHECKOUT
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.dvc_run import ask_dvc, push
from pipeline_src.project.params import read_tree
from pipeline_src.project.schedule import Outcome
from pipeline_src.project.systems import systems
from pipeline_src.project.verify import LOCK
from pipeline_src.report.charts import charts, drawn, png
from pipeline_src.report.figures import figures
from pipeline_src.report.table import line

REPORTS = PurePosixPath("artifacts/reports")
DIGITS = 6
PAGE = Path("artifacts/reports/index.html")
REPORTS_URL = "ZUGWERK_REPORTS_URL"
"""Environment variable with the address of the page's folder under `make serve`."""

COLUMNS = ("published", "ours", "interval", "ratio", "unit", "profile", "player", "where", "command")
"""Cells of a line of the report's tables."""


@task(task_run_name="push", cache_policy=NO_CACHE, persist_result=False)
def push_outputs(targets: list[str], checkout: Path, limit_s: float) -> None:
    """Push the outputs of the targets and of their dependencies; without targets, of the whole graph.

    Without a default remote nothing is pushed, and the log says so.

    Raises:
        ZugwerkError: see `ask_dvc` and `push`.
    """
    log = get_run_logger()
    remote = ask_dvc(checkout, "config", "core.remote").strip()
    if not remote:
        log.info("nothing is pushed: DVC has no default remote here; `dvc remote add --default NAME URL` sets one")
        return
    push(targets, checkout, log.info, limit_s=limit_s)
    log.info("the remote '%s' is up to date", remote)


@task(task_run_name="commit", cache_policy=NO_CACHE, persist_result=False)
def push_commit(checkout: Path, run: str) -> None:
    """Commit dvc.lock and the outputs that git keeps, nothing else, and push to `origin` as the branch ``runs/<run>``.

    Raises:
        ZugwerkError: dvc.lock cannot be read, or git fails; the message ends with git's output.
    """
    machine = socket.gethostname()
    author = ["-c", "user.name=Zugwerk", "-c", f"user.email=zugwerk@{machine}"]
    branch = f"runs/{run}"
    outs = [out["path"] for stage in read_tree(checkout / LOCK)["stages"].values() for out in stage.get("outs", ())]
    files = _git(checkout, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", LOCK, *outs)
    paths = sorted(set(files.split("\0")) - {""})
    message = f"Results of {run} on {machine}"
    _git(checkout, "add", "--", *paths)
    _git(checkout, *author, "commit", "--quiet", "--allow-empty", "--message", message, "--only", "--", *paths)
    _git(checkout, "push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")
    get_run_logger().info("dvc.lock and the reports are in the branch '%s' of origin", branch)


def _git(checkout: Path, *words: str) -> str:
    command = ["git", "--literal-pathspecs", *words]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise ZugwerkError(f"`git {' '.join(words)}` failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


@task(task_run_name="publish", cache_policy=NO_CACHE, persist_result=False, retries=1)
def publish(checkout: Path, outcomes: list[Outcome], system: str | None = None) -> None:
    """Publish the executed targets, metrics and charts, of one system or of all.

    Raises:
        ZugwerkError: DVC cannot show the metrics, or a report is damaged.
    """
    log = get_run_logger()
    create_table_artifact(key="last-run", table=run_table(outcomes), description="What the last flow run did")
    for name, rows in sorted(metrics_tables(checkout).items()):
        if system in (None, name):
            create_table_artifact(key=f"{name}-metrics", table=rows, description=f"Metrics of {name}")
            log.info("published %d metrics of %s", len(rows), name)
    for name in drawn():
        if system in (None, name) and (page := charts_page(checkout, name)):
            create_markdown_artifact(key=f"{name}-plots", markdown=page, description=f"Charts of {name}")
            log.info("published the charts of %s", name)


def run_table(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """One row a target: outcome and time."""
    return [{"target": o.target, "state": o.state, "seconds": round(o.seconds, 1)} for o in outcomes]


def metrics_tables(checkout: Path) -> dict[str, list[dict[str, Any]]]:
    """Every metric that exists, as rows of report (its file within the system's folder), metric and value."""
    tables = defaultdict(list)
    answer = json.loads(ask_dvc(checkout, "metrics", "show", "--json")).get("", {})
    if failed := answer.get("error"):
        raise ZugwerkError(f"`dvc metrics show` failed: {failed['msg']}")
    for file, content in answer.get("data", {}).items():
        for metric, value in _flat(content.get("data", {})):  # a missing file has an error instead
            tables[_system(file)].append({"report": _within_system(file), "metric": metric, "value": value})
    return dict(tables)


def charts_page(checkout: Path, system: str) -> str:
    """The charts of a system that can be drawn, as pictures in one Markdown page; empty if there are none.

    Raises:
        ZugwerkError: a file that a chart is drawn from is damaged.
    """
    return "\n\n".join(
        f"### {chart.title}\n\n![{chart.title}]({_inline(png(chart))})\n\n{_literal(chart.caption)}"
        for chart in charts(system, checkout)
    )


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _inline(picture: bytes) -> str:
    """The picture as a data URL, since a page in the browser cannot load local files."""
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def _literal(text: str) -> str:
    """Escape the stars and underscores of paths for Markdown."""
    return re.sub(r"([*_])", r"\\\1", text)


def _system(name: str) -> str:
    """The system that a report belongs to: the first folder below `artifacts/reports`, or the first word."""
    return re.split(r"[^a-z0-9]", _below_reports(name).parts[0].lower())[0] or "all"


def _within_system(file: str) -> str:
    path = _below_reports(file).with_suffix("")
    return "/".join(path.parts[1:]) or str(path)


def _below_reports(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    return path.relative_to(REPORTS) if path.is_relative_to(REPORTS) else path


@task(task_run_name="publish results", cache_policy=NO_CACHE, persist_result=False, retries=1)
def publish_results(checkout: Path, system: str | None = None) -> None:
    """Publish the results of one system or of all, and a link to the report page if there is one.

    Raises:
        ZugwerkError: metrics or params.yaml cannot be read.
    """
    log = get_run_logger()
    rows = results_table(checkout, system)
    create_table_artifact(
        key=f"{system}-results" if system else "results",
        table=rows,
        description=f"Published and ours, {system or 'all systems'}; interval: 95 %; ratio: ours / published",
    )
    log.info("published %d results, %d of them measured", len(rows), sum(row["profile"] != "-" for row in rows))
    if link := page_link(checkout):
        create_link_artifact(key="report", link=link, link_text="Report", description="The report page of the last run")
        log.info("the report page: %s", link)


def results_table(checkout: Path, system: str | None = None) -> list[dict[str, str]]:
    """Every figure of the registry, as in the report: its values, and the profile, player, data and command of ours.

    Args:
        checkout: the folder that holds params.yaml, metrics and committed measurements.
        system: only the figures that this system's stages, or separate measurements, make.

    Returns:
        One row a figure; a dash for a missing published value or interval.
    """
    return [
        {"system": name, "figure": figure, **{column: getattr(line(row), column) for column in COLUMNS}}
        for name, rows in figures(checkout).items()
        if system in (None, systems()[name].word or name.split("_")[0])
        for figure, row in rows.items()
    ]


def page_link(checkout: Path) -> str | None:
    """Address of the report page; None if it has not been made."""
    page = (checkout / PAGE).resolve()
    if not page.is_file():
        return None
    served = os.environ.get(REPORTS_URL)
    return f"{served}/{PAGE.name}" if served and page == (CHECKOUT / PAGE).resolve() else page.as_uri()
