"""Which positions a step of self-play training sees, and in which symmetry.

It follows from the seed, the generation and the step's number alone, so a training that was killed goes on with the
batches it would have seen. The positions are tensors where the net is, and a batch is cut from them by index there.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from pipeline_src.errors import ZugwerkError
from pipeline_src.samples.symmetry import COUNT, board_maps
from pipeline_src.samples.zero_positions import Positions

TAG = 8
"""Keeps these random numbers apart from other stages'."""


class Batch(NamedTuple):
    """B positions as the net and its loss take them."""

    planes: Tensor
    """float32 [B, C, H, W]."""
    policy: Tensor
    """float32 [B, N]."""
    value: Tensor
    """float32 [B]."""


class Batches(nn.Module):
    """Positions that move to the net's device with it, in no checkpoint; called with a step, it cuts that batch."""

    planes: Tensor
    policy: Tensor
    value: Tensor
    maps: Tensor

    def __init__(self, positions: Positions, *, batch: int, augment: bool, seed: int, generation: int) -> None:
        """``batch`` positions a step, drawn from all with equal chances; ``augment``: each under its own symmetry.

        Raises:
            ZugwerkError: there are no positions, or the boards are not square.
        """
        super().__init__()
        count, _, height, width = positions.planes.shape
        if not count:
            raise ZugwerkError("self-play window: no positions to train on")
        if height != width:
            raise ZugwerkError(f"boards of {height}x{width} do not have the eight symmetries of a square")
        self.batch, self.augment, self.key = batch, augment, (seed, TAG, generation)
        arrays = {"planes": positions.planes, "policy": positions.policy, "value": positions.value}
        for name, array in {**arrays, "maps": board_maps(width).astype(np.int64)}.items():
            self.register_buffer(name, torch.from_numpy(array), persistent=False)

    def forward(self, step: int) -> Batch:
        """The batch of a step, counted from 0."""
        rng = np.random.default_rng([*self.key, step])
        rows = torch.from_numpy(rng.integers(0, len(self.value), self.batch)).to(self.value.device)
        planes, policy = self.planes[rows], self.policy[rows]
        if self.augment:
            which = torch.from_numpy(rng.integers(0, COUNT, self.batch)).to(self.value.device)
            cells = self.maps[which]
            flat = planes.flatten(2)
            planes = flat.gather(2, cells[:, None].expand_as(flat)).view_as(planes)
            policy = policy.gather(1, cells)
        return Batch(planes.float(), policy, self.value[rows])
