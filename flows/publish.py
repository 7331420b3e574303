"""Metrics and charts of the graph as Prefect artifacts: one table and one page of charts a system.

Which files the metrics are in is asked of DVC, so one that a stage declares in dvc.yaml shows up by itself.
"""

import base64
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from prefect import task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.dvc_run import ask_dvc
from pipeline_src.project.schedule import Outcome
from pipeline_src.report.charts import charts, drawn, png

REPORTS = PurePosixPath("artifacts/reports")
DIGITS = 6


@task(task_run_name="publish", cache_policy=NO_CACHE, persist_result=False, retries=1)
def publish(checkout: Path, outcomes: list[Outcome], system: str | None = None) -> None:
    """Publish what ran, the metrics and the charts, of one system or of all.

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
    """One row a target: what became of it, and how long it took."""
    return [{"target": o.target, "state": o.state, "seconds": round(o.seconds, 1)} for o in outcomes]


def metrics_tables(checkout: Path) -> dict[str, list[dict[str, Any]]]:
    """Every metric that exists, as rows of report (its file within the system's folder), metric and value."""
    tables = defaultdict(list)
    answer = json.loads(ask_dvc(checkout, "metrics", "show", "--json")).get("", {})
    if failed := answer.get("error"):
        raise ZugwerkError(f"`dvc metrics show` failed: {failed['msg']}")
    for file, content in answer.get("data", {}).items():
        for metric, value in _flat(content.get("data", {})):  # a file that is not made yet has an error instead
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
    """The picture as a data URL: a page in the browser cannot load files of this machine."""
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def _literal(text: str) -> str:
    """Text in which Markdown finds no emphasis: paths have stars and underscores."""
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
