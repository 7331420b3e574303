"""Params section ``gomoku_net``: the net that self-play trains."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class PlainParams:
    """Of the plain convolutional net, a small one for laptops."""

    filters: tuple[int, ...] = (32, 32, 32)
    """Of each 3x3 convolution in turn."""
    batch_norm: bool = True
    signed: bool = False
    """The net sees one plane, 1 on own stones, -1 on the other side's and 0 elsewhere, and nothing of the rest."""
    head: Literal["dense", "convolutional"] = "dense"
    """dense: fully connected layers, made for the board's size; convolutional: none of the layers knows that size."""
    policy_planes: int = 4
    """Filters before the policy's last layer."""
    value_planes: int = 2
    """Filters before the value's hidden layer."""
    value_hidden: int = 64
    """Units of the value's hidden layer."""

    def __post_init__(self) -> None:
        if not self.filters or min(self.filters) < 1:
            raise ValueError(f"filters must be one number or more, each at least 1, not {list(self.filters)}")
        _at_least(self, 1, "policy_planes", "value_planes", "value_hidden")


@dataclass(frozen=True, kw_only=True)
class ResidualParams:
    """Of the residual net; the defaults are the paper's."""

    stem_filters: int = 32
    """Of the first convolution."""
    stem_kernel: int = 5
    """Its side, odd."""
    widths: tuple[int, ...] = (64, 128, 256)
    """Filters of the blocks, rising."""
    blocks: int = 5
    """Of each width."""
    shortcut: Literal["pad", "project"] = "pad"
    """Where the width grows: zeros in the new channels, or a 1x1 convolution."""
    head_planes: int = 1
    """1x1 filters of the last convolution."""
    head_relu: bool = False
    """Whether a ReLU follows it."""
    value_hidden: int = 0
    """Units of a hidden layer before the value; 0 for none."""

    def __post_init__(self) -> None:
        widths = (self.stem_filters, *self.widths)
        if not self.widths or list(widths) != sorted(widths):
            raise ValueError(f"widths must rise from stem_filters on, not {list(widths)}")
        if self.stem_kernel % 2 == 0:
            raise ValueError(f"stem_kernel must be odd, not {self.stem_kernel}")
        _at_least(self, 1, "stem_filters", "stem_kernel", "blocks", "head_planes")
        _at_least(self, 0, "value_hidden")


@dataclass(frozen=True, kw_only=True)
class GomokuNet:
    """Which net, what it sees, and the sizes of each kind."""

    kind: Literal["plain", "residual"] = "plain"
    positions: int = 5
    """Of history that the net sees, the present one among them; the paper has 5."""
    plain: PlainParams = field(default_factory=PlainParams)
    residual: ResidualParams = field(default_factory=ResidualParams)

    def __post_init__(self) -> None:
        _at_least(self, 1, "positions")


def _at_least(params: object, least: int, *names: str) -> None:
    for name in names:
        if getattr(params, name) < least:
            raise ValueError(f"{name} must be at least {least}, not {getattr(params, name)}")
