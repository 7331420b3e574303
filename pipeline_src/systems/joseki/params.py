"""Params section ``joseki_build``: what a corner sequence is, and what is too rare to be kept.

Params section ``joseki_crawl``: which Go games to fetch from LittleGolem, and by which ways.

Params section ``joseki_evaluate``: how the library is tested.

Params section ``joseki_records``: where the games of the joseki library come from.
"""

from dataclasses import dataclass, fields

from pipeline_src.records.crawl_params import Way


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


@dataclass(frozen=True)
class JosekiCrawlParams:
    """Which Go games `zugwerk crawl joseki` fetches; the site and the manners towards it are in section ``crawl``."""

    source: str
    """Path of what `zugwerk crawl` fetched, or of a folder of the site's records, which a replica then serves."""
    gtid: str
    """The site's id of the game type; go19 has boards of all sizes."""
    variants: tuple[str, ...]
    """The site's ids of the variants; DEFAULT is 19x19."""
    ways: tuple[Way, ...]
    """Ways to find and fetch games, tried in this order until one succeeds: lists, text, api."""
    max_games: int
    """At most this many games; 0 for all."""

    def __post_init__(self) -> None:
        if self.source in ("live", "replica"):
            raise ValueError("source must be a path: what `zugwerk crawl joseki` fetched, or a folder of records")


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
