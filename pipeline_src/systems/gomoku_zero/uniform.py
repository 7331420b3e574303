"""A constant net without knowledge: the best player before the first generation."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class UniformConfig:
    """The board."""

    kind: ClassVar[str] = "uniform"

    height: int = 15
    width: int = 15
    positions: int = 1


class UniformNet(nn.Module):
    """The same for every position: values of 0, and logits that differ by next to nothing.

    The small differences put the cells in a scrambled order. Without them, all ties would go to the top row.
    """

    logits: Tensor

    def __init__(self, config: UniformConfig) -> None:
        super().__init__()
        self.config = config
        cells = config.height * config.width
        order = torch.from_numpy(np.random.default_rng(0).permutation(cells))
        self.register_buffer("logits", order.float() * (1e-3 / cells))

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Policy logits [B, N] and values [B] of planes [B, C, H, W]."""
        return self.logits.expand(len(planes), -1), planes.new_zeros(len(planes))
