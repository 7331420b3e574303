"""Params section ``growing_convergence``: when a board has been learnt."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GrowingConvergence:
    """Two spans of generations, the last one and the one before it, are compared."""

    span: int = 3
    """Generations of each."""
    loss_drop: float = 0.03
    """The loss falls if its mean over the last span is lower than that of the one before by more than this share."""
    score_gain: float = 0.05
    """The gate improves if the new players of the last span scored more than a half and this together."""

    def __post_init__(self) -> None:
        if self.span < 1:
            raise ValueError(f"span must be at least 1, not {self.span}")
        for name, most in (("loss_drop", 1.0), ("score_gain", 0.5)):
            if not 0 <= getattr(self, name) <= most:
                raise ValueError(f"{name} must be 0 to {most:g}, not {getattr(self, name)}")
