"""The common interface of nets for the Amazons, used by training, evaluation and play."""

from collections.abc import Mapping
from typing import Protocol

from torch import Tensor, nn

Answers = tuple[Tensor, Tensor]
"""Value logit [B] of the mover's chance to win, and policy logits [B, ...], illegal entries among them."""


class Config(Protocol):
    """A frozen dataclass that fixes a net's shape and how it sees a position."""

    @property
    def size(self) -> int:
        """Squares along one side of the board."""

    @property
    def encoding(self) -> str:
        """Name of the net's encoder: ``features`` (F) or ``planes``."""

    @property
    def options(self) -> Mapping[str, bool]:
        """Keyword arguments of the encoder."""


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
