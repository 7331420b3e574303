"""CPU seconds of a first move: `zugwerk GAME move` with no kernel on disk, its process and all that it starts.

The reference is the same command once more, when its kernels are there: what is left is the start of Python, the
player's own imports and the move.
"""

import resource
import subprocess
import sys
import tempfile
from typing import Any

from bench.measure import row
from bench.reliability.attempt import environment
from bench.run import FOLDER

ROOT = FOLDER.parent
MOVES = {
    "cold_move_amazons_cpu_s": ("amazons", "alphabeta:depth=2,width=10"),
    "cold_move_gomoku_cpu_s": ("gomoku", "alphabeta:depth=2,width=10"),
    "cold_move_zero_cpu_s": ("gomoku", "zero:simulations=8"),
}


def measure() -> list[dict[str, Any]]:
    """The three rows of `MOVES`."""
    return [_measure(name, game, player) for name, (game, player) in MOVES.items()]


def _measure(name: str, game: str, player: str) -> dict[str, Any]:
    words = ["-m", "pipeline_src.cli", game, "move", "--player", player]
    if player.startswith("zero"):
        words += ["--fen", "/".join(["9"] * 9) + " b freestyle"]  # the packaged net's board
    with tempfile.TemporaryDirectory(prefix="zugwerk-bench-") as folder:
        env = environment(ROOT) | {"ZUGWERK_CACHE": folder}
        cold, warm = (cpu_seconds(words, env) for _ in range(2))
    return row(name, cold, warm, "kernels on disk", "s")


def cpu_seconds(words: list[str], env: dict[str, str]) -> float:
    """Of a Python process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], cwd=ROOT, env=env, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    for found in measure():
        print(f"{found['name']}: {found['ours']:.1f} s cold, {found['reference']:.1f} s with its kernels on disk")
