"""A plain convolutional net for self-play: a few full convolutions, then a policy and a value head.

The shape that popular Gomoku programs use (AlphaZero_Gomoku: 32, 64 and 128 filters of 3x3, four 1x1 filters before
the policy, two before the value, a hidden layer of 64), with batch norm as an option. The net of boards that grow has
the same convolutions; its input is one plane of -1, 0 and 1 (``signed``).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from pipeline_src.systems.gomoku_zero.blocks import Normed


@dataclass(frozen=True)
class PlainConfig:
    """The shape of the net."""

    height: int
    width: int
    positions: int
    """Positions of history; the input has 2 * positions + 1 planes."""
    filters: tuple[int, ...] = (32, 32, 32)
    """Filters of each 3x3 convolution in turn."""
    batch_norm: bool = True
    signed: bool = False
    """The first convolution sees one plane, 1 on own stones, -1 on the other side's, instead of the planes."""
    head: Literal["dense", "convolutional"] = "dense"
    """dense: 1x1 filters, then fully connected layers over all cells. convolutional: the policy is 3x3 filters, then
    a 3x3 convolution to one plane; the value's hidden layer sees mean and maximum of each of its planes."""
    policy_planes: int = 4
    """Filters before the policy's last layer."""
    value_planes: int = 2
    """1x1 filters before the value's hidden layer."""
    value_hidden: int = 64
    """Units of the value's hidden layer."""

    kind: ClassVar[str] = "plain"


class PlainNet(nn.Module):
    """Planes float32 [B, C, H, W] -> policy logits float32 [B, N], value float32 [B] in -1..1 to the side to move."""

    def __init__(self, config: PlainConfig) -> None:
        super().__init__()
        self.config = config
        cells, scale = config.height * config.width, 1.0 if config.batch_norm else None
        widths = (1 if config.signed else 2 * config.positions + 1, *config.filters)
        self.trunk = nn.ModuleList(Normed(into, filters, 3, scale) for into, filters in pairwise(widths))
        dense = config.head == "dense"
        self.policy_planes = Normed(widths[-1], config.policy_planes, 1 if dense else 3, scale)
        self.policy: nn.Linear | nn.Conv2d = (
            nn.Linear(config.policy_planes * cells, cells)
            if dense
            else nn.Conv2d(config.policy_planes, 1, 3, padding=1)
        )
        self.value_planes = Normed(widths[-1], config.value_planes, 1, scale)
        self.value_hidden = nn.Linear(config.value_planes * (cells if dense else 2), config.value_hidden)
        self.value = nn.Linear(config.value_hidden, 1)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """See the class."""
        positions, dense = self.config.positions, self.config.head == "dense"
        x = planes[:, :1] - planes[:, positions : positions + 1] if self.config.signed else planes
        # Channels last is the order that the convolutions of CPUs and tensor cores work in.
        x = x.contiguous(memory_format=torch.channels_last)
        for convolution in self.trunk:
            x = convolution(x).relu_()
        policy, value = self.policy_planes(x).relu_(), self.value_planes(x).relu_()
        logits: Tensor = self.policy(policy.flatten(1)) if dense else self.policy(policy).flatten(1)
        pooled = value.flatten(1) if dense else torch.cat([value.mean((2, 3)), value.amax((2, 3))], 1)
        result: Tensor = self.value(self.value_hidden(pooled).relu_()).squeeze(1).tanh()
        return logits, result
