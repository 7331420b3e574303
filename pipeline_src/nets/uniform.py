"""The net that knows nothing: all cells alike, every position even. It is the best player before there is another."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn


@dataclass(frozen=True)
class UniformConfig:
    """The board."""

    kind: ClassVar[str] = "uniform"

    height: int = 15
    width: int = 15
    positions: int = 1


class UniformNet(nn.Module):
    """Zeros, whatever it sees."""

    def __init__(self, config: UniformConfig) -> None:
        super().__init__()
        self.config = config

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Policy logits [B, N] and values [B] of planes [B, C, H, W]."""
        count, _, height, width = planes.shape
        return planes.new_zeros(count, height * width), planes.new_zeros(count)
