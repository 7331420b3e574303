"""Positions and symmetries of each step of self-play training.

They depend only on the seed, the generation and the number of the step, so a resumed training sees the same batches.
The positions are tensors on the net's device, where a batch is indexed from them.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from pipeline_src import streams
from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.ranks import Share
from pipeline_src.learning.symmetry import COUNT, board_maps
from pipeline_src.systems.gomoku_zero.positions import Positions

ALL = Share()


class Batch(NamedTuple):
    """B positions as the net and its loss take them."""

    planes: Tensor
    """float32 [B, C, H, W], its channels last in memory."""
    policy: Tensor
    """float32 [B, N]."""
    value: Tensor
    """float32 [B]."""


class Batches(nn.Module):
    """Positions, brought to the net's device by the module; called with a step, it cuts that batch."""

    cells: Tensor
    """uint8 [R * N, C]: each cell's planes lie together, as convolutions like them, and a batch is one gather."""
    policy: Tensor
    """float32 [R * N]."""
    value: Tensor
    """float32 [R]."""
    maps: Tensor
    """int64 [8, N], `board_maps`."""

    def __init__(self, positions: Positions, *, batch: int, augment: bool, seed: int, generation: int) -> None:
        """``batch`` positions a step, drawn from all with equal chances; ``augment``: each under its own symmetry.

        Raises:
            ZugwerkError: there are no positions, or the boards are not square.
        """
        super().__init__()
        count, planes, height, width = positions.planes.shape
        if not count:
            raise ZugwerkError("self-play window: no positions to train on")
        if height != width:
            raise ZugwerkError(f"boards of {height}x{width} do not have the eight symmetries of a square")
        self.batch, self.which, self.key = batch, COUNT if augment else 1, (seed, streams.REPLAY_WINDOW, generation)
        cells = torch.from_numpy(positions.planes).permute(0, 2, 3, 1).reshape(-1, planes)
        maps = torch.from_numpy(board_maps(width).astype(np.int64))  # the first is the identity
        buffers = {"cells": cells, "policy": torch.from_numpy(positions.policy).flatten(), "maps": maps}
        for name, tensor in {**buffers, "value": torch.from_numpy(positions.value)}.items():
            self.register_buffer(name, tensor, persistent=False)

    def forward(self, step: int, share: Share = ALL) -> Batch:
        """A process's share of the batch of a step, counted from 0."""
        rng = np.random.default_rng([*self.key, step])
        rows, which = rng.integers(0, len(self.value), self.batch), rng.integers(0, self.which, self.batch)
        row, symmetry = (torch.from_numpy(share.of(drawn)).to(self.value.device) for drawn in (rows, which))
        taken = self.maps[symmetry] + row[:, None] * self.maps.shape[1]  # [B, N], out of the cells of all positions
        side = math.isqrt(taken.shape[1])
        planes = self.cells.index_select(0, taken.flatten()).float().view(len(row), side, side, -1)
        return Batch(planes.permute(0, 3, 1, 2), self.policy[taken], self.value[row])
