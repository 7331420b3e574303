"""Scrapy in this process, once, and how it is ended: at once, whatever it is doing, with all that came kept."""

import contextlib
import signal
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.settings import Settings

from pipeline_src.records.raw import RawGame
from spiders.journal import Journal
from spiders.spider import GameSpider, Plan

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LAST_ANSWER_S = 2.0
"""How long the answer that is on its way when a signal comes may take to be kept."""


class Interrupted(BaseException):
    """A signal came, or time is up."""


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """SIGINT and SIGTERM raise `Interrupted` in this block."""
    with _handled_by(_interrupt, *SIGNALS):
        yield


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End this block where it stands after so many seconds."""
    with contextlib.suppress(Interrupted), _handled_by(_interrupt, signal.SIGALRM):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def _interrupt(*_: object) -> None:
    raise Interrupted


def run_spider(
    kind: type[GameSpider],
    plan: Plan,
    known: Mapping[int, RawGame],
    journal: Journal,
    work: Path,
    settings: dict[str, Any],
) -> tuple[GameSpider, bool]:
    """Run a spider until it is done or a signal stops it. A process can do so once: Scrapy's reactor ends with it.

    Scrapy's own way to end waits for whatever is under way. This one waits for an answer that the site is sending
    already, which is then kept and not asked for again, and otherwise for nothing: all else is in the journal.

    Returns:
        The spider, and whether a signal stopped it.
    """
    everything = Settings()
    everything.setmodule("spiders.settings")
    everything.setdict({**settings, "LOG_FILE": str(work / "scrapy.log"), "LOG_FILE_APPEND": False})
    process = AsyncCrawlerProcess(everything)
    reactor = _reactor()

    # A thread that looks up a host may do so for minutes; the process does not wait for it.
    reactor.getThreadPool().threadFactory = partial(Thread, daemon=True)
    crawler = process.create_crawler(kind)
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        again, stopped = stopped, True
        reactor.callFromThread(_end, crawler, 0.0 if again else LAST_ANSWER_S)

    with _handled_by(stop, *SIGNALS):
        process.crawl(crawler, plan=plan, known=known, journal=journal, log=work / "fetches.log")
        process.start(install_signal_handlers=False)
    assert isinstance(crawler.spider, GameSpider)
    return crawler.spider, stopped


def _end(crawler: Crawler, patience_s: float) -> None:
    """End the reactor, after up to so many seconds where an answer is on its way; runs in the reactor."""
    reactor = _reactor()
    if isinstance(crawler.spider, GameSpider):
        crawler.spider.fetch.stopping = True
    engine = getattr(crawler, "engine", None)
    transfers = engine is not None and any(slot.transferring for slot in engine.downloader.slots.values())
    reactor.callLater(patience_s if transfers else 0.0, reactor.crash)


def _reactor() -> Any:
    """Twisted's, which has to be imported late: Scrapy's process installs it."""
    from twisted.internet import reactor

    return reactor


@contextlib.contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None], *signals: signal.Signals) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in signals}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
