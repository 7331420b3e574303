"""The common interface of nets for the Amazons, and the residual net.

Sources: He, Zhang, Ren and Sun, "Deep residual learning for image recognition", CVPR 2016 (the blocks); Silver et al.,
"A general reinforcement learning algorithm that masters chess, shogi, and Go through self-play", Science 362, 2018 (a
trunk with policy and value heads, from planes seen from the side to move); Shaw, Uszkoreit and Vaswani,
"Self-attention with relative position representations", NAACL 2018 (the bias by relative place).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from pipeline_src.systems.amazons_net.planes import PLANES, Config

Answers = tuple[Tensor, Tensor]
"""Value logit [B] of the mover's chance to win, and policy logits [B, ...], illegal entries among them."""


class Nets(nn.Module):
    """A net that is called twice per turn: for the amazon's move, and then for the arrow.

    Input is float32 [B, C, H, W] as the encoder of ``config.encoding`` makes it; N = H * W squares.
    """

    config: Config

    def move(self, features: Tensor) -> Answers:
        """Value, and policy [B, N * N] with entry ``from * N + to``."""
        raise NotImplementedError

    def arrow(self, features: Tensor) -> Answers:
        """Value, and policy [B, N], of the position once the amazon has moved."""
        raise NotImplementedError

    def both(self, move: Tensor, arrow: Tensor) -> tuple[Answers, Answers]:
        """`move` of the one batch and `arrow` of the other, as one step of training asks for them."""
        return self.move(move), self.arrow(arrow)


def gather_rows(logits: Tensor, rows: Tensor) -> Tensor:
    """The rows of an N x N policy that can hold a legal move.

    A move starts on a square of one of the mover's own pieces, so the other rows are illegal as a whole: leaving
    them out changes no probability and saves most of the softmax.

    Args:
        logits: float [B, N * N], entry ``from * N + to``.
        rows: integer [B, K], the squares of the pieces.

    Returns:
        float [B, K, N].
    """
    size = round(logits.shape[1] ** 0.5)
    batch = torch.arange(len(logits), device=logits.device)[:, None]
    return logits.view(len(logits), size, size)[batch, rows.long()]


def masked_log_softmax(logits: Tensor, legal: Tensor) -> Tensor:
    """Log-probabilities over the legal entries of each position; minus infinity elsewhere.

    The mask goes into the logits before the softmax, so that all probability lies on legal entries. Where a
    position has none, all its entries are minus infinity, and neither they nor their gradients are NaN.

    Args:
        logits: float [B, ...]; the softmax runs over all but the first axis together.
        legal: bool, the same shape.

    Returns:
        float32, the same shape.
    """
    masked = logits.float().flatten(1).masked_fill(~legal.flatten(1), -torch.inf)
    empty = ~legal.flatten(1).any(1, keepdim=True)
    log_p = torch.log_softmax(masked.masked_fill(empty, 0.0), dim=1)
    return log_p.masked_fill(empty, -torch.inf).view(logits.shape)


MAX_SIDE = 10
"""Largest board that the biases by relative place know."""


@dataclass(frozen=True)
class ResidualConfig:
    """The shape of the net."""

    size: int = 10
    """Squares along one side of the boards that it is trained on; the weights themselves fit any size up to 10."""
    channels: int = 32
    """Filters of each 3x3 convolution of the trunk."""
    blocks: int = 4
    """Residual blocks of two convolutions each."""
    embedding: int = 32
    """Length of the embeddings of from and to squares in the move policy."""

    encoding: ClassVar[str] = "planes"

    @property
    def options(self) -> Mapping[str, bool]:
        """Keyword arguments of the encoder, which has none."""
        return {}


class ResidualNets(Nets):
    """Trunk and heads. `move` and `arrow` take planes float32 [B, 15, H, W], row 0 = rank H; N = H * W."""

    def __init__(self, config: ResidualConfig) -> None:
        super().__init__()
        self.config = config
        channels = config.channels
        self.first = _convolution(PLANES, channels)
        self.blocks = nn.Sequential(*(Block(channels) for _ in range(config.blocks)))
        self.move_policy = MovePolicy(channels, config.embedding)
        self.arrow_policy = nn.Sequential(_convolution(channels, channels), nn.ReLU(), nn.Conv2d(channels, 1, 1))
        self.value = PooledValue(channels)

    def move(self, planes: Tensor) -> Answers:
        """Planes of a position -> value logit [B], policy logits [B, N * N] with entry ``from * N + to``."""
        x = self._trunk(planes)
        return self.value(x), self.move_policy(x)

    def arrow(self, planes: Tensor) -> Answers:
        """Planes of the position once the amazon has moved -> value logit [B], policy logits [B, N]."""
        x = self._trunk(planes)
        return self.value(x), by_square(self.arrow_policy(x)).squeeze(1)

    def both(self, move: Tensor, arrow: Tensor) -> tuple[Answers, Answers]:
        """`move` of the one and `arrow` of the other; in training normalised together, as one batch."""
        x = self._trunk(torch.cat([move, arrow]))
        value, n = self.value(x), len(move)
        return (value[:n], self.move_policy(x[:n])), (value[n:], by_square(self.arrow_policy(x[n:])).squeeze(1))

    def _trunk(self, planes: Tensor) -> Tensor:
        # Channels last is the order that the convolutions of CPUs and tensor cores work in.
        x = planes.contiguous(memory_format=torch.channels_last)
        out: Tensor = self.blocks(self.first(x).relu_())
        return out


class Block(nn.Module):
    """Two 3x3 convolutions plus the identity, [B, C, H, W] -> the same shape."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.one, self.two = _convolution(channels, channels), _convolution(channels, channels, scale=0.0)

    def forward(self, x: Tensor) -> Tensor:
        """Return the input of the next block."""
        out: Tensor = self.two(self.one(x).relu_())
        return (out + x).relu_()


class MovePolicy(nn.Module):
    """Logits of all (from, to): the squares' embeddings multiplied, and a bias by where ``to`` lies from ``from``."""

    def __init__(self, channels: int, embedding: int) -> None:
        super().__init__()
        self.squares = nn.Conv2d(channels, 2 * embedding, 1)
        self.relative = nn.Parameter(torch.zeros((2 * MAX_SIDE - 1) ** 2))
        self.scale = embedding**-0.5

    def forward(self, x: Tensor) -> Tensor:
        """[B, C, H, W] -> [B, N * N], entry ``from * N + to``."""
        start, to = by_square(self.squares(x)).chunk(2, dim=1)
        logits: Tensor = (start * self.scale).transpose(1, 2) @ to
        return (logits + self.relative[self._places(x.shape[2], x.shape[3])]).flatten(1)

    def _places(self, height: int, width: int) -> Tensor:
        """int64 [N, N]: index of the bias of (from, to)."""
        square = torch.arange(height * width, device=self.relative.device)
        ranks, files = square // width, square % width
        up, right = (c[None, :] - c[:, None] + MAX_SIDE - 1 for c in (ranks, files))
        places: Tensor = up * (2 * MAX_SIDE - 1) + right
        return places


class PooledValue(nn.Module):
    """[B, C, H, W] -> the logit [B] of the mover's chance to win, from each channel's mean and highest value."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.squares = nn.Sequential(nn.Conv2d(channels, channels, 1), nn.ReLU())
        self.output = nn.Sequential(nn.Linear(2 * channels, channels), nn.ReLU(), nn.Linear(channels, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Logit [B]; its sigmoid is the chance."""
        squares = self.squares(x)
        logit: Tensor = self.output(torch.cat([squares.mean((2, 3)), squares.amax((2, 3))], dim=1))
        return logit.squeeze(1)


def by_square(x: Tensor) -> Tensor:
    """[B, C, H, W] with row 0 = rank H -> [B, C, N] with s = (rank - 1) * W + (file - 1)."""
    return x.flip(2).flatten(2)


def _convolution(into: int, filters: int, scale: float = 1.0) -> nn.Sequential:
    """A 3x3 convolution that keeps height and width, normalised over the batch to ``scale`` at the start.

    At 0 a block starts as the identity, so that deep trunks learn from the first step.
    """
    norm = nn.BatchNorm2d(filters)
    nn.init.constant_(norm.weight, scale)
    return nn.Sequential(nn.Conv2d(into, filters, 3, padding=1, bias=False), norm)
