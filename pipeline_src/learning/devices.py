"""Params of every training: number of devices, and so of processes, that train one net; and number format."""

from typing import Literal

from pipeline_src.project.params import Count, Params

Precision = Literal["auto", "32-true", "bf16-mixed"]


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


class MixedPrecision(Devices):
    """Devices and number format, for nets that learn as much with either format."""

    precision: Precision = "auto"
    """Number format of training; auto is bf16-mixed on a GPU and on a CPU with AVX512_BF16, and 32-true otherwise."""
