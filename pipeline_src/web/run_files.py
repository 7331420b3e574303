"""Read trainings and generations from their files, also while they run."""

import contextlib
import csv
import math
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, read_table
from pipeline_src.project.systems import by_word
from pipeline_src.web.listing import files
from pipeline_src.web.messages.runs import Curve, CurveFile, Generation

REPORTS, COMMITTED = "artifacts/reports", "docs/measured/laptop"
LIVE = ("plots", "metrics")
"""DVCLive's folders of running trainings below `work`, with a table of step and value for each curve."""
LIGHTNING = "metrics.csv"
"""Lightning's own tables, if DVCLive is not installed."""
COUNTED = ("generation", "epoch", "step", "iteration")
"""Columns for the x axis; the first one that a table has is used."""
MOST_BYTES, MOST_POINTS = 32 << 20, 2_000


def curve_files(project: Path) -> list[CurveFile]:
    """Return all tables of trainings, running ones first, then the newest."""
    found = []
    running = _running(project / "work")
    patterns = [f"{word}/{pattern}" for word, system in by_word().items() for pattern in system.curves]
    finished = {path: [path] for pattern in patterns for path in _reports(project).glob(pattern)}
    for path, tables in (running | finished).items():
        name = path.relative_to(project).as_posix()
        title = name.removeprefix(f"{REPORTS}/").removeprefix("work/")
        title = title.removesuffix("/plots/metrics").removesuffix(".csv")
        with contextlib.suppress(FileNotFoundError):  # a training that ends removes its tables
            modified = max(table.stat().st_mtime for table in tables)
            found.append(CurveFile(name=name, title=title, under_way=path in running, modified=modified))
    return sorted(found, key=lambda one: (not one.under_way, -one.modified, one.name))


def _reports(project: Path) -> Path:
    """Return the folder with the reports of the last run; where nothing has run, that with the committed ones."""
    own = project / REPORTS
    return own if any(path.is_dir() for path in own.glob("*")) else project / COMMITTED


def _running(work: Path) -> dict[Path, list[Path]]:
    """Tables of running trainings, by DVCLive's folder or each by itself. Folders may come and go meanwhile."""
    found = defaultdict(list)
    for file in files(work):
        if file.name == LIGHTNING:
            found[file].append(file)
        elif file.suffix == ".tsv":
            for folder in file.parents:
                if folder.parts[-2:] == LIVE:
                    found[folder].append(file)
    return found


def read_curve(project: Path, name: str) -> Curve:
    """Return the points of a training's table.

    Raises:
        ZugwerkError: the table is missing or damaged.
    """
    if name not in {one.name for one in curve_files(project)}:
        raise ZugwerkError(f"{name[:200]}: no table of a training")
    path = project / name
    if path.is_dir():
        series = {}
        for file in sorted(_running(path)[path]):
            rows = list(_rows(file, "\t"))
            column = file.relative_to(path).with_suffix("").as_posix()
            points = ((_number(row.get("step")), _number(row.get(file.stem) or row.get(column))) for row in rows)
            series[column] = _thinned(points)
        return Curve(name=name, x="step", series={key: points for key, points in series.items() if points})
    rows = list(_rows(path, ","))
    columns = list(rows[0]) if rows else []
    x = next((one for one in COUNTED if one in columns), columns[0] if columns else "row")
    series = {
        column: _thinned((_number(row.get(x)), _number(row.get(column))) for row in rows)
        for column in columns
        if column not in COUNTED
    }
    return Curve(name=name, x=x, series={key: points for key, points in series.items() if points})


def _rows(path: Path, delimiter: str) -> Iterable[dict[str, str]]:
    try:
        with open(path, newline="", encoding="utf-8", errors="replace") as file:
            if os.fstat(file.fileno()).st_size > MOST_BYTES:
                raise ZugwerkError(f"{path}: larger than {MOST_BYTES >> 20} MiB")
            yield from csv.DictReader(file, delimiter=delimiter)
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file any more; its training has ended") from None
    except csv.Error as error:
        raise ZugwerkError(f"{path}: no table ({error})") from None


def _number(cell: str | None) -> float:
    """Return a cell as a number, NaN if it is none: the last line of a running training may be incomplete."""
    try:
        return float(cell or "nan")
    except ValueError:
        return math.nan


def _thinned(points: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Return the points without NaN, including the last one; of too many points, every k-th."""
    kept = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    step = -(-len(kept) // MOST_POINTS) or 1
    return tuple(kept[::step] + (kept[-1:] if len(kept) % step != 1 and step > 1 else []))


def gomoku_generations(project: Path) -> list[Generation]:
    """Return the existing generations of Gomoku's self-play, without damaged files."""
    found = []
    for path in sorted((_reports(project) / "gomoku/generations").glob("[0-9]*.json")):
        if path.name.endswith(".timings.json") or not path.stem.isdigit():
            continue
        try:
            report, timings = read_json(path), path.with_suffix(".timings.json")
            seconds = read_json(timings)["seconds"] if timings.is_file() else {}
            gate: dict[str, Any] = report.get("gate") or {}
            score = gate.get("score") or {}
            found.append(
                Generation(
                    board="",
                    number=int(path.stem),
                    games=int(report["self_play"]["games"]),
                    mean_plies=report["self_play"].get("mean_plies"),
                    loss=(report.get("train") or {}).get("loss"),
                    gate=score.get("value"),
                    gate_low=score.get("low"),
                    gate_high=score.get("high"),
                    accepted=None if gate.get("accepted") is None else bool(gate["accepted"]),
                    seconds=sum(map(float, seconds.values())) or None,
                )
            )
        except (ZugwerkError, KeyError, TypeError, ValueError, AttributeError):
            continue
    return found


def growing_generations(project: Path) -> list[Generation]:
    """Return the existing generations of each growing board."""
    found = []
    for path in (_reports(project) / "growing/boards").glob("[0-9]*.csv"):
        try:
            for row in read_table(path, ("generation", "games", "loss", "gate_score")):
                found.append(
                    Generation(
                        board=f"{path.stem}x{path.stem}",
                        number=int(float(row["generation"])),
                        games=int(float(row["games"])),
                        mean_plies=_finite(row.get("mean_plies")),
                        loss=_finite(row["loss"]),
                        gate=_finite(row["gate_score"]),
                        gate_low=None,
                        gate_high=None,
                        accepted=None,
                        seconds=None,
                    )
                )
        except (ZugwerkError, ValueError):
            continue
    return sorted(found, key=lambda one: (int(one.board.split("x")[0]), one.number))


def _finite(cell: str | None) -> float | None:
    value = _number(cell)
    return value if math.isfinite(value) else None
