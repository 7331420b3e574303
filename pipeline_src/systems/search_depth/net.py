"""Nets that choose a search depth: the paper's three convolutions (Li and Gao, 2022), and a residual one of ours.

Both map planes float32 [B, C, H, W] to float32 [B, outputs]; `depth_head` says what the outputs mean. Strides are not
printed in the paper; three readings give its 1x1x1 from 10x10:

| shrink | 5x5 | 5x5 | 4x4 | then |
| --- | --- | --- | --- | --- |
| ``stride`` | stride 2: 4 | 2 | 1 | |
| ``pooling`` | 8, pooled 2x2: 4 | 2 | 1 | |
| ``dense`` | 8 | 6 | 5 | a fully connected layer |
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor, nn

from pipeline_src.learning.same_conv import SameConv2d

Shrink = Literal["stride", "pooling", "dense"]


@dataclass(frozen=True)
class PublishedDepthConfig:
    """The shape of the paper's net."""

    size: int
    """H = W."""
    planes: int
    outputs: int
    filters: int = 1
    """Filters of the first two convolutions, and of the third before a fully connected layer; 1 gives 69 parameters."""
    shrink: Shrink = "stride"

    kind: ClassVar[str] = "published"


class PublishedDepthNet(nn.Module):
    """Convolutions 5x5, 5x5 and 4x4, padding 1, a sigmoid after all but the last layer."""

    def __init__(self, config: PublishedDepthConfig) -> None:
        """See the module's table.

        Raises:
            ValueError: a board on which the convolutions do not end in 1x1.
        """
        super().__init__()
        self.config = config
        shrink, filters = config.shrink, config.filters
        side = (config.size - 3) // 2 + 1 if shrink == "stride" else config.size - 2
        side = side // 2 if shrink == "pooling" else side
        side -= 3  # 5x5 and 4x4 with padding 1 take 2 and 1 off
        if side < 1 or (side > 1 and shrink != "dense"):
            raise ValueError(
                f"shrink: {shrink} does not take {config.size}x{config.size} to 1x1; dense suits any board"
            )
        dense = shrink == "dense"
        layers: list[nn.Module] = [
            nn.Conv2d(config.planes, filters, 5, stride=2 if shrink == "stride" else 1, padding=1),
            nn.Sigmoid(),
            *([nn.MaxPool2d(2)] if shrink == "pooling" else []),
            nn.Conv2d(filters, filters, 5, padding=1),
            nn.Sigmoid(),
            nn.Conv2d(filters, filters if dense else config.outputs, 4, padding=1),
        ]
        if dense:
            layers += [nn.Sigmoid(), nn.Flatten(), nn.Linear(filters * side * side, config.outputs)]
        self.layers = nn.Sequential(*layers)

    def forward(self, planes: Tensor) -> Tensor:
        """See the module."""
        found: Tensor = self.layers(planes)
        return found.flatten(1)


@dataclass(frozen=True)
class ResidualDepthConfig:
    """The shape of the residual net."""

    size: int
    """H = W."""
    planes: int
    outputs: int
    channels: int = 16
    blocks: int = 1
    """Number of blocks of two convolutions each."""

    kind: ClassVar[str] = "residual"


class ResidualDepthNet(nn.Module):
    """A 5x5 convolution with stride 2, residual blocks of 3x3 ones, and a fully connected layer on all that is left."""

    def __init__(self, config: ResidualDepthConfig) -> None:
        super().__init__()
        self.config = config
        self.stem = nn.Conv2d(config.planes, config.channels, 5, stride=2, padding=2)
        self.blocks = nn.ModuleList(ResidualBlock(config.channels) for _ in range(config.blocks))
        self.output = nn.Linear(config.channels * ((config.size + 1) // 2) ** 2, config.outputs)

    def forward(self, planes: Tensor) -> Tensor:
        """See the module."""
        x: Tensor = self.stem(planes).relu()
        for block in self.blocks:
            x = block(x)
        found: Tensor = self.output(x.flatten(1))
        return found


class ResidualBlock(nn.Module):
    """relu(x + g(relu(f(x)))), f and g 3x3 convolutions; begins as relu alone."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = SameConv2d(channels, channels, 3)
        self.second = SameConv2d(channels, channels, 3)
        nn.init.zeros_(self.second.weight)

    def forward(self, x: Tensor) -> Tensor:
        """[B, C, H, W], the same shape out."""
        inner: Tensor = self.second(self.first(x).relu())
        return (x + inner).relu()


DepthConfig = PublishedDepthConfig | ResidualDepthConfig
DepthNet = PublishedDepthNet | ResidualDepthNet
