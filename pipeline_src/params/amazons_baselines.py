"""Params of the stage that asks systems without training about the test split."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AmazonsBaselinesParams:
    """The one-ply evaluation's win rate has one number to fit."""

    fit_turns: int
    """Turns of the validation split, spread evenly over it, that the scale of the win rate is fitted on."""

    def __post_init__(self) -> None:
        if self.fit_turns < 1:
            raise ValueError(f"fit_turns must be at least 1, not {self.fit_turns}")
