"""The verdict on each published system: the published value, that of a run, and the best measurement."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pipeline_src.project.systems import Claim
from pipeline_src.report.figures import COMMITTED, LAPTOP, OTHER_PARAMS, of_the_graph
from pipeline_src.report.registry import SYSTEMS
from pipeline_src.report.table import interval, number, with_unit

Row = dict[str, Any]
NOT_REACHED, NOT_MEASURED = "not reached", "not measured"


class Verdict(NamedTuple):
    """One line: a system, and the figure of it that decides."""

    system: str
    """Key of `SYSTEMS`."""
    published: str
    figure: str
    run: str
    """Value of the run, with interval and player; ``-`` without one."""
    best: str
    """The best committed measurement, with interval, player and profile; ``-`` without one."""
    outcome: str
    """``reproduced``, ``beaten``, `NOT_REACHED` or `NOT_MEASURED`: by the best measurement, or else by the run."""
    reason: str


def verdicts(found: Mapping[str, Mapping[str, Row]], profile: str | None = None) -> list[Verdict]:
    """Return the verdict on each published system, from `figures.figures`.

    Args:
        found: all figures.
        profile: profile of the committed run that is shown if the graph has not run.
    """
    told = []
    for name, system in SYSTEMS.items():
        if system.claim is None:
            continue
        claim, rows = system.claim, found[name]
        row = rows[claim.figure]
        run = made = of_the_graph(row, profile)
        if run is None and claim.run:
            run = of_the_graph(rows[claim.run], profile)
        measured = [one for one in (row, *row["others"]) if one["from"] == "measured" and one is not run]
        larger = [one for one in measured if one["label"] not in (LAPTOP, LAPTOP + COMMITTED)]
        best = next(iter(larger or measured), None)
        deciding = best or made
        outcome = _outcome(claim, rows, deciding) if deciding else NOT_MEASURED
        told.append(
            Verdict(
                name,
                claim.words,
                with_unit(row["words"], row["unit"]),
                _cell(claim, rows, run, own=True) if run else "-",
                _cell(claim, rows, best) if best else "-",
                outcome,
                (outcome == NOT_REACHED and claim.missed) or claim.reason,
            )
        )
    return told


def _outcome(claim: Claim, rows: Mapping[str, Row], row: Row) -> str:
    bar = _bar(claim, rows, row)
    if bar is None:
        return NOT_MEASURED
    (low, high), (least, most) = _ends(row), _ends(bar)
    above, below = (high < least, low > most) if claim.less else (low > most, high < least)
    return NOT_REACHED if below else claim.outcomes[0 if above else 1]


def _bar(claim: Claim, rows: Mapping[str, Row], row: Row) -> Row | None:
    """Return the value that a measurement is compared with: the published one, or a figure of the same run."""
    if not isinstance(claim.bar, str):
        return {"ours": claim.bar, "low": None, "high": None}
    same = rows[claim.bar]
    return next((one for one in (same, *same["others"]) if one["label"] == row["label"] and one["from"]), None)


def _ends(row: Row) -> tuple[float, float]:
    return (row["ours"], row["ours"]) if row["low"] is None else (row["low"], row["high"])


def _cell(claim: Claim, rows: Mapping[str, Row], row: Row, own: bool = False) -> str:
    """Return a value with its interval, the measured value that it is compared with, its player and profile."""
    text = number(row["ours"], row["unit"])
    text = text if row["low"] is None else f"{text} ({interval(row)})"
    bar = _bar(claim, rows, row) if isinstance(claim.bar, str) else None
    parts = [row["words"] if row["words"] != rows[claim.figure]["words"] else "", row["player"]]
    parts.append(f"{claim.bar_words} {number(bar['ours'], bar['unit'])}" if bar else "")
    parts.append(row["label"] if not own or row["label"] == OTHER_PARAMS else "")
    return "; ".join(filter(None, [text, *parts]))
