"""Time a brain's moves as a Gomoku manager does, and put the late ones into docs/measured/growing_boards.json.

The brain is a process of its own, told `INFO timeout_turn` and `TURN`s. A move is late if its answer is read after the
turn's time. The other side plays at random; a finished game is followed by another one, until there are enough moves.
Of use on an otherwise quiet machine alone:

    python -m bench.strength.brain_clock
"""

import argparse
import datetime
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import read_json, write_json
from pipeline_src.games import gomoku
from pipeline_src.report.provenance import processor

OUT = Path("docs/measured/growing_boards.json")
COMMAND = "python -m bench.strength.brain_clock"
BRAIN = "zugwerk gomoku brain"


class Manager:
    """The lines between this process and a brain."""

    def __init__(self, command: str) -> None:
        self.process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def tell(self, line: str) -> None:
        """Send a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        """The next line that is no message."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if not line.startswith(("MESSAGE", "DEBUG")):
                return line.strip()
        raise ZugwerkError("the brain has ended")


def main() -> None:
    """Play and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brain", default=BRAIN, help="command line of the brain")
    parser.add_argument("--moves", type=int, default=1000)
    parser.add_argument("--timeout", type=int, default=200, help="milliseconds of a turn")
    parser.add_argument("--size", type=int, default=15)
    options = parser.parse_args()
    times, _ = play_moves(options.brain, options.moves, options.timeout, options.size)
    late = int((times > options.timeout).sum())
    told = f"{late} late, longest {times.max():.0f} ms, mean {times.mean():.0f}"
    print(f"{len(times)} moves of {options.timeout} ms: {told}")
    row = {
        "value": late,
        "low": None,
        "high": None,
        "n": len(times),
        "longest_ms": float(times.max()),
        "timeout_ms": options.timeout,
        "brain": options.brain,
        "profile": "committed measurement",
        "data": "its own games",
        "hardware": f"one of {os.cpu_count()} cores of {processor()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": COMMAND,
    }
    write_json(OUT, (read_json(OUT) if OUT.exists() else {}) | {"brain_time_losses": row})


def play_moves(command: str, moves: int, timeout: int, size: int) -> tuple[np.ndarray, float]:
    """Milliseconds of each of the brain's moves, float64 [moves], and the most memory that it had, in MiB."""
    brain, rng, times = Manager(command), np.random.default_rng(0), list[float]()
    while len(times) < moves:
        state = gomoku.initial_state(size)
        brain.tell(f"START {size}")
        if (said := brain.answer()) != "OK":
            raise ZugwerkError(f"START {size}: the brain says {said!r}")
        brain.tell(f"INFO timeout_turn {timeout}")
        brain.tell("INFO timeout_match 0")
        ask = "BEGIN"
        while gomoku.winner(state) is None and len(times) < moves:
            begun = time.perf_counter()
            brain.tell(ask)
            said = brain.answer()
            times.append(1000 * (time.perf_counter() - begun))
            column, row = (int(word) for word in said.split(","))
            state = gomoku.play(state, row * size + column)
            if gomoku.winner(state) is None:
                cell = int(rng.choice(gomoku.legal_actions(state)))
                state = gomoku.play(state, cell)
                ask = f"TURN {cell % size},{cell // size}"
        print(f"\r{len(times)} moves", end="", file=sys.stderr)
    status = Path(f"/proc/{brain.process.pid}/status").read_text(encoding="ascii")
    brain.tell("END")
    brain.process.communicate(timeout=10)  # closes the pipes too
    print(file=sys.stderr)
    return np.array(times), int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    run_main(main)
