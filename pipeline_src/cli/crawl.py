"""``zugwerk crawl``: the only command that sends requests to a live site."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pipeline_src.records.crawl_params import WantedGames

EXAMPLE = "Example: zugwerk crawl amazons --dry-run"


class System(StrEnum):
    """Systems with games to crawl."""

    amazons = "amazons"
    joseki = "joseki"


def crawl(
    system: System = typer.Argument(
        ..., help="System to fetch games for, by sections crawl and <system>_crawl of params.yaml."
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Print the planned requests without sending any."),
) -> None:
    """Fetch games from the live site, with polite delays. Each finished game is fetched once and kept.

    Ctrl-C ends it at any time, and the same command continues. The answers are in artifacts/raw/<system>/live.
    """
    from pipeline_src.errors import end_on_interrupt

    end_on_interrupt(True)
    from pipeline_src.project.params import load
    from pipeline_src.records.crawl_params import CrawlParams
    from pipeline_src.systems.amazons_net.params import AmazonsCrawlParams
    from pipeline_src.systems.joseki.params import JosekiCrawlParams
    from spiders.live import crawl_live
    from spiders.spider import plan_of

    end_on_interrupt(False)
    section, site = f"{system}_crawl", load(CrawlParams, "crawl")
    games: WantedGames = load(AmazonsCrawlParams, section) if system == "amazons" else load(JosekiCrawlParams, section)
    view, work = Path(f"artifacts/raw/{system}/live"), Path(f"work/{section}")
    crawl_live(plan_of(games, site), site, view, work, ask=not dry_run)
    if Path(games.source) != view:
        typer.echo(f"these games become the graph's where params.yaml has {section}.source: {view}", err=True)
