"""Committed measurements: the origin of a figure, and the files of docs/measured, which are filled step by step."""

import argparse
import datetime
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pipeline_src.arena.result import Match
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.report.figures import processor


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


def run_stage(folder: Path, stage: str, *words: str) -> None:
    """Run a stage of this checkout, such as ``systems.gomoku_zero.evaluate``, in another project folder.

    Raises:
        ZugwerkError: the stage failed.
    """
    command = [sys.executable, "-m", "pipeline_src.stage", stage, *words]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    if subprocess.run(command, cwd=folder, env=environment).returncode:
        raise ZugwerkError(f"{stage} failed in {folder}; run the same command again to continue")


def match_options(doc: str | None, workers: int) -> argparse.ArgumentParser:
    """Return a parser with the options of all commands that play matches."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="measure only this name, or names with this text in them")
    parser.add_argument("--workers", type=int, default=workers, help="games at the same time, one core each")
    parser.add_argument("--games", type=int, help="play at most so many games of each match")
    return parser


def chosen(only: str, names: Iterable[str]) -> list[str]:
    """Return the names that ``--only`` asks for: the one that it is, or else those with this text in them."""
    every = list(names)
    return [only] if only in every else [name for name in every if only in name]


def line(match: Match) -> str:
    """Return a match in words, for the log."""
    score, standing = match.score, match.standing
    wins_draws_losses = f"{standing.wins}-{standing.draws}-{standing.losses}"
    return f"{match.a} against {match.b}: {wins_draws_losses}, {score.value:.3f} ({score.low:.3f} to {score.high:.3f})"
