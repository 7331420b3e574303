"""Params section ``joseki_records``: where the games of the joseki library come from."""

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class MadeGames:
    """The archive that is made when nothing else is at hand: textbook joseki, played in all corners."""

    games: int
    """How many."""
    plies: int
    """Length of the longest game; the shortest has half of it."""
    tenuki: float
    """Share of plies at which a side that could go on in a corner plays in another one."""
    transposed: float
    """Share of joseki in which two moves of one side change places."""
    mistakes: float
    """Share of corner moves that miss by a line or two; nobody follows the joseki after one."""

    def __post_init__(self) -> None:
        if self.games < 1:
            raise ValueError(f"games must be at least 1, not {self.games}")
        if not 2 <= self.plies <= 300:
            raise ValueError(f"plies must be 2 to 300, not {self.plies}")
        for field in fields(self)[2:]:
            if not 0 <= getattr(self, field.name) <= 1:
                raise ValueError(f"{field.name} must lie between 0 and 1, not {getattr(self, field.name)}")


@dataclass(frozen=True)
class JosekiRecordsParams:
    """Source and filters of the stage joseki_records."""

    source: str
    """``made``, ``littlegolem``, or a folder or tar of SGF files of your own."""
    min_plies: int
    """Shortest game to keep."""
    made: MadeGames

    def __post_init__(self) -> None:
        if not self.source:
            raise ValueError("source must be made, littlegolem, or a folder or tar of SGF files")
        if self.min_plies < 0:
            raise ValueError(f"min_plies must not be negative, not {self.min_plies}")
