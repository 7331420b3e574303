"""A plain convolutional net for self-play: a few full convolutions, then a policy and a value head.

The shape that popular Gomoku programs use (AlphaZero_Gomoku: 32, 64 and 128 filters of 3x3, four 1x1 filters before
the policy, two before the value, a hidden layer of 64), with batch norm as an option.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn

from pipeline_src.nets.blocks import Normed


@dataclass(frozen=True)
class PlainConfig:
    """What fixes the shape of the net."""

    height: int
    width: int
    positions: int
    """Of history; the net sees 2 * positions + 1 planes."""
    filters: tuple[int, ...] = (32, 32, 32)
    """Of each 3x3 convolution in turn."""
    batch_norm: bool = True
    policy_planes: int = 4
    """1x1 filters before the policy's fully connected layer."""
    value_planes: int = 2
    """1x1 filters before the value's."""
    value_hidden: int = 64
    """Units of the value's hidden layer."""

    kind: ClassVar[str] = "plain"


class PlainNet(nn.Module):
    """Planes float32 [B, C, H, W] -> policy logits float32 [B, N], value float32 [B] in -1..1 to the side to move."""

    def __init__(self, config: PlainConfig) -> None:
        super().__init__()
        self.config = config
        cells, scale = config.height * config.width, 1.0 if config.batch_norm else None
        widths = (2 * config.positions + 1, *config.filters)
        self.trunk = nn.ModuleList(Normed(into, filters, 3, scale) for into, filters in pairwise(widths))
        self.policy_planes = Normed(widths[-1], config.policy_planes, 1, scale)
        self.policy = nn.Linear(config.policy_planes * cells, cells)
        self.value_planes = Normed(widths[-1], config.value_planes, 1, scale)
        self.value_hidden = nn.Linear(config.value_planes * cells, config.value_hidden)
        self.value = nn.Linear(config.value_hidden, 1)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """See the class."""
        # Channels last is the order that the convolutions of CPUs and tensor cores work in.
        x = planes.contiguous(memory_format=torch.channels_last)
        for convolution in self.trunk:
            x = convolution(x).relu_()
        logits: Tensor = self.policy(self.policy_planes(x).relu_().flatten(1))
        hidden = self.value_hidden(self.value_planes(x).relu_().flatten(1)).relu_()
        value: Tensor = self.value(hidden).squeeze(1).tanh()
        return logits, value
