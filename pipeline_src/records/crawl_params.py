"""Params of crawls: section ``crawl`` (the site and the request limits) and the models of ``<system>_crawl``."""

from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, model_validator

from pipeline_src.project.params import BelowOne, Distinct, Fraction, NonNegative, Params, Positive, Text, Whole

Way = Literal["lists", "text", "api"]


def _site(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or url.endswith("/"):
        raise ValueError(f"must be http://HOST or https://HOST without a slash at its end, not {url!r}")
    return url


Site = Annotated[str, AfterValidator(_site)]


class RequestLimits(Params):
    """Limits on requests that a replica on this machine obeys too."""

    timeout_s: Positive
    """Seconds to wait for an answer."""
    retries: Whole
    """Number of retries of an unanswered or failed request."""
    max_failures: BelowOne
    """Fraction of lists or of games that may fail before a way of fetching counts as failed."""


class CrawlParams(RequestLimits):
    """The site to crawl and the limits on requests to it. Delays and pauses apply to every host except this machine."""

    base_url: Site
    """Address of the site's pages, e.g. https://www.littlegolem.net."""
    api_url: Site
    """Address of the site's JSON interface."""
    contact: str
    """Mail address or web page for the user agent, so that the site can reach you. Required for any foreign host."""
    delay_s: NonNegative
    """Seconds between an answer and the next request to the same host. Its robots.txt and slow answers lengthen
    them."""
    backoff_s: NonNegative
    """Seconds before the first retry; doubled before each further one."""
    store: Text
    """Folder outside the checkout that keeps the answers of live sites. All checkouts share it."""


class QuirkParams(Params):
    """Rates of the site's quirks in the replica, as fractions of the archive's engine games unless stated otherwise."""

    in_progress: Fraction
    """Unfinished games that are added."""
    missing: Fraction
    """Games added to the lists, with a record that answers 500 or not at all."""
    foreign: Fraction
    """Games added to the lists, with the record of another game type."""
    timeouts: Fraction
    """Decided games that the lists show as lost on time, although the record does not mention it."""
    names: Fraction
    """Players with an unescaped bracket or backslash, Latin-1 letters or a star in their name; a fraction of
    players."""
    double_json: Fraction
    """Answers of the API that contain the same object twice."""
    failing: Fraction
    """Pages that answer 500 or 503 to the first request; a fraction of all pages."""
    slow: Fraction
    """Pages that take `slow_s` to answer; a fraction of all pages."""
    slow_s: NonNegative
    """Seconds that a slow page takes."""


class WantedGames(Params):
    """The games that a system's crawl stage fetches; the site is in section ``crawl``."""

    source: Text
    """Path of the engine's archive, which a replica serves; of the answers that `zugwerk crawl` fetched; or of your own
    records, as a folder or a Parquet archive."""
    gtid: Text
    """The site's id of the game type: amzn, or go19 (all board sizes of Go)."""
    variants: Distinct[str]
    """The site's ids of the variants to crawl, e.g. DEFAULT, CROSS. In Go, DEFAULT is the 19x19 board."""
    ways: Distinct[Way]
    """Ways of finding and fetching games, tried in this order until one succeeds."""
    max_games: Whole
    """Largest number of games; 0 is all. A crawl ends when it has them, and a stage takes the oldest games it finds."""

    @model_validator(mode="after")
    def _names_a_game(self) -> Self:
        if not self.gtid.isalnum():
            raise ValueError(f"gtid must be letters and digits, not {self.gtid!r}")
        return self


class GamesParams(WantedGames):
    """The games that a system's crawl stage fetches, from the site or from a replica of it."""

    quirks: QuirkParams
    """Quirks of the replica. They do not apply to a live site."""
