"""Move-Net and Arrow-Net of patent CN 111330255 B."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from pipeline_src.systems.amazons_net.heads import Layer, PolicyHead, ValueHead, convolutions
from pipeline_src.systems.amazons_net.protocol import Nets
from pipeline_src.systems.amazons_net.residual import MovePolicy, PooledValue, by_square
from pipeline_src.systems.amazons_net.starting_weights import glorot, make_local, mirror, pytorch

StartingWeights = Literal["he", "glorot", "torch", "mirrored"]
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
    """The shape of the nets and the meaning of their input."""

    size: int = 10
    """Squares along one side of the board."""
    width: float = 1.0
    """Factor on the filter counts of the tables; 1 is the published net."""
    fewest_filters: int = 4
    """No layer is narrowed below this: the published ones have 16 to 128, and through a few nothing passes."""
    dropout: float = 0.3
    """Share of activations dropped after layers 4, 8 and 12 in training."""
    mover_relative: bool = False
    """The features show the mover's amazons as White's, whoever moves."""
    moved_first: bool = False
    """The Arrow-Net's first plane is the amazon that just moved."""
    starting_weights: StartingWeights = "he"
    """Initial weights of the convolutions; ``mirrored`` sets the fully connected layers of the policies, too."""
    batch_norm: bool = False
    """Convolutions of the trunk are normalised over the batch."""
    shortcuts: bool = False
    """Layers of the trunk add their input."""
    spatial_heads: bool = False
    """Heads of 1x1 convolutions, those of `residual`, in place of the published ones."""

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
        elif config.starting_weights != "he":
            {"glorot": glorot, "torch": pytorch}[config.starting_weights](self)

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
    """A logit for each square, [B, C, H, W] -> [B, N], from what the trunk says of it."""

    def forward(self, x: Tensor) -> Tensor:
        """Convolve, and lay out the squares as policies have them."""
        return by_square(super().forward(x)).squeeze(1)


def _narrowed(layer: Layer, config: AmazonsConfig) -> Layer:
    return layer._replace(filters=max(config.fewest_filters, round(layer.filters * config.width)))
