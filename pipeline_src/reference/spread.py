"""Table of docs/cluster.md: into how many parts each stage divides, and its cost at multiples of the published size.

Sizes follow from the profiles, times from the straight lines of docs/measured/costs.json.
"""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline_src import yaml12
from pipeline_src.project.params import at
from pipeline_src.project.profile import merged_text
from pipeline_src.reference.tables import code, table

PROFILES = ("smoke", "laptop", "overnight", "paper")
TIMES = (1, 10, 100, 1000)
COSTS = Path("docs/measured/costs.json")

Tree = dict[str, Any]


def _value(key: str) -> Callable[[Tree], int]:
    return lambda tree: int(at(tree, key))


def _games(key: str) -> Callable[[Tree], int]:
    """Both games of all pairs of the matches at a key."""
    return lambda tree: 2 * sum(int(match["pairs"]) for match in at(tree, key).values())


def _a_round(section: str) -> Callable[[Tree], int]:
    return lambda tree: int(tree[section]["games"]) // int(tree[section]["rounds"])


PARTS: dict[str, tuple[str, Callable[[Tree], int] | None]] = {
    "amazons_archive": ("games", _value("amazons_archive.games")),
    "amazons_baselines": ("slices of the test split", None),
    "amazons_train": ("samples of a batch, by `devices`", _value("amazons_train.batch")),
    "amazons_match": ("games", _games("amazons_match.matches")),
    "gomoku_generation, self-play": ("games of a round", _a_round("gomoku_self_play")),
    "gomoku_generation, train": ("samples of a batch, by `devices`", _value("gomoku_train.batch")),
    "gomoku_evaluate": ("games of the headline matches", _games("gomoku_evaluate.opponents")),
    "growing_board, self-play": ("games of a generation", _value("growing_self_play.games")),
    "growing_board, train": ("samples of a batch, by `devices`", _value("growing_train.batch")),
    "depth_label": ("games", _value("depth_label.games")),
    "depth_train": ("samples of a batch, by `devices`", _value("depth_train.training.batch")),
    "depth_match": ("games", _games("depth_match.matches")),
    "joseki_records": ("games, or files", _value("joseki_records.made.games")),
}
"""Stages of docs/measured/costs.json that divide: into what, and into how many, if that follows from params."""


def spread(folder: Path = Path()) -> list[str]:
    """Return the table, in the order in which the stages were measured."""
    trees = [yaml12.parse(merged_text(name, folder), name) for name in PROFILES]
    hours: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(TIMES))
    for rows in json.loads((folder / COSTS).read_text(encoding="utf-8"))["stages"].values():
        for row in rows:
            name, _, part = row["stage"].partition("@")
            name += part[part.find(",") :] if "," in part else ""
            for place, times in enumerate(TIMES):
                seconds = row["seconds_fixed"] + row["seconds_a_unit"] * row["published_units"] * times
                hours[name][place] += seconds / 3600
    lines = []
    for name, found in sorted(hours.items()):
        words, count = PARTS.get(name, ("one process", None))
        parts = [f"{count(tree):,}" for tree in trees] if count else ["-"] * len(trees)
        lines.append([code(name), words, *parts, *map(_time, found)])
    head = ["stage", "divides into", *PROFILES, *(f"{times:,}x" for times in TIMES)]
    return table(head, lines)


def _time(hours: float) -> str:
    for unit, size in (("years", 24 * 365.25), ("days", 24.0), ("h", 1.0), ("min", 1 / 60)):
        if hours >= size:
            return f"{hours / size:,.3g} {unit}" if hours / size < 1000 else f"{hours / size:,.0f} {unit}"
    return f"{3600 * hours:.3g} s"
