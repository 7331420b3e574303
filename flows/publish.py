"""Metrics and plots of the graph as Prefect artifacts: one table and one page of plots a system.

Which files they are in is asked of DVC, so a metric or plot that a stage declares in dvc.yaml shows up by itself.
"""

import base64
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from prefect import task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger

from flows.draw import draw
from flows.targets import Outcome
from pipeline_src.errors import ZugwerkError

REPORTS = PurePosixPath("artifacts/reports")
LIMIT_S = 120
DIGITS = 6


@task(task_run_name="publish", cache_policy=NO_CACHE, persist_result=False, retries=1)
def publish(checkout: Path, outcomes: list[Outcome], system: str | None = None) -> None:
    """Publish what ran, the metrics and the plots, of one system or of all.

    Raises:
        ZugwerkError: DVC cannot show the metrics or plots.
    """
    log = get_run_logger()
    create_table_artifact(key="last-run", table=run_table(outcomes), description="What the last flow run did")
    for name, rows in sorted(metrics_tables(checkout).items()):
        if system in (None, name):
            create_table_artifact(key=f"{name}-metrics", table=rows, description=f"Metrics of {name}")
            log.info("published %d metrics of %s", len(rows), name)
    for name, page in sorted(plots_pages(checkout).items()):
        if system in (None, name):
            create_markdown_artifact(key=f"{name}-plots", markdown=page, description=f"Plots of {name}")
            log.info("published the plots of %s", name)


def run_table(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """One row a target: the stages that ran, and how long it took."""
    return [
        {"target": o.target, "ran": ", ".join(o.ran) or "up to date", "seconds": round(o.seconds, 1)} for o in outcomes
    ]


def metrics_tables(checkout: Path) -> dict[str, list[dict[str, Any]]]:
    """Every metric that exists, as rows of report (its file within the system's folder), metric and value."""
    tables = defaultdict(list)
    for file, content in _ask_dvc(checkout, "metrics", "show", "--json").get("", {}).get("data", {}).items():
        for metric, value in _flat(content.get("data", {})):  # a file that is not made yet has an error instead
            tables[_system(file)].append({"report": _within_system(file), "metric": metric, "value": value})
    return dict(tables)


def plots_pages(checkout: Path) -> dict[str, str]:
    """Every plot that exists, drawn into one Markdown page a system."""
    pages: dict[str, list[str]] = defaultdict(list)
    for name, entries in _ask_dvc(checkout, "plots", "show", "--json").get("data", {}).items():
        for entry in entries:
            is_image = entry["type"] == "image"
            title = name if is_image else entry["content"].get("title", {}).get("text", name)
            title = _within_system(name) if title == name else title
            picture = Path(entry["url"]).read_bytes() if is_image else draw(entry["content"])
            shown = f"![{title}]({_inline(picture)})" if picture else "`dvc plots show` draws this one."
            pages[_system(name)].append(f"### {title}\n\n{shown}")
    return {system: "\n\n".join(parts) for system, parts in pages.items()}


def _ask_dvc(checkout: Path, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-P", "-m", "dvc", *arguments]
    try:
        done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=LIMIT_S, check=True)  # noqa: S603
        answer: dict[str, Any] = json.loads(done.stdout or "{}")
    except (subprocess.SubprocessError, ValueError) as error:
        said = getattr(error, "stderr", None) or str(error)
        raise ZugwerkError(f"`dvc {' '.join(arguments)}` failed: {said.strip()}") from None
    if failed := answer.get("", {}).get("error"):
        raise ZugwerkError(f"`dvc {' '.join(arguments)}` failed: {failed['msg']}")
    return answer


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _inline(picture: bytes) -> str:
    """The picture as a data URL: a page in the browser cannot load files of this machine."""
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def _system(name: str) -> str:
    """The system that a report or plot belongs to: the first folder below `artifacts/reports`, or the first word."""
    return re.split(r"[^a-z0-9]", _below_reports(name).parts[0].lower())[0] or "all"


def _within_system(file: str) -> str:
    path = _below_reports(file).with_suffix("")
    return "/".join(path.parts[1:]) or str(path)


def _below_reports(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    return path.relative_to(REPORTS) if path.is_relative_to(REPORTS) else path
