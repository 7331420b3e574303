"""Figures as metrics files and as tables for plots."""

from collections.abc import Iterable, Mapping

from pipeline_src.arena.score import Score
from pipeline_src.files import Row


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
