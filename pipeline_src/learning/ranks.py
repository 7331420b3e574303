"""Training of one net in several processes: shares of the data, sums over processes, and tasks of the first process.

With one process, its share is all of the data, and nothing here changes a bit of the result.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import torch
from lightning.pytorch.utilities import rank_zero_only
from torch import Tensor, nn

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.devices import Devices

Rows = TypeVar("Rows")


class Share(NamedTuple):
    """A process among those that train together."""

    rank: int = 0
    """Number of the process, from 0."""
    world: int = 1
    """Number of processes."""

    def of(self, rows: Rows) -> Rows:
        """This process's part of rows that all know: each ``world``-th."""
        part: Rows = rows[self.rank :: self.world]  # type: ignore[index]
        return part


def share() -> Share:
    """Return the share of this process, while a net is trained."""
    if not _together():
        return Share()
    return Share(torch.distributed.get_rank(), torch.distributed.get_world_size())


def summed(sums: Tensor) -> Tensor:
    """Sums over the processes of what each has, the same in all."""
    if not _together():
        return sums
    total = sums.detach().clone()
    torch.distributed.all_reduce(total)
    return total


def level(module: nn.Module) -> None:
    """Give all processes the first one's buffers: each has kept the running means of its own share."""
    if _together():
        for buffer in module.buffers():
            torch.distributed.broadcast(buffer, 0)


def is_first() -> bool:
    """Whether this process is the one that writes files; known before training as well."""
    return int(getattr(rank_zero_only, "rank", 0) or 0) == 0  # Lightning sets it on the decorator itself


def trainer_options(params: Devices, batch: int) -> dict[str, Any]:
    """Return the options of Lightning's trainer about devices.

    Raises:
        ZugwerkError: the batch has no equal shares, or there are fewer GPUs.
    """
    gpu, world = torch.cuda.is_available(), params.devices * params.num_nodes
    if batch % world:
        raise ZugwerkError(f"a batch of {batch} has no equal shares for {world} processes; change batch or devices")
    if gpu and torch.cuda.device_count() < params.devices:
        raise ZugwerkError(f"devices: {params.devices}, but this machine has {torch.cuda.device_count()} GPUs")
    return {
        "accelerator": "gpu" if gpu else "cpu",
        "devices": params.devices,
        "num_nodes": params.num_nodes,
        "strategy": params.strategy,
        "sync_batchnorm": gpu and world > 1,  # PyTorch has it for GPUs alone
        "use_distributed_sampler": False,
    }


@contextmanager
def one_goes_on() -> Iterator[None]:
    """Around a training: after it the first process continues alone, the others end.

    Lightning starts the others with the command of this one. What it left in the environment is taken back, so that the
    next training of this process starts some again.
    """
    before = dict(os.environ)
    yield
    if not is_first():
        sys.exit()
    if _together():
        torch.distributed.destroy_process_group()
        os.environ.clear()
        os.environ.update(before)


def _together() -> bool:
    return torch.distributed.is_available() and torch.distributed.is_initialized()
