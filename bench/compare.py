"""What moved since the results that were committed last."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

TIMES = ("ms", "us", "s", "times as long")
"""Units of which less is better; of all others more is."""
NOTABLE = 1.2
"""A factor either way; these machines are noisier below it."""

Row = dict[str, Any]


class Move(NamedTuple):
    """How a row of bench/results.json stands to the committed one."""

    name: str
    factor: float
    """Above 1: faster than then."""
    beside_reference: bool
    """Whether the factor is that of the ratios to a reference in the same run, which a slower machine leaves alone."""

    @property
    def notable(self) -> bool:
        """Whether it moved by more than noise does."""
        return not 1 / NOTABLE <= self.factor <= NOTABLE


def committed(folder: Path) -> list[Row]:
    """The rows of results.json in ``folder`` at HEAD; none without git, or where it was never committed."""
    try:
        done = subprocess.run(["git", "show", "HEAD:./results.json"], cwd=folder, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    rows: list[Row] = json.loads(done.stdout)
    return rows


def moves(rows: Iterable[Row], before: Iterable[Row]) -> dict[str, Move]:
    """Of every row that both have, by name."""
    then = {row["name"]: row for row in before}
    found = {}
    for row in rows:
        old = then.get(row["name"])
        if not old or not old["ours"] or not row["ours"]:
            continue
        if row["ratio"] and old["ratio"]:
            found[row["name"]] = Move(row["name"], row["ratio"] / old["ratio"], True)
        else:
            factor = row["ours"] / old["ours"]
            found[row["name"]] = Move(row["name"], 1 / factor if row["unit"] in TIMES else factor, False)
    return found


def summary(found: Iterable[Move]) -> list[str]:
    """A line for each that moved by more than a fifth, and one where none did."""
    notable = sorted((move for move in found if move.notable), key=lambda move: move.factor)
    if not notable:
        return ["nothing moved by more than 20 % since the committed results"]
    return [
        f"{move.name}: {move.factor:.2f} times the committed speed"
        + (" beside its reference" if move.beside_reference else ", which has no reference: the machine may be it")
        for move in notable
    ]
