"""The convolutional nets of self-play: the plain one, the paper's residual one, and the net that knows nothing.

Each maps planes float32 [B, C, H, W] to policy logits float32 [B, N] and values float32 [B] in -1..1 to the side to
move.
"""

from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.nn.utils.fusion import fuse_conv_bn_eval

from pipeline_src.project.params import Count
from pipeline_src.systems.gomoku_zero.params import NetShape, PlainParams, ResidualParams


class Normed(nn.Module):
    """A square convolution, [B, ``into``, H, W] -> [B, ``filters``, H, W], and what normalises its output."""

    def __init__(self, into: int, filters: int, kernel: int, scale: float | None = 1.0) -> None:
        """Fresh weights.

        Args:
            into: channels that come in.
            filters: channels that go out.
            kernel: odd side of the convolution.
            scale: of the batch norm at the start; None for no batch norm, then the convolution has a bias.
        """
        super().__init__()
        self.convolution = nn.Conv2d(into, filters, kernel, padding=kernel // 2, bias=scale is None)
        self.norm = None if scale is None else nn.BatchNorm2d(filters)
        if self.norm is not None and scale is not None:
            nn.init.constant_(self.norm.weight, scale)

    def forward(self, x: Tensor) -> Tensor:
        """No activation follows."""
        out: Tensor = self.convolution(x)
        return out if self.norm is None else self.norm(out)

    def fold(self) -> None:
        """Make the batch norm of evaluation mode part of the convolution."""
        if self.norm is not None:
            self.convolution, self.norm = fuse_conv_bn_eval(self.convolution, self.norm), None


class PlainConfig(PlainParams, NetShape):
    """The shape of a plain net.

    With ``signed`` the first convolution sees one plane, 1 on own stones and -1 on the other side's. The dense head has
    1x1 filters, then fully connected layers over all cells. Of the convolutional one the policy is 3x3 filters, then a
    3x3 convolution to one plane; the value's hidden layer sees mean and maximum of each of its planes.
    """

    kind: ClassVar[str] = "plain"


class PlainNet(nn.Module):
    """A few full convolutions, then a policy and a value head.

    The shape that popular Gomoku programs use (AlphaZero_Gomoku: 32, 64 and 128 filters of 3x3, four 1x1 filters before
    the policy, two before the value, a hidden layer of 64), with batch norm as an option. The published net of boards
    that grow has the same convolutions; its input is one plane of -1, 0 and 1 (``signed``).
    """

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


class ResidualConfig(ResidualParams, NetShape):
    """The shape of a residual net; the defaults are the paper's."""

    kind: ClassVar[str] = "residual"


class ResidualNet(nn.Module):
    """The paper's residual net of 32 convolutions, smaller versions of it, and options that the paper leaves open.

    Sources: Li, He, Wu et al., "Gomoku by Monte Carlo tree search and one deep residual network" (the layers); He,
    Zhang, Ren and Sun, "Deep residual learning for image recognition", CVPR 2016 (the block: two convolutions, the sum
    before the last ReLU; and option A for a change of width: a shortcut that is padded with zeros and has no
    parameters).
    """

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
    """Two 3x3 convolutions plus a shortcut, [B, ``into``, H, W] -> [B, ``filters``, H, W]."""

    def __init__(self, into: int, filters: int, shortcut: Literal["pad", "project"]) -> None:
        super().__init__()
        self.grow = filters - into
        # At scale 0 a block starts as the identity, and deep trunks learn from the first step. New channels would then
        # stay zero for ever, since a ReLU has no gradient at 0.
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


class UniformConfig(NetShape):
    """The board."""

    kind: ClassVar[str] = "uniform"

    positions: Count = 1
    """Positions of history in the planes, of which the net reads none."""


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
