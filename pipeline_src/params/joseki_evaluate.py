"""Params section ``joseki_evaluate``: how the library is tested."""

from dataclasses import dataclass


@dataclass(frozen=True)
class JosekiEvaluateParams:
    """Of the stage that tests the library."""

    held_out: float
    """Share of the games that the tested library does not see, as a fraction."""
    positions: int
    """Positions on which both look-ups are compared and timed."""
    shown_ply: int
    """The picture shows a held-out game after so many plies."""

    def __post_init__(self) -> None:
        if not 0 < self.held_out < 1:
            raise ValueError(f"held_out must be between 0 and 1, not {self.held_out}")
        for name in ("positions", "shown_ply"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
