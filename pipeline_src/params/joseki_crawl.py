"""Params section ``joseki_crawl``: which Go games to fetch from LittleGolem, and by which ways."""

from dataclasses import dataclass

from pipeline_src.params.crawl import Way


@dataclass(frozen=True)
class JosekiCrawlParams:
    """What `joseki_crawl` fetches; the site and the manners towards it are in section ``crawl``."""

    source: str
    """``live``, or a folder of the site's records, which a replica then serves."""
    gtid: str
    """The site's id of the game type; go19 has boards of all sizes."""
    variants: tuple[str, ...]
    """The site's ids of the variants; DEFAULT is 19x19."""
    ways: tuple[Way, ...]
    """Ways to find and fetch games, tried in this order until one succeeds: lists, text, api."""
    max_games: int
    """At most this many games, oldest first; 0 for all."""

    def __post_init__(self) -> None:
        if self.source == "replica":
            raise ValueError("source must be live or a folder of records; there is no archive of ours to serve")
