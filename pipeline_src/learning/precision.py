"""Number format of a training on this machine."""

from typing import Literal

import torch

from pipeline_src.learning.devices import Precision


def number_format(asked: Precision) -> Literal["32-true", "bf16-mixed"]:
    """Return Lightning's name of the format, which for ``auto`` is bf16-mixed where that is faster.

    With AMX our nets train in half the time, and learn as much (docs/experiments.md); other CPUs take longer with it.
    """
    if asked != "auto":
        return asked
    return "bf16-mixed" if torch.cuda.is_available() or torch.cpu.get_capabilities().get("amx_bf16") else "32-true"
