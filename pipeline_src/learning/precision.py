"""Number format of a training on this machine."""

from typing import Literal

import torch

from pipeline_src.learning.devices import Precision


def number_format(asked: Precision) -> Literal["32-true", "bf16-mixed"]:
    """Return Lightning's name of the format, which for ``auto`` is bf16-mixed where that is faster.

    CPUs that multiply bf16 (AVX512_BF16, AMX) train our nets in half to two thirds of the time, and as well
    (docs/experiments.md); others take longer with it.
    """
    if asked != "auto":
        return asked
    # With AMX always comes AVX512_BF16.
    return "bf16-mixed" if torch.cuda.is_available() or torch.cpu.get_capabilities().get("avx512_bf16") else "32-true"
