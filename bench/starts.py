"""Time until a program of ours has loaded, its memory then, and CPU seconds of a first move without kernels on disk.

The references of the starts are the least that each can take: Python itself, torch with Lightning, or NumPy, numba and
ONNX Runtime, which run the packaged nets. The reference of a cold move is the same command once more with its kernels
on disk: the start of Python, the imports and the move.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

from bench.measure import Row, environment, medians, row, seconds
from bench.run import FOLDER
from pipeline_src.errors import ZugwerkError

REPEATS = 5
ROOT = FOLDER.parent
MOVES = {
    "cold_move_amazons_cpu_s": ["amazons", "move", "--player", "alphabeta:depth=2,width=10"],
    "cold_move_gomoku_cpu_s": ["gomoku", "move", "--player", "alphabeta:depth=2,width=10"],
    "cold_move_zero_cpu_s": ["gomoku", "move", "--player", "zero:simulations=8", "--fen", "9/" * 8 + "9 b freestyle"],
}
READY = {
    ("start_play_ms", "start_play_mb"): (["play", "gomoku", "--against", "zero", "--size", "9"], "", "1> "),
    ("start_brain_ms", "start_brain_mb"): (["gomoku", "brain", "--player", "zero"], "START 15\n", "OK"),
    ("start_web_ms", "start_web_mb"): (["web", "--no-browser", "--port", "0"], "", "ready"),
}
"""Interactive commands, with the input of each and its output when it is ready."""


def measure() -> list[Row]:
    """``start_cli_ms``, ``start_training_stage_ms``, for each of `READY` time and memory, and the rows of `MOVES`."""
    cli = medians(lambda: start("-m", "pipeline_src.cli", "--help"), lambda: start("-c", "pass"), REPEATS)
    stage = medians(
        lambda: start("-c", "import pipeline_src.systems.amazons_net.train"),
        lambda: start("-c", "import torch, lightning.pytorch"),
        REPEATS,
    )
    return [
        row("start_cli_ms", *cli, "python", "ms"),
        row("start_training_stage_ms", *stage, "torch and Lightning", "ms"),
        *(found for names in READY for found in ready_rows(*names)),
        *(row(name, *cold_and_warm(words), "kernels on disk", "s") for name, words in MOVES.items()),
    ]


def ready_rows(time_name: str, memory_name: str) -> list[Row]:
    """The median time and the most memory until a command of `READY` is ready."""
    words, said, answer = READY[time_name, memory_name]
    memory = []

    def ours() -> float:
        took, size = ready(["-m", "pipeline_src.cli", *words], said, answer)
        memory.append(size)
        return took

    imports = "import numpy, numba, onnxruntime, sys; print('up', flush=True); sys.stdin.read()"
    times = medians(ours, lambda: ready(["-c", imports], "", "up")[0], REPEATS)
    least = ready(["-c", imports], "", "up")[1]
    reference = "NumPy, numba and ONNX Runtime"
    return [
        row(time_name, *times, reference, "ms"),
        row(memory_name, max(memory), least, reference, "MB"),
    ]


def ready(words: list[str], said: str, answer: str) -> tuple[float, float]:
    """Return the wall milliseconds until a Python process gives an answer, and its memory in MB by then; end it."""
    pipe = subprocess.PIPE
    begin = time.perf_counter()
    with subprocess.Popen([sys.executable, *words], cwd=ROOT, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(said.encode())
        process.stdin.flush()
        heard = b""
        while answer.encode() not in heard:
            more = os.read(process.stdout.fileno(), 1 << 16)
            if not more:
                raise ZugwerkError(f"{' '.join(words)}: ended without {answer!r}")
            heard += more
        took = 1000 * (time.perf_counter() - begin)
        with open(f"/proc/{process.pid}/statm") as file:
            size = int(file.read().split()[1]) * resource.getpagesize() / 1e6
        process.terminate()
    return took, size


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
