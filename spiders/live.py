"""Crawl a live site into its store. No other code of this project sends requests to a live site."""

import asyncio
import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import load
from pipeline_src.project.systems import sections
from pipeline_src.records.crawl_params import CrawlParams
from spiders.running import Interrupted, at_most, forecast, interruptible, reasons, run_spider, state_of, tell
from spiders.settings import manners
from spiders.spider import GameSpider, LittleGolemSpider, Plan, plan_of
from spiders.store import Store

SAVE_S = 1.5  # Seconds to store answers after a signal; the rest stays in the journal


def crawl_live(
    plan: Plan,
    site: CrawlParams,
    view: Path,
    work: Path,
    *,
    ask: bool = True,
    spider: type[GameSpider] = LittleGolemSpider,
) -> None:
    """Fetch the games that the store lacks and copy them into ``view``; report plan and result on stderr.

    Without ``ask`` nothing is requested: only earlier games are imported, and what a crawl would ask now is reported.

    Raises:
        ZugwerkError: no contact for a foreign host, pages of two sites, a view with games of another site, another
            crawl under way, a damaged store, or a crawl that failed or was interrupted; its answers are kept.
    """
    if "api" in plan.ways and _domain(plan.api_url) != _domain(plan.base_url):
        raise ZugwerkError(
            f"params.yaml: crawl.base_url is {plan.base_url} and crawl.api_url is {plan.api_url}, another site: games "
            "of two sites are not mixed. Set both to one site, or take api out of the section's ways"
        )
    settings = manners(site, plan.base_url, plan.api_url)
    work.mkdir(parents=True, exist_ok=True)
    with _told_of_interruption(), interruptible(), Store(site.store, plan.base_url, plan.gtid) as store:
        store.take_in(view)
        known = len(store.games)
        before = spider(plan, store.games, store.journal, work / "fetches.log")
        before.fetch.offline = True
        asyncio.run(before.run())
        before.complete = before.complete and not before.fetch.missed  # it was, and was killed before it wrote so
        if before.complete or before.stored() != store.games:
            store.keep(before.stored().values(), store.state, complete=before.complete)
        store.show(view)
        sys.stderr.write(f"{forecast(before, store.state, site.delay_s)}\n")
        if not ask or len(before.have) >= plan.max_games > 0:
            return
        begun = time.monotonic()
        empty = store.state.get("empty", ())
        crawled, stopped = run_spider(spider, plan, store.games, store.journal, work, settings, empty)
        if crawled.crash:
            raise crawled.crash
        with at_most(SAVE_S) if stopped else contextlib.nullcontext():
            state = state_of(crawled, time.monotonic() - begun, store.state)
            store.keep(crawled.stored().values(), state, complete=crawled.complete)
            store.show(view)
        tell(crawled, known)
        if stopped:
            raise Interrupted(stopped)
        if crawled.way is None:
            why = "".join(f"By {reason}. " for reason in reasons(crawled))
            raise ZugwerkError(f"the crawl of {plan.base_url} failed. {why}What came is kept: run again to go on")


def crawl_system(system: str, *, ask: bool = True) -> None:
    """Fetch the games of a system from the site of params.yaml, section ``crawl``; see `crawl_live`.

    Raises:
        ZugwerkError: the system has no section ``SYSTEM_crawl``, or as `crawl_live`.
    """
    section, sites = f"{system}_crawl", crawled()
    if system not in sites:
        raise ZugwerkError(f"no games to crawl for {system!r}; there are those of: {', '.join(sites)}")
    site, games = load(CrawlParams, "crawl"), load(sections()[section], section)
    view, work = Path(f"artifacts/raw/{system}/live"), Path(f"work/{section}")
    crawl_live(plan_of(games, site), site, view, work, ask=ask)
    if Path(games.source) != view:
        sys.stderr.write(f"these games become the graph's where params.yaml has {section}.source: {view}\n")


def crawled() -> list[str]:
    """Return the words of the systems with games to crawl."""
    return [name.removesuffix("_crawl") for name in sections() if name.endswith("_crawl")]


def _domain(url: str) -> list[str]:
    """The last two labels of a host's name, which hosts of one site share."""
    return (urlsplit(url).hostname or "").rstrip(".").split(".")[-2:]


@contextlib.contextmanager
def _told_of_interruption() -> Iterator[None]:
    try:
        yield
    except Interrupted as error:
        raise ZugwerkError(
            f"the crawl was interrupted{error.by}; what came is kept, and the same command goes on"
        ) from None
