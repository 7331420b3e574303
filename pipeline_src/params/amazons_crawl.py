"""Params section ``amazons_crawl``: which Amazons games to crawl, from where, by which ways."""

from dataclasses import dataclass

from pipeline_src.params.crawl import GamesParams


@dataclass(frozen=True)
class AmazonsCrawlParams(GamesParams):
    """What the stage amazons_crawl fetches; the site's ids are amzn, and DEFAULT and CROSS."""
