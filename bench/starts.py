"""Milliseconds until a program of ours has loaded: `zugwerk --help`, and the imports of a stage that trains.

The references are the least that each can take: Python itself, and torch with Lightning, of whose imports torch._dynamo
(which every optimiser of torch loads), torch.distributed and torchmetrics with scipy are the larger part.
"""

import subprocess
import sys
from typing import Any

from bench.measure import medians, row, seconds

REPEATS = 5


def measure() -> list[dict[str, Any]]:
    """``start_cli_ms`` and ``start_training_stage_ms``."""
    cli = medians(lambda: start("-m", "pipeline_src.cli", "--help"), lambda: start("-c", "pass"), REPEATS)
    stage = medians(
        lambda: start("-c", "import pipeline_src.stages.amazons_train"),
        lambda: start("-c", "import torch, lightning.pytorch"),
        REPEATS,
    )
    return [
        row("start_cli_ms", *cli, "python", "ms"),
        row("start_training_stage_ms", *stage, "torch and Lightning", "ms"),
    ]


def start(*words: str) -> float:
    """Wall milliseconds of a Python process."""
    run = [sys.executable, *words]
    return 1000 * seconds(lambda: subprocess.run(run, check=True, stdout=subprocess.DEVNULL))
