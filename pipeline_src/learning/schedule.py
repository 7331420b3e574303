"""Learning rate over a training: up in a straight line, then down."""

import math

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from pipeline_src.learning.lightning import OptimizerLRScheduler


def rate_factor(schedule: str, step: int, total: int, warmup: float) -> float:
    """Factor on the highest learning rate at a step.

    Args:
        schedule: ``constant``, ``linear`` (to 0) or ``cosine`` (half a wave, to 0).
        step: from 0.
        total: steps of the whole training.
        warmup: fraction of them in which the rate rises.

    Raises:
        ValueError: no such schedule.
    """
    rising = round(warmup * total)
    if step < rising:
        return (step + 1) / (rising + 1)
    done = min(1.0, (step - rising) / max(1, total - rising))
    if schedule == "constant":
        return 1.0
    if schedule == "linear":
        return 1 - done
    if schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * done))
    raise ValueError(f"schedule: {schedule!r} is not one of constant, linear, cosine")


def by_step(optimizer: Optimizer, schedule: str, total: int, warmup: float) -> OptimizerLRScheduler:
    """Return an optimizer with `rate_factor` on its learning rate, in the form that Lightning takes."""
    scheduler = LambdaLR(optimizer, lambda step: rate_factor(schedule, step, total, warmup))
    return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}
