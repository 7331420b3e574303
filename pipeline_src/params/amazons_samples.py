"""Params section ``amazons_samples``: which games become samples, and how they are split."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class SplitShares:
    """Shares of the games, in any unit; the patent's are 7:2:1."""

    train: float
    """For learning."""
    validation: float
    """For early stopping and for choosing among models."""
    test: float
    """For the figures that are reported."""

    def __post_init__(self) -> None:
        for name in ("train", "validation", "test"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")


@dataclass(frozen=True)
class AmazonsSamplesParams:
    """Of the stage that turns games into a data set."""

    size: Literal[6, 8, 10]
    """Side of the board; games of other sizes are skipped."""
    variants: tuple[Literal["standard", "cross"], ...]
    """Start positions whose games are used; cross is for size 10 alone."""
    split: SplitShares
    """How the games are shared out."""

    def __post_init__(self) -> None:
        if not self.variants or len(set(self.variants)) < len(self.variants):
            raise ValueError(f"variants must name each start position once, not {list(self.variants)}")
        if "cross" in self.variants and self.size != 10:
            raise ValueError(f"variants: the cross start is for size 10, not {self.size}")
