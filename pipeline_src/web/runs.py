"""Routes of the page Runs: figures by version, curves and generations of all trainings, the report."""

import http.client
import json
import math
import os
import re
import threading
import urllib.request
import uuid
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse

from pipeline_src.errors import ZugwerkError
from pipeline_src.web.messages.runs import (
    Curve,
    Curves,
    FigureRow,
    Figures,
    FlowRun,
    Generations,
    Measured,
    Prefect,
    Project,
    Value,
    VersionFigures,
    VersionRow,
    Versions,
)
from pipeline_src.web.run_files import curve_files, gomoku_generations, growing_generations, read_curve

MOST_VERSIONS = 40
REPORT = Path("artifacts/reports/index.html")
REPORT_POLICY = (
    "sandbox allow-popups allow-scripts; default-src 'none'; img-src data:; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; font-src data:"
)
"""Content security policy of the report, one file with its own scripts, which may ask nothing of anybody."""
PREFECT, PREFECT_S = "http://127.0.0.1:4200", 1.0
"""Default address of Prefect's server, and seconds to wait for its answer."""
_COMMIT = re.compile(r"[0-9a-f]{40}")

router = APIRouter(prefix="/api/runs", tags=["runs"])
_KNOWN: dict[tuple[Path, str], VersionFigures] = {}
_LOCK = threading.Lock()


def _project(request: Request) -> Path:
    """Return the folder with params.yaml that is one of the server's folders or contains one.

    Raises:
        ZugwerkError: none of the folders belongs to a project.
    """
    for folder in request.app.state.settings.folders:
        for project in (folder, folder.parent):
            if (project / "params.yaml").is_file() and (project / "dvc.yaml").is_file():
                return Path(project)
    raise ZugwerkError("no folder of this server belongs to a project: start it where params.yaml and artifacts/ are")


@router.get("/project")
def project(request: Request) -> Project:
    """Return the project's name, its report and its Prefect server."""
    prefect = prefect_pages()
    try:
        folder = _project(request)
    except ZugwerkError as error:
        return Project(name="", problem=str(error), report=False, prefect=prefect)
    return Project(name=folder.name, problem="", report=(folder / REPORT).is_file(), prefect=prefect)


def prefect_pages() -> Prefect | None:
    """Return Prefect's pages and the most recent flow run; None if its server does not answer."""
    address = os.environ.get("PREFECT_API_URL", PREFECT).removesuffix("/").removesuffix("/api")
    if not address.startswith(("http://", "https://")):
        return None
    asked = {"sort": "START_TIME_DESC", "limit": 1, "flow_runs": {"start_time": {"is_null_": False}}}
    wanted = urllib.request.Request(  # noqa: S310 - http, see above
        f"{address}/api/flow_runs/filter", json.dumps(asked).encode(), {"content-type": "application/json"}
    )
    try:
        with urllib.request.urlopen(wanted, timeout=PREFECT_S) as answer:  # noqa: S310
            found = json.load(answer)[:1]
        runs = [FlowRun(name=one["name"], state=one["state_name"], url=_run_page(address, one["id"])) for one in found]
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):  # none, or another server
        return None
    return Prefect(url=f"{address}/runs", last=runs[0] if runs else None)


def _run_page(address: str, run: str) -> str:
    return f"{address}/runs/flow-run/{uuid.UUID(run)}"


@router.get("/report", response_class=FileResponse)
def report(request: Request) -> FileResponse:
    """Return the report page."""
    path = _project(request) / REPORT
    if not path.is_file():
        raise ZugwerkError(f"{REPORT}: not made yet; `dvc repro report_page` makes it")
    return FileResponse(path, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})


@router.get("/figures")
def figures(request: Request) -> Figures:
    """Return all headline figures, as `zugwerk report` prints them."""
    from pipeline_src.report.figures import figures as read

    rows = read(_project(request))
    return Figures(
        figures=tuple(
            FigureRow(
                system=system,
                name=name,
                words=row["words"],
                unit=row["unit"],
                published=row["published"],
                ours=_measured(row),
                measured=_measured(row["measured"]) if row.get("measured") else None,
            )
            for system, named in rows.items()
            for name, row in named.items()
        )
    )


def _measured(row: dict[str, Any]) -> Measured:
    words = {key: _word(row[key]) for key in ("profile", "player", "data", "date", "hardware", "command")}
    value, low, high, n = (_number(row[key]) for key in ("ours", "low", "high", "n"))
    return Measured(value=value, low=low, high=high, n=n, source=row["from"] or "", **words)


def _word(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


@router.get("/versions")
def versions(request: Request) -> Versions:
    """List commits that changed figures, and experiments, by date."""
    from pipeline_src.reference.revision import versions as find

    found = find(MOST_VERSIONS, _project(request))
    return Versions(
        versions=tuple(VersionRow(commit=v.commit, name=v.name, date=v.date, subject=v.subject[:200]) for v in found)
    )


@router.get("/version")
def version(request: Request, commit: Annotated[str, Query(max_length=40)]) -> VersionFigures:
    """Return the figures of a commit. They are read once, since commits do not change."""
    from pipeline_src.reference.revision import opened
    from pipeline_src.report.figures import figures as read

    if not _COMMIT.fullmatch(commit):
        raise ZugwerkError(f"{commit[:40]!r}: not a commit's 40 hex digits")
    folder = _project(request)
    with _LOCK:
        known = _KNOWN.get((folder, commit))
    if known is not None:
        return known
    try:
        with opened(commit, folder) as revision:
            rows, profile = read(revision.folder), revision.params().get("profile")
        found = _values(rows, str(profile))
        answer = VersionFigures(commit=commit, figures=found, problem="")
    except ZugwerkError as error:
        answer = VersionFigures(commit=commit, figures={}, problem=str(error))
    with _LOCK:
        _KNOWN[folder, commit] = answer
    return answer


def _values(rows: dict[str, dict[str, dict[str, Any]]], profile: str) -> dict[str, Value]:
    """Return the figures of the version's run of the graph, as it was kept of its profile, else a measurement."""
    from pipeline_src.report.figures import of_the_graph

    found = {}
    for system, named in rows.items():
        for name, best in named.items():
            made = of_the_graph(best, profile)
            row = made or best
            value = _number(row["ours"])
            if value is not None:
                low, high = _number(row["low"]), _number(row["high"])
                source = "graph" if made else row["from"]
                found[f"{system}.{name}"] = Value(value=value, low=low, high=high, source=source)
    return found


@router.get("/curves")
def curves(request: Request) -> Curves:
    """List the tables of all trainings, running ones first."""
    return Curves(curves=tuple(curve_files(_project(request))))


@router.get("/curve")
def curve(request: Request, name: Annotated[str, Query(max_length=500)]) -> Curve:
    """Return the curves of a training up to now."""
    return read_curve(_project(request), name)


@router.get("/generations")
def generations(request: Request) -> Generations:
    """List the existing generations of self-play."""
    folder = _project(request)
    return Generations(gomoku=tuple(gomoku_generations(folder)), growing=tuple(growing_generations(folder)))
