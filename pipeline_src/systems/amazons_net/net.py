"""Move-Net and Arrow-Net of patent CN 111330255 B, their heads and their starting weights.

The publication says nothing of starting weights. `mirror` lets the published layers begin as a net that is easy to
train. Convolutions hand on their input in pairs of filters of opposite sign: what ReLU takes from the one, the other
keeps, so that twelve layers begin as almost the identity (Balduzzi et al., "The shattered gradients problem: if resnets
are the answer, then what is the question?", ICML 2017). The policies' fully connected layers begin as 1x1 convolutions,
in which a square's logit depends on that square alone, so that convolutions learn from the first step where on the
board something is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from pipeline_src.learning.same_conv import SameConv2d, dense
from pipeline_src.systems.amazons_net.nets import MovePolicy, Nets, PooledValue, by_square

RANDOM = 0.1
"""Scale of the He weights that `mirror` adds to the identity."""


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
    """Layers whose input is added to their output; channels that only one of both has stay as they are."""

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


StartingWeights = Literal["he", "mirrored"]
EMBEDDING = 32
"""Numbers by which a spatial policy of moves knows a square to start from, and one to go to."""

PLANES = 4
"""Feature planes: one for each of the mover's amazons."""

TRUNK = (
    Layer(6, 128, "relu"),
    Layer(5, 64, "relu"),
    Layer(4, 32, "tanh"),
    Layer(2, 16, "tanh"),
    Layer(4, 128, "relu"),
    Layer(3, 128, "relu"),
    Layer(3, 64, "tanh"),
    Layer(2, 64, "tanh"),
    Layer(3, 64, "relu"),
    Layer(4, 64, "relu"),
    Layer(5, 32, "tanh"),
    Layer(6, 16, "tanh"),
)
"""The twelve layers of tables 1 and 3; the first four and the last four are shared by both nets."""

POLICY = (Layer(2, 128, "relu"), Layer(2, 64, "relu"), Layer(2, 32, "tanh"), Layer(2, 16, "tanh"))
"""The four layers of tables 2 and 4, ahead of the fully connected one."""

EMPTY, SPREAD = 100.0, 40.0
"""Value of the features on an empty board, and their approximate standard deviation over positions of games (41)."""


@dataclass(frozen=True)
class AmazonsConfig:
    """The shape of the nets and the meaning of their input; `params.AmazonsTrainParams` describes the fields."""

    size: int = 10
    """Squares along one side of the board."""
    width: float = 1.0
    fewest_filters: int = 4
    dropout: float = 0.3
    mover_relative: bool = False
    moved_first: bool = False
    starting_weights: StartingWeights = "he"
    batch_norm: bool = False
    shortcuts: bool = False
    spatial_heads: bool = False

    encoding: ClassVar[str] = "features"

    @property
    def options(self) -> Mapping[str, bool]:
        """Keyword arguments of the encoder."""
        return {"mover_relative": self.mover_relative, "moved_first": self.moved_first}


class AmazonsNets(Nets):
    """Both nets in one module: layers 1-4 and 9-12 are the same parameters, 5-8 and the heads each net's own.

    Both take features F, float32 [B, 4, H, W] on the scale 0..300 of the published board matrix. Scaling happens
    inside: (F - 100) / 40 is 0 on an empty board, below where arrows are, above where amazons are, and of unit spread.
    """

    def __init__(self, config: AmazonsConfig) -> None:
        super().__init__()
        self.config = config
        trunk = [_narrowed(layer, config) for layer in TRUNK]
        policy = [_narrowed(layer, config) for layer in POLICY]
        squares, channels = config.size**2, trunk[-1].filters

        def block(into: int, layers: list[Layer]) -> nn.Sequential:
            made = convolutions(into, layers, config.batch_norm, config.shortcuts)
            return nn.Sequential(*made, nn.Dropout(config.dropout))

        self.first = block(PLANES, trunk[:4])
        self.move_middle = block(trunk[3].filters, trunk[4:8])
        self.arrow_middle = block(trunk[3].filters, trunk[4:8])
        self.last = block(trunk[7].filters, trunk[8:])
        self.move_value, self.arrow_value, self.move_policy, self.arrow_policy = (
            _spatial_heads(channels) if config.spatial_heads else _published_heads(channels, squares, policy)
        )
        if config.starting_weights == "mirrored":
            self._mirror()

    def move(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Move-Net: F of a position -> value logit [B], policy logits [B, N * N] with entry ``from * N + to``."""
        x = self._trunk(features, self.move_middle)
        return self.move_value(x), self.move_policy(x)

    def arrow(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Arrow-Net: F of the position once the amazon has moved -> value logit [B], policy logits [B, N]."""
        x = self._trunk(features, self.arrow_middle)
        return self.arrow_value(x), self.arrow_policy(x)

    def _mirror(self) -> None:
        mirror(self.first, first=True)
        for layers in (self.move_middle, self.arrow_middle, self.last):
            mirror(layers, first=False)
        for head in (self.move_policy, self.arrow_policy):
            if isinstance(head, PolicyHead):
                mirror(head.convolutions, first=False)
                make_local(head.output, self.config.size**2)

    def _trunk(self, features: Tensor, middle: nn.Sequential) -> Tensor:
        # Channels last is the order that the convolutions of CPUs and tensor cores work in.
        scaled = ((features - EMPTY) / SPREAD).contiguous(memory_format=torch.channels_last)
        out: Tensor = self.last(middle(self.first(scaled)))
        return out


def _published_heads(channels: int, squares: int, policy: list[Layer]) -> list[nn.Module]:
    """Values and policies, each of the moves and of the arrows."""
    values = [ValueHead(channels, squares), ValueHead(channels, squares)]
    return [*values, PolicyHead(channels, squares, policy, squares**2), PolicyHead(channels, squares, policy, squares)]


def _spatial_heads(channels: int) -> list[nn.Module]:
    values = [PooledValue(channels), PooledValue(channels)]
    return [*values, MovePolicy(channels, EMBEDDING), ArrowPolicy(channels, 1, 1)]


class ArrowPolicy(nn.Conv2d):
    """A logit for each square, [B, C, H, W] -> [B, N], from the trunk's output there."""

    def forward(self, x: Tensor) -> Tensor:
        """Convolve, and lay out the squares as policies have them."""
        return by_square(super().forward(x)).squeeze(1)


def _narrowed(layer: Layer, config: AmazonsConfig) -> Layer:
    return layer._replace(filters=max(config.fewest_filters, round(layer.filters * config.width)))
