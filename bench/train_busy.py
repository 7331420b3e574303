"""How much longer one training of Amazons-Net takes beside a busy process: two cores, laptop params, random games.

With ``torch_threads`` of params.yaml, beside two threads, which wait for each other at every layer.
``python -m bench.train_busy`` prints the seconds behind it.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from bench.amazons_batches import random_dataset
from bench.measure import row, seconds
from pipeline_src.project.params import load, load_value
from pipeline_src.systems.amazons_net.params import AmazonsTrainParams
from pipeline_src.systems.amazons_net.train import train

BUSY = [sys.executable, "-c", "while True: pass"]


def measure() -> list[dict[str, Any]]:
    """``train_busy_slowdown``."""
    threads = load_value(int, "torch_threads")
    found = {number: slowdown(number) for number in {threads, 2}}
    ours, two = (found[number]["beside"] / found[number]["alone"] for number in (threads, 2))
    return [row("train_busy_slowdown", ours, two, "two threads", "times as long")]


def slowdown(threads: int) -> dict[str, float]:
    """Seconds of a training ``alone`` and ``beside`` a busy process, in a process of its own."""
    command = [sys.executable, "-m", "bench.train_busy", "--threads", str(threads)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _measure_here(threads: int) -> dict[str, float]:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    torch.set_num_threads(threads)
    params = load(AmazonsTrainParams, "amazons_train")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dataset = random_dataset(folder / "samples")

        def once(work: str) -> float:
            return seconds(lambda: train(dataset, params, model="cross_entropy", seed=0, folder=folder / work))

        once("warm")
        alone = once("alone")
        with subprocess.Popen(BUSY) as busy:
            beside = once("beside")
            busy.kill()
    return {"alone": round(alone, 2), "beside": round(beside, 2)}


if __name__ == "__main__":
    if "--threads" in sys.argv:
        print(json.dumps(_measure_here(int(sys.argv[-1]))))
    else:
        for count in (1, 2):
            print(f"{count} threads: {slowdown(count)} s")
