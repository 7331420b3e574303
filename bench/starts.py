"""Time until a program of ours has loaded, and CPU seconds of a first move without kernels on disk.

The references of the starts are the least that each can take: Python itself, or torch with Lightning. The reference of
a cold move is the same command once more with its kernels on disk: the start of Python, the imports and the move.
"""

import resource
import subprocess
import sys
import tempfile

from bench.measure import Row, environment, medians, row, seconds
from bench.run import FOLDER

REPEATS = 5
ROOT = FOLDER.parent
MOVES = {
    "cold_move_amazons_cpu_s": ["amazons", "move", "--player", "alphabeta:depth=2,width=10"],
    "cold_move_gomoku_cpu_s": ["gomoku", "move", "--player", "alphabeta:depth=2,width=10"],
    "cold_move_zero_cpu_s": ["gomoku", "move", "--player", "zero:simulations=8", "--fen", "9/" * 8 + "9 b freestyle"],
}


def measure() -> list[Row]:
    """``start_cli_ms``, ``start_training_stage_ms`` and the rows of `MOVES`."""
    cli = medians(lambda: start("-m", "pipeline_src.cli", "--help"), lambda: start("-c", "pass"), REPEATS)
    stage = medians(
        lambda: start("-c", "import pipeline_src.stages.amazons_train"),
        lambda: start("-c", "import torch, lightning.pytorch"),
        REPEATS,
    )
    return [
        row("start_cli_ms", *cli, "python", "ms"),
        row("start_training_stage_ms", *stage, "torch and Lightning", "ms"),
        *(row(name, *cold_and_warm(words), "kernels on disk", "s") for name, words in MOVES.items()),
    ]


def start(*words: str) -> float:
    """Return the wall milliseconds of a Python process."""
    run = [sys.executable, *words]
    return 1000 * seconds(lambda: subprocess.run(run, check=True, stdout=subprocess.DEVNULL))


def cold_and_warm(words: list[str]) -> tuple[float, float]:
    """Return the CPU seconds of a command and its children, without and with its kernels on disk."""
    found = []
    with tempfile.TemporaryDirectory(prefix="zugwerk-bench-") as folder:
        env = environment(ROOT) | {"ZUGWERK_CACHE": folder}
        for _ in range(2):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-m", "pipeline_src.cli", *words]
            subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return found[0], found[1]
