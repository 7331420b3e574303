"""Time two ways of doing one thing in turns, so that noise of the machine falls on both; compare with older results."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LESS = ("ms", "us", "s", "MB")  # Units in which less is better; in all others more is better
NOTABLE = 1.2  # A change by a factor below this is noise on the machines that this runs on

Row = dict[str, Any]


def seconds(function: Callable[[], Any]) -> float:
    """Return the wall time of one call in seconds."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def medians(
    ours: Callable[[], float], reference: Callable[[], float] | None, repeats: int
) -> tuple[float, float | None]:
    """Return the median of each side's own figure over ``repeats`` interleaved calls, after a warm-up call of each."""
    sides = (ours, reference) if reference else (ours,)
    found = [[side() for side in sides] for _ in range(1 + repeats)][1:]
    return statistics.median(one[0] for one in found), statistics.median(one[1] for one in found) if reference else None


def row(name: str, ours: float | None, reference: float | None, reference_name: str | None, unit: str) -> Row:
    """Return one row of bench/results.json; the ratio is above 1 where ours is faster, for times and for rates."""
    ratio, known = None, None if reference is None else reference_name
    if ours is not None and reference is not None:
        ratio = reference / ours if unit in LESS else ours / reference
    return {
        "name": name,
        "ours": ours,
        "reference": reference,
        "reference_name": known,
        "ratio": ratio,
        "unit": unit,
    }


def environment(checkout: Path) -> dict[str, str]:
    """Return the environment of processes in a checkout: its code, this interpreter, nothing sent to anyone."""
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
        "PYTHONPATH": str(checkout),
        "DO_NOT_TRACK": "1",
        "DVC_NO_ANALYTICS": "1",
    }


@contextmanager
def compiled(name: str) -> Iterator[tuple[Callable[..., str] | None, Path]]:
    """Compile bench/NAME.cpp for this processor.

    Yields a function that runs it with some words and returns its output, or None without a compiler, and a scratch
    folder.
    """
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    with tempfile.TemporaryDirectory() as folder:
        program, source = Path(folder) / "program", Path(__file__).with_name(f"{name}.cpp")

        def run(*words: object) -> str:
            command = [str(program), *map(str, words)]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout

        if compiler:
            subprocess.run([compiler, "-std=c++20", "-O3", "-march=native", "-o", program, source], check=True)
        yield run if compiler else None, Path(folder)


def committed(folder: Path) -> list[Row]:
    """Return the rows of results.json in ``folder`` at HEAD; none without git, or if the file was never committed."""
    try:
        done = subprocess.run(["git", "show", "HEAD:./results.json"], cwd=folder, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    rows: list[Row] = json.loads(done.stdout)
    return rows


def changes(rows: Iterable[Row], before: Iterable[Row]) -> dict[str, float]:
    """Return how many times as fast each row is as before, by name, for the rows that both have.

    With a reference the ratios to it are compared, so that a slower machine does not count as a change.
    """
    then, found = {row["name"]: row for row in before}, {}
    for row in rows:
        old = then.get(row["name"])
        if old and old["ours"] and row["ours"]:
            if row["ratio"] and old["ratio"]:
                found[row["name"]] = row["ratio"] / old["ratio"]
            else:
                faster = row["ours"] / old["ours"]
                found[row["name"]] = 1 / faster if row["unit"] in LESS else faster
    return found


def notable(found: dict[str, float]) -> list[str]:
    """Return a line for each change by more than a fifth, slowest first, or one line that says there is none."""
    lines = [
        f"{name}: {factor:.2f} times the committed speed"
        for name, factor in sorted(found.items(), key=lambda one: one[1])
        if not 1 / NOTABLE <= factor <= NOTABLE
    ]
    return lines or ["nothing changed by more than 20 % since the committed results"]
