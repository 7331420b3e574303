"""Params section ``crawl``: where the site is, and the manners towards it; the same for every system's crawl.

And the keys of the sections ``<system>_crawl``: which games to crawl, from where, by which ways.
"""

from dataclasses import dataclass, fields
from typing import Literal
from urllib.parse import urlsplit

Way = Literal["lists", "text", "api"]


@dataclass(frozen=True)
class CrawlParams:
    """The site and how to treat it. Delays and pauses hold for every host but this machine's own."""

    base_url: str
    """Of the site's pages, e.g. https://www.littlegolem.net."""
    api_url: str
    """Of the site's JSON interface."""
    contact: str
    """Mail address or page in the user agent, so that the site can reach you; a foreign host is not crawled without."""
    delay_s: float
    """Seconds from an answer to the next request to a host; its robots.txt and its slowness make it longer."""
    timeout_s: float
    """Seconds to wait for an answer."""
    retries: int
    """How often an unanswered or failed request is tried again."""
    backoff_s: float
    """Seconds before the first of these retries; doubled for each further one."""
    max_failures: float
    """Fraction of lists or of games that may fail before a way counts as failed."""
    store: str
    """Folder, outside of the checkout, that keeps what live sites sent; all checkouts share it."""

    def __post_init__(self) -> None:
        for name in ("base_url", "api_url"):
            url: str = getattr(self, name)
            if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname or url.endswith("/"):
                raise ValueError(f"{name} must be http://HOST or https://HOST without a slash at its end, not {url!r}")
        for name in ("delay_s", "backoff_s"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative")
        if self.timeout_s <= 0:
            raise ValueError("timeout_s must be above 0")
        if self.retries < 0:
            raise ValueError("retries must not be negative")
        if not 0 <= self.max_failures < 1:
            raise ValueError("max_failures must be at least 0 and below 1")
        if not self.store.strip():
            raise ValueError("store must not be empty")


@dataclass(frozen=True)
class QuirkParams:
    """How often the replica does what the site does; fractions of the archive's engine games unless said otherwise."""

    in_progress: float
    """Games added that are not over yet."""
    missing: float
    """Games added to the lists whose record answers 500 or nothing."""
    foreign: float
    """Games added to the lists whose record is another game's."""
    timeouts: float
    """Of the decided games: those shown as lost on time, without a word of it in the record."""
    names: float
    """Of the players: those whose name has an unescaped bracket or backslash, Latin-1 letters or a star."""
    double_json: float
    """Of the API's answers: those sent as the same object twice."""
    failing: float
    """Of all pages: those that answer 500 or 503 the first time they are asked for."""
    slow: float
    """Of all pages: those that take `slow_s`."""
    slow_s: float
    """Seconds."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value: float = getattr(self, field.name)
            if value < 0 or (field.name != "slow_s" and value > 1):
                raise ValueError(f"{field.name} must lie between 0 and 1, not {value}")


@dataclass(frozen=True)
class GamesParams:
    """What a system's crawl stage fetches; each system has a section of its own with these keys."""

    source: str
    """Path of the engine's archive, which a replica serves; of what `zugwerk crawl` fetched; or of records of your own,
    a folder or a Parquet archive."""
    gtid: str
    """The site's id of the game type, e.g. amzn."""
    variants: tuple[str, ...]
    """The site's ids of the variants to look for players and games of, e.g. DEFAULT, CROSS."""
    ways: tuple[Way, ...]
    """Ways to find and fetch games, tried in this order until one succeeds: lists, text, api."""
    max_games: int
    """At most this many games: a crawl ends when it has them, a stage takes the oldest of what it finds; 0 for all."""
    quirks: QuirkParams
    """Of the replica; a live site has its own."""

    def __post_init__(self) -> None:
        if not self.source or not self.gtid.isalnum():
            raise ValueError("source and gtid must not be empty")
        if self.source in ("live", "replica"):
            raise ValueError("source must be a path: the archive, what `zugwerk crawl` fetched, or records of your own")
        if not self.variants or len(set(self.variants)) != len(self.variants):
            raise ValueError("variants must name at least one, each once")
        if not self.ways or len(set(self.ways)) != len(self.ways):
            raise ValueError("ways must name at least one, each once")
        if self.max_games < 0:
            raise ValueError("max_games must not be negative; 0 is no limit")
