"""Starting weights of Amazons-Net, of which the publication says nothing.

`mirrored` lets the published layers begin as a net that is easy to train. Convolutions hand on their input in pairs of
filters of opposite sign: what ReLU takes from the one, the other keeps, so that twelve layers begin as almost the
identity (Balduzzi et al., "The shattered gradients problem: if resnets are the answer, then what is the question?",
ICML 2017). The policies' fully connected layers begin as 1x1 convolutions, in which a square's logit depends on that
square alone, so that convolutions learn from the first step where on the board something is.
"""

import torch
from torch import Tensor, nn

from pipeline_src.learning.same_conv import SameConv2d

RANDOM = 0.1
"""Scale of the He weights that `mirror` adds to the identity."""


def glorot(nets: nn.Module) -> None:
    """Set the convolutions to Glorot's uniform weights."""
    for module in nets.modules():
        if isinstance(module, SameConv2d):
            nn.init.xavier_uniform_(module.weight)


def pytorch(nets: nn.Module) -> None:
    """Set the convolutions to PyTorch's own weights."""
    for module in nets.modules():
        if isinstance(module, SameConv2d):
            nn.Conv2d.reset_parameters(module)


@torch.no_grad()
def mirror(layers: nn.Module, *, first: bool) -> None:
    """Set convolutions that follow each other to hand on their input, in pairs of filters of opposite sign.

    The first half of the filters has the identity and random weights, the second half the same negated; a last one of
    an odd number stays as it is.

    Args:
        layers: convolutions with He's weights, each followed by its activation, ReLU or Tanh.
        first: whether these see the features, which do not come in pairs; else their input is that of a Tanh, in pairs.
    """
    paired, share = not first, 0.5
    for module in layers.modules():
        if isinstance(module, nn.ReLU | nn.Tanh):
            # relu(x) - relu(-x) is x; tanh(x) - tanh(-x) is twice tanh(x).
            paired, share = True, 0.5 if isinstance(module, nn.Tanh) else 1.0
        if isinstance(module, SameConv2d):
            _pair(module.weight, paired, share if paired else 1.0)


def _pair(weight: Tensor, paired: bool, share: float) -> None:
    """Set ``weight`` [F, C, K, K] for input that is ``paired`` or not."""
    filters, channels = weight.shape[0] // 2, weight.shape[1] // (1 + paired)
    middle, same = (weight.shape[2] - 1) // 2, torch.arange(min(filters, channels))
    half = weight[:filters, :channels] * RANDOM
    half[same, same, middle, middle] += 1.0
    half = torch.cat([half, -half]) * share
    weight[: 2 * filters, :channels] = half
    if paired:
        weight[: 2 * filters, channels : 2 * channels] = -half


@torch.no_grad()
def make_local(layer: nn.Linear, squares: int) -> None:
    """Set a fully connected layer [B, C * N] -> logits [B, N] or [B, N * N] to a 1x1 convolution.

    The logit of a square, or the two terms of a logit (from, to), come from the C channels of that square; all other
    weights are 0. Channels are laid out with row 0 = rank H, logits by s = (rank - 1) * W + (file - 1).
    """
    channels, side = layer.in_features // squares, round(squares**0.5)
    square = torch.arange(squares)
    cell = square.view(side, side).flip(0).flatten()
    nn.init.zeros_(layer.weight)
    weight = layer.weight.view(-1, squares, channels, squares)  # from, to, channel, cell; of arrows there is no from
    weight[:, square, :, cell] += torch.randn(channels) * channels**-0.5
    if len(weight) > 1:
        weight[square, :, :, cell] += torch.randn(channels) * channels**-0.5
