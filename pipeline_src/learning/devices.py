"""Params of every training: on how many devices, and so in how many processes, one net is trained."""

from typing import Literal

from pipeline_src.project.params import Count, Params


class Devices(Params):
    """Lightning's; each process takes its share of every batch, and gradients are averaged.

    The shares' sums round otherwise than the whole batch's, so the weights differ in their last bits with the number of
    processes: these are params like others, and unlike those of `parallel`.
    """

    devices: Count = 1
    """GPUs of each machine that train one net; without GPUs, processes."""
    num_nodes: Count = 1
    """Machines."""
    strategy: Literal["auto", "ddp"] = "auto"
    """auto is ddp where there is more than one process."""
