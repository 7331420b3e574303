"""Params section ``amazons_parse``: which crawled games are usable."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class AmazonsParseParams:
    """Filters of the stage that turns crawled records into an archive of games."""

    min_plies: int
    """Shortest game to keep, in turns of both sides together; shorter ones are mostly given up or lost on time."""
    variants: tuple[Literal["standard", "cross"], ...]
    """Start positions to keep."""

    def __post_init__(self) -> None:
        if self.min_plies < 1:
            raise ValueError(f"min_plies must be at least 1, not {self.min_plies}")
        if not self.variants or len(set(self.variants)) != len(self.variants):
            raise ValueError(f"variants must name at least one start position, none twice, not {self.variants}")
