"""Whether memory grows with the number of games: self-play, then matches, in this process for some minutes each.

Resident memory, file handles and child processes are read after every group of games; the slope is a straight line's
through the means of twelve spans, the first quarter left out, in which caches fill. Writes ``memory`` of
docs/measured/reliability.json. Example:

    python -m bench.reliability.memory --minutes 15
"""

import argparse
import datetime
import os
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil

from pipeline_src.arena.match import MatchSpec, run_match
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import read_json, write_json
from pipeline_src.parallel import Parallel
from pipeline_src.report.provenance import hardware
from pipeline_src.systems.gomoku_zero.evaluator import prepare_model
from pipeline_src.systems.gomoku_zero.groups import play_group
from pipeline_src.systems.gomoku_zero.setting import read_setting
from pipeline_src.systems.gomoku_zero.work import Work

OUT = Path("docs/measured/reliability.json")
MODEL = Path("pipeline_src/nets/gomoku_zero-9x9-freestyle.pt")
COMMAND = "python -m bench.reliability.memory"
SPANS = 12
MATCH = ("zero:simulations=16", "mcts:playouts=20")


class Reading(NamedTuple):
    """What the process holds after so many games."""

    games: int
    resident: int
    """Bytes."""
    handles: int
    children: int


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15, help="of each of the two")
    parser.add_argument("--only", nargs="+", choices=["self_play", "matches"], default=["self_play", "matches"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            readings = watch(self_play(Path(folder)) if name == "self_play" else matches, 60 * options.minutes)
            found = summary(readings)
            print(name, found, flush=True)
            about = {
                "data": "its own games",
                "hardware": hardware(),
                "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
                "command": COMMAND,
            }
            known = read_json(OUT) if OUT.exists() else {}
            write_json(OUT, known | {"memory": known.get("memory", {}) | {name: found} | about})


def self_play(folder: Path) -> Callable[[int], int]:
    """Plays one group of the laptop's self-play and says how many games that were."""
    setting = read_setting()
    model = prepare_model(MODEL, setting.self_play.backend, folder)

    def play(number: int) -> int:
        work = Work(folder, number + 1, 0, None, setting, Parallel(workers=1))
        play_group(model, work, 0, folder / f"group_{number}")
        return setting.self_play.group

    return play


def matches(number: int) -> int:
    """Plays one short match."""
    spec = MatchSpec("gomoku", *MATCH, games=20, openings="random:4", size=9, seed=number)
    return len(run_match(spec).games)


def watch(play: Callable[[int], int], seconds: float) -> list[Reading]:
    """Play until the time is over, with a reading after each call."""
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
    """Slope of the resident size in bytes a game with its 95 % interval; handles and children at both ends."""
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
