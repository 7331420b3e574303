"""Measure whether memory grows with the number of games: self-play, then matches, in this process.

Resident memory, file handles and child processes are read after every group of games. The slope is that of a straight
line through the means of twelve spans, without the first quarter, in which caches fill. Writes ``memory`` of
docs/measured/reliability.json. Example:

    python -m bench.reliability.memory --minutes 15
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil

from bench.measured import RELIABILITY, about, known
from pipeline_src.arena.match import MatchSpec, run_match
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json
from pipeline_src.parallel import Parallel
from pipeline_src.report.provenance import hardware
from pipeline_src.systems.gomoku_zero.files import Work
from pipeline_src.systems.gomoku_zero.params import read_setting
from pipeline_src.systems.gomoku_zero.self_play import play_games

MODEL = Path("pipeline_src/nets/gomoku_zero-9x9-freestyle.onnx")
COMMAND = "python -m bench.reliability.memory"
SPANS = 12
GAMES = 100
"""Games of self-play between two readings."""
MATCH = ("zero:simulations=16", "mcts:playouts=20")


class Reading(NamedTuple):
    """Resources of the process after a number of games."""

    games: int
    resident: int
    """Bytes."""
    handles: int
    children: int


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15, help="duration of each of the two")
    parser.add_argument("--only", nargs="+", choices=["self_play", "matches"], default=["self_play", "matches"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            readings = watch(self_play(Path(folder)) if name == "self_play" else matches, 60 * options.minutes)
            found = summary(readings)
            print(name, found, flush=True)
            before, origin = known(RELIABILITY), about(COMMAND, "its own games", hardware(), "laptop")
            write_json(RELIABILITY, before | {"memory": before.get("memory", {}) | {name: found} | origin})


def self_play(folder: Path) -> Callable[[int], int]:
    """Return a function that plays some games of the laptop's self-play and returns their number."""
    setting = read_setting()

    def play(number: int) -> int:
        work = Work(folder, number + 1, 0, None, setting, Parallel(workers=1))
        return len(play_games(MODEL, work, [(game,) for game in range(GAMES)]))

    return play


def matches(number: int) -> int:
    """Play one short match; return its number of games."""
    spec = MatchSpec("gomoku", *MATCH, games=20, openings="random:4", size=9, seed=number)
    return len(run_match(spec).games)


def watch(play: Callable[[int], int], seconds: float) -> list[Reading]:
    """Play for a number of seconds; return a reading after each call."""
    process, games, readings = psutil.Process(), 0, []
    end = time.monotonic() + seconds
    for number in count():
        games += play(number)
        resident = process.memory_info().rss
        readings.append(Reading(games, resident, process.num_fds(), len(process.children(recursive=True))))
        if time.monotonic() > end:
            return readings
    raise AssertionError


def summary(readings: list[Reading]) -> dict[str, Any]:
    """Return the slope of the resident size in bytes a game (95 % interval), and handles and children at both ends."""
    from scipy import stats

    kept = readings[len(readings) // 4 :]
    if len(kept) < SPANS:
        raise ZugwerkError(f"only {len(kept)} readings; give more --minutes")
    spans = [np.mean(span, axis=0) for span in np.array_split(np.array(kept, float), SPANS)]
    games, resident = np.array(spans)[:, :2].T
    line = stats.linregress(games, resident)
    half = line.stderr * stats.t.ppf(0.975, SPANS - 2)
    return {
        "bytes_a_game": {
            "value": float(line.slope),
            "low": float(line.slope - half),
            "high": float(line.slope + half),
            "n": readings[-1].games,
        },
        "resident_mib": {"first": readings[0].resident / 2**20, "last": readings[-1].resident / 2**20},
        "handles": {"first": readings[0].handles, "last": readings[-1].handles},
        "children": {"first": readings[0].children, "last": readings[-1].children},
    }


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    run_main(main)
