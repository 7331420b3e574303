"""The paper's residual net of 32 convolutions, any smaller one of the same make, and what the paper leaves open.

Sources: Li, He, Wu et al., "Gomoku by Monte Carlo tree search and one deep residual network" (the layers); He, Zhang,
Ren and Sun, "Deep residual learning for image recognition", CVPR 2016 (the block: two convolutions, the sum before the
last ReLU; and option A for a change of width: a shortcut that is padded with zeros and has no parameters).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from pipeline_src.systems.gomoku_zero.blocks import Normed


@dataclass(frozen=True)
class ResidualConfig:
    """The shape of the net; the defaults are the paper's."""

    height: int = 15
    width: int = 15
    positions: int = 5
    """Positions of history; the input has 2 * positions + 1 planes."""
    stem_filters: int = 32
    """Filters of the first convolution."""
    stem_kernel: int = 5
    """Its side, odd."""
    widths: tuple[int, ...] = (64, 128, 256)
    """Filters of the 3x3 convolutions of the blocks, from the first width to the last."""
    blocks: int = 5
    """Number of blocks of each width."""
    shortcut: Literal["pad", "project"] = "pad"
    """Where the width grows: zeros in the new channels, or a 1x1 convolution."""
    head_planes: int = 1
    """1x1 filters of the last convolution; the paper has one."""
    head_relu: bool = False
    """Whether a ReLU follows it; a single plane that dies takes both heads with it."""
    value_hidden: int = 0
    """Units of a hidden layer before the value; the paper has none."""

    kind: ClassVar[str] = "residual"


class ResidualNet(nn.Module):
    """Planes float32 [B, C, H, W] -> policy logits float32 [B, N], value float32 [B] in -1..1 to the side to move."""

    def __init__(self, config: ResidualConfig) -> None:
        super().__init__()
        self.config = config
        cells = config.height * config.width
        self.stem = Normed(2 * config.positions + 1, config.stem_filters, config.stem_kernel)
        widths = [config.stem_filters] + [width for width in config.widths for _ in range(config.blocks)]
        self.blocks = nn.ModuleList(Block(into, filters, config.shortcut) for into, filters in pairwise(widths))
        self.norm = nn.BatchNorm2d(widths[-1])
        self.head = nn.Conv2d(widths[-1], config.head_planes, 1)
        flat = config.head_planes * cells
        self.policy = nn.Linear(flat, cells)
        self.value_hidden = nn.Linear(flat, config.value_hidden) if config.value_hidden else None
        self.value = nn.Linear(config.value_hidden or flat, 1)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """See the class."""
        # Channels last is the order that the convolutions of CPUs and tensor cores work in.
        x = self.stem(planes.contiguous(memory_format=torch.channels_last)).relu_()
        for block in self.blocks:
            x = block(x)
        x = self.head(self.norm(x)).flatten(1)
        if self.config.head_relu:
            x = x.relu()
        logits: Tensor = self.policy(x)
        hidden = x if self.value_hidden is None else self.value_hidden(x).relu()
        value: Tensor = self.value(hidden).squeeze(1).tanh()
        return logits, value


class Block(nn.Module):
    """Two 3x3 convolutions beside a shortcut, [B, ``into``, H, W] -> [B, ``filters``, H, W]."""

    def __init__(self, into: int, filters: int, shortcut: Literal["pad", "project"]) -> None:
        super().__init__()
        self.grow = filters - into
        # At scale 0 a block starts as the identity and deep trunks learn from the first step; where channels are new
        # they would stay zero for ever, since a ReLU hands no gradient on at 0.
        self.one, self.two = Normed(into, filters, 3), Normed(filters, filters, 3, 1.0 if self.grow else 0.0)
        self.project = Normed(into, filters, 1) if self.grow and shortcut == "project" else None

    def forward(self, x: Tensor) -> Tensor:
        """Return the input of the next block."""
        out: Tensor = self.two(self.one(x).relu_())
        if self.project is not None:
            x = self.project(x)
        elif self.grow:
            x = pad(x, (0, 0, 0, 0, 0, self.grow))
        return (out + x).relu_()
