"""Params section ``joseki_build``: what a corner sequence is, and what is too rare to be kept."""

from dataclasses import dataclass


@dataclass(frozen=True)
class JosekiBuildParams:
    """Of the stage that makes the library."""

    moves: int
    """Local moves of a corner sequence at most; published: 20."""
    fewest_games: int
    """Moves of fewer games are dropped in the end; the paper has such a threshold without naming it."""

    def __post_init__(self) -> None:
        for name in ("moves", "fewest_games"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.moves > 100:
            raise ValueError(f"moves must be at most 100, not {self.moves}")
