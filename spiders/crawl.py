"""One crawl from beginning to end: source, spider, shards. Scrapy runs in this process, once."""

import hashlib
import json
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.crawl_params import CrawlParams, GamesParams
from pipeline_src.records.raw import RawGame
from spiders.journal import Journal
from spiders.littlegolem import LittleGolemSpider, Plan
from spiders.merging import has_record
from spiders.settings import manners
from spiders.source import open_source
from spiders.store import Identity, put, take_up


def crawl(games: GamesParams, site: CrawlParams, *, seed: int, archive: Path, pages: Path, work: Path) -> None:
    """Bring the shards in ``pages`` up to date with the source; say on stderr what was done.

    What is fetched is journalled in ``work``, so a crawl that is killed or fails goes on from there when it is run
    again. The shards change only after the whole crawl has succeeded.

    Args:
        games: which games, from where.
        site: addresses and manners.
        seed: of the replica's quirks.
        archive: that the replica serves.
        pages: folder of the shards.
        work: folder for the journal and logs.

    Raises:
        ZugwerkError: bad source, damaged shards, no contact for a foreign host, or a crawl that failed.
    """
    with open_source(games, site, archive, seed, work) as source:
        settings = manners(site, source.base_url, source.api_url)
        known = take_up(pages, source.identity)
        plan = Plan(
            base_url=source.base_url,
            api_url=source.api_url,
            gtid=games.gtid,
            variants=games.variants,
            ways=games.ways,
            max_games=games.max_games,
            max_failures=site.max_failures,
        )
        with Journal(work / f"journal-{_digest(source.identity)}.jsonl") as journal:
            spider = run_spider(plan, known, journal, work, settings)
            _judge(spider, journal)
            put(pages, source.identity, source.mark(spider.result()))
            journal.remove()
    _tell(spider, known)


def run_spider(
    plan: Plan, known: Mapping[int, RawGame], journal: Journal, work: Path, settings: dict[str, Any]
) -> LittleGolemSpider:
    """Run the spider until it is done or a signal stops it. A process can do so once: Scrapy's reactor ends with it."""
    everything = Settings()
    everything.setmodule("spiders.settings")
    everything.setdict({**settings, "LOG_FILE": str(work / "scrapy.log"), "LOG_FILE_APPEND": False})
    process = AsyncCrawlerProcess(everything)
    crawler = process.create_crawler(LittleGolemSpider)
    process.crawl(crawler, plan=plan, known=known, journal=journal, log=work / "fetches.log")
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    process.start()
    for number, handler in handlers.items():  # Scrapy leaves its own, which no longer end anything
        signal.signal(number, handler)
    assert isinstance(crawler.spider, LittleGolemSpider)
    return crawler.spider


def _judge(spider: LittleGolemSpider, journal: Journal) -> None:
    if spider.crash:
        raise spider.crash
    if spider.way is None:
        complete = len(spider.failures) == len(spider.plan.ways)
        raise ZugwerkError(
            f"the crawl of {spider.plan.base_url} {'failed' if complete else 'was interrupted'}. "
            f"{''.join(f'By {reason}. ' for reason in _reasons(spider))}"
            f"The stored games are as they were; what came is kept in {journal.path}: run again to go on"
        )


def _reasons(spider: LittleGolemSpider) -> list[str]:
    """Why ways failed; those that failed for the same reason together."""
    ways: dict[str, list[str]] = {}
    for way, reason in spider.failures.items():
        ways.setdefault(reason, []).append(way)
    return [f"{', '.join(names)}: {reason}" for reason, names in ways.items()]


def _tell(spider: LittleGolemSpider, known: Mapping[int, RawGame]) -> None:
    games = spider.result()
    lacking = sum(not has_record(game) for game in games.values())
    stats = spider.crawler.stats
    requests, again = (stats.get_value(key, 0) for key in ("downloader/request_count", "retry/count"))
    for text in (*(f"by {reason}" for reason in _reasons(spider)), *spider.warnings):
        sys.stderr.write(f"warning: {text}\n")
    sys.stderr.write(
        f"{len(games)} games, {len(games.keys() - known.keys())} new, {lacking} without a record; by {spider.way}, "
        f"{requests} requests, {again} of them again\n"
    )


def _digest(identity: Identity) -> str:
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
