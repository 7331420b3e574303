"""Committed measurements: the origin of a figure, and the files of docs/measured, which are filled step by step."""

import argparse
import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline_src.arena.result import Match
from pipeline_src.files import read_json, write_json
from pipeline_src.report.provenance import hardware, processor

RELIABILITY = Path("docs/measured/reliability.json")


def about(command: str, data: str, machine: str = "", profile: str = "committed measurement") -> dict[str, Any]:
    """Return the origin of a figure that is measured now; ``machine`` is by default one core of this one."""
    return {
        "profile": profile,
        "data": data,
        "hardware": machine or f"one core of {processor()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": command,
    }


def count(value: float | None, n: int) -> dict[str, Any]:
    """Return a figure without an interval, such as a count among ``n``."""
    return {"value": value, "low": None, "high": None, "n": n}


def known(path: Path) -> dict[str, Any]:
    """Return the content of a file of measurements; empty if there is none yet."""
    return dict(read_json(path)) if path.exists() else {}


def publish(figures: Mapping[str, float | None], n: int, command: str, data: str, path: Path = RELIABILITY) -> None:
    """Put figures that count something among the file's others.

    Args:
        figures: value by name.
        n: the number of cases in which they were counted.
        command: the command that makes them.
        data: origin of the data, in words.
        path: the file.
    """
    origin = about(command, data, hardware(), "smoke")
    write_json(path, known(path) | {name: count(value, n) | origin for name, value in figures.items()})


def match_options(doc: str | None, workers: int) -> argparse.ArgumentParser:
    """Return a parser with the options of all commands that play matches."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="measure only names with this text in them")
    parser.add_argument("--workers", type=int, default=workers, help="games at the same time, one core each")
    parser.add_argument("--games", type=int, help="play at most so many games of each match")
    return parser


def line(match: Match) -> str:
    """Return a match in words, for the log."""
    score, standing = match.score, match.standing
    wins_draws_losses = f"{standing.wins}-{standing.draws}-{standing.losses}"
    return f"{match.a} against {match.b}: {wins_draws_losses}, {score.value:.3f} ({score.low:.3f} to {score.high:.3f})"
