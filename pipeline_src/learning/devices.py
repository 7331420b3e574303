"""Params of every training: number of devices, and so of processes, that train one net."""

from typing import Literal

from pipeline_src.project.params import Count, Params


class Devices(Params):
    """Lightning's; each process takes its share of every batch, and gradients are averaged.

    The shares' sums round otherwise than the whole batch's, so the weights differ in their last bits with the number of
    processes: these are params like others, and unlike those of `parallel`.
    """

    devices: Count = 1
    """Number of GPUs of each machine that train one net; without GPUs, number of processes."""
    num_nodes: Count = 1
    """Number of machines."""
    strategy: Literal["auto", "ddp"] = "auto"
    """Lightning's strategy; auto is ddp with more than one process."""
