"""Params of the stage that asks trained nets about the test split."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AmazonsEvaluateParams:
    """How the nets are asked; none of it changes what they answer but in the last bits."""

    batch: int
    """Positions of a forward pass."""

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError(f"batch must be at least 1, not {self.batch}")
