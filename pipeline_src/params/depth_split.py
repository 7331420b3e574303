"""Params section ``depth_split``: how the games with labelled depths are shared out; read by all that use them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DepthSplitParams:
    """Shares of the games, in any unit; the paper's are 85:15, without a validation split."""

    train: float
    """For learning, and for what is tuned on positions."""
    validation: float
    """For learning curves and for choosing among models."""
    test: float
    """For the figures that are reported."""

    def __post_init__(self) -> None:
        for name in ("train", "validation", "test"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")

    @property
    def shares(self) -> tuple[float, float, float]:
        """In the order of the splits."""
        return self.train, self.validation, self.test
