"""Figures as metrics files and as tables for plots."""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pipeline_src.arena.agreement import CalibrationBin
from pipeline_src.arena.score import Score
from pipeline_src.files import written_aside

Row = dict[str, str | float]


def metrics(figures: Mapping[str, Score]) -> dict[str, dict[str, float]]:
    """``{name: {value, low, high, n}}``."""
    return {name: score.as_metrics() for name, score in figures.items()}


def phase_rows(phases: Iterable[tuple[str, Mapping[str, Score]]]) -> list[Row]:
    """One row a phase: ``phase``, ``turns``, then each figure with its ``_low`` and ``_high``."""
    rows: list[Row] = []
    for phase, figures in phases:
        row: Row = {"phase": phase, "turns": max((score.n for score in figures.values()), default=0)}
        for name, score in figures.items():
            row |= {name: score.value, f"{name}_low": score.low, f"{name}_high": score.high}
        rows.append(row)
    return rows


def calibration_rows(bins: Iterable[CalibrationBin]) -> list[Row]:
    """One row a bin: ``predicted``, ``observed``, its ``low`` and ``high``, ``turns``."""
    return [
        {
            "predicted": some.predicted,
            "observed": some.observed.value,
            "low": some.observed.low,
            "high": some.observed.high,
            "turns": some.observed.n,
        }
        for some in bins
    ]


def write_table(path: Path | str, rows: Sequence[Row]) -> None:
    """Write rows with the same keys as CSV with a header, aside and renamed; NaN is an empty cell."""
    with written_aside(path) as aside, open(aside, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
        table.writeheader()
        table.writerows({key: _cell(value) for key, value in row.items()} for row in rows)


def _cell(value: str | float) -> str | float:
    return "" if isinstance(value, float) and math.isnan(value) else value
