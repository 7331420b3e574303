"""Params of crawls: section ``crawl``, the site and the manners towards it, and the models of ``<system>_crawl``."""

from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, model_validator

from pipeline_src.project.params import BelowOne, Distinct, Fraction, NonNegative, Params, Positive, Text, Whole

Way = Literal["lists", "text", "api"]


def _site(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or url.endswith("/"):
        raise ValueError(f"must be http://HOST or https://HOST without a slash at its end, not {url!r}")
    return url


Site = Annotated[str, AfterValidator(_site)]


class CrawlParams(Params):
    """The site and the manners towards it; delays and pauses hold for every host but this machine's own."""

    base_url: Site
    """Address of the site's pages, e.g. https://www.littlegolem.net."""
    api_url: Site
    """Address of the site's JSON interface."""
    contact: str
    """Mail address or page in the user agent, so that the site can reach you; a foreign host is not crawled without."""
    delay_s: NonNegative
    """Seconds from an answer to the next request to a host; its robots.txt and its slowness make it longer."""
    timeout_s: Positive
    """Seconds to wait for an answer."""
    retries: Whole
    """How often an unanswered or failed request is tried again."""
    backoff_s: NonNegative
    """Seconds before the first of these retries; doubled for each further one."""
    max_failures: BelowOne
    """Fraction of lists or of games that may fail before a way counts as failed."""
    store: Text
    """Folder, outside of the checkout, that keeps what live sites sent; all checkouts share it."""


class QuirkParams(Params):
    """How often the replica does what the site does; fractions of the archive's engine games unless said otherwise."""

    in_progress: Fraction
    """Games added that are not over yet."""
    missing: Fraction
    """Games added to the lists whose record answers 500 or nothing."""
    foreign: Fraction
    """Games added to the lists whose record is another game's."""
    timeouts: Fraction
    """Decided games shown as lost on time, without a word of it in the record."""
    names: Fraction
    """Players whose name has an unescaped bracket or backslash, Latin-1 letters or a star; a fraction of players."""
    double_json: Fraction
    """Answers of the API that are sent as the same object twice."""
    failing: Fraction
    """Pages that answer 500 or 503 the first time they are asked for; a fraction of all pages."""
    slow: Fraction
    """Pages that take `slow_s`; a fraction of all pages."""
    slow_s: NonNegative
    """Seconds."""


class WantedGames(Params):
    """The games that a system's crawl stage fetches; the site is in section ``crawl``."""

    source: Text
    """Path of the engine's archive, which a replica serves; of what `zugwerk crawl` fetched; or of records of your own,
    a folder or a Parquet archive."""
    gtid: Text
    """The site's id of the game type: amzn; go19, which has boards of all sizes."""
    variants: Distinct[str]
    """The site's ids of the variants to look for players and games of, e.g. DEFAULT, CROSS; in Go DEFAULT is 19x19."""
    ways: Distinct[Way]
    """Ways to find and fetch games, tried in this order until one succeeds."""
    max_games: Whole
    """At most this many games: a crawl ends when it has them, a stage takes the oldest of what it finds; 0 for all."""

    @model_validator(mode="after")
    def _names_a_game(self) -> Self:
        if not self.gtid.isalnum():
            raise ValueError(f"gtid must be letters and digits, not {self.gtid!r}")
        if self.source in ("live", "replica"):
            raise ValueError("source must be a path: the archive, what `zugwerk crawl` fetched, or records of your own")
        return self


class GamesParams(WantedGames):
    """The games that a system's crawl stage fetches, from a replica of the site too."""

    quirks: QuirkParams
    """Quirks of the replica; a live site has its own."""
