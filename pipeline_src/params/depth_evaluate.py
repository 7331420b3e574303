"""Params section ``depth_evaluate``: how the depth nets are looked at."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DepthEvaluateParams:
    """Of the stage that asks every net about the test split."""

    confidences: tuple[float, ...]
    """Of classifying nets, beside the likeliest class: the first class that suffices with this probability."""

    def __post_init__(self) -> None:
        if any(not 0 < confidence <= 1 for confidence in self.confidences):
            raise ValueError(f"confidences must be above 0 and at most 1, not {list(self.confidences)}")
