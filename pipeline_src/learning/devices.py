"""Params of every training: on how many devices, and so in how many processes, one net is trained."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Devices:
    """Lightning's; each process takes its share of every batch, and gradients are averaged.

    The shares' sums round otherwise than the whole batch's, so the weights differ in their last bits with the number of
    processes: these are params like others, and unlike those of `parallel`.
    """

    devices: int = 1
    """GPUs of each machine; without GPUs, processes."""
    num_nodes: int = 1
    """Machines."""
    strategy: Literal["auto", "ddp"] = "auto"
    """auto is ddp where there is more than one process."""

    def __post_init__(self) -> None:
        for name in ("devices", "num_nodes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
