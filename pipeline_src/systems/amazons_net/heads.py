"""Value and policy heads, and the one place where illegal moves leave a policy."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from pipeline_src.learning.same_conv import SameConv2d, dense


class Layer(NamedTuple):
    """One convolution of a table: square kernel side, filters, activation."""

    kernel: int
    filters: int
    activation: Literal["relu", "tanh"]


def convolutions(
    channels: int, layers: Sequence[Layer], batch_norm: bool = False, shortcuts: bool = False
) -> list[nn.Module]:
    """The layers of a table, each followed by its activation; ``channels`` go into the first.

    With ``batch_norm`` each convolution is normalised over the batch, with ``shortcuts`` each layer adds its input.
    """
    modules: list[nn.Module] = []
    for layer in layers:
        norm = [nn.BatchNorm2d(layer.filters)] if batch_norm else []
        one = [
            SameConv2d(channels, layer.filters, layer.kernel),
            *norm,
            nn.ReLU() if layer.activation == "relu" else nn.Tanh(),
        ]
        modules += [Shortcut(*one)] if shortcuts else one
        channels = layer.filters
    return modules


class Shortcut(nn.Sequential):
    """Layers whose input is added to what they make; channels that only one of both has stay as they are."""

    def forward(self, x: Tensor) -> Tensor:
        """[B, C, H, W] -> [B, D, H, W]."""
        out: Tensor = nn.Sequential.forward(self, x)  # type: ignore[no-untyped-call]
        return out + pad(x, (0, 0, 0, 0, 0, out.shape[1] - x.shape[1]))


class ValueHead(nn.Module):
    """One fully connected layer from [B, C, H, W] to the logit [B] of the mover's chance to win."""

    def __init__(self, channels: int, squares: int) -> None:
        super().__init__()
        self.output = dense(channels * squares, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Logit [B]; its sigmoid is the chance."""
        logit: Tensor = self.output(x.flatten(1))
        return logit.squeeze(1)


class PolicyHead(nn.Module):
    """Convolutions, then one fully connected layer from [B, C, H, W] to logits [B, ``entries``]."""

    def __init__(self, channels: int, squares: int, layers: Sequence[Layer], entries: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(*convolutions(channels, layers))
        self.output = dense(layers[-1].filters * squares, entries)

    def forward(self, x: Tensor) -> Tensor:
        """Logits [B, entries], illegal ones among them."""
        logits: Tensor = self.output(self.convolutions(x).flatten(1))
        return logits


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
