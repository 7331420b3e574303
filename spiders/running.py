"""Scrapy in this process, once, and how it is ended: at once, whatever it is doing, with all that came kept."""

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.settings import Settings
from twisted.web.client import HTTPConnectionPool

from pipeline_src.records.raw import RawGame
from spiders.journal import Journal
from spiders.spider import GameSpider, Plan

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LAST_ANSWER_S = 1.5
"""How long an answer that is on its way when a signal comes may take to come."""
KEEP_S = 1.5
"""How long one that came may take to be kept, beyond that; a list of 20,000 games is read in a second."""
POLL_S = 0.02


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

    Raises:
        Interrupted: a signal came before there was a spider.
    """
    everything = Settings()
    everything.setmodule("spiders.settings")
    everything.setdict({**settings, "LOG_FILE": str(work / "scrapy.log"), "LOG_FILE_APPEND": False})
    process = AsyncCrawlerProcess(everything)
    reactor = _reactor()
    HTTPConnectionPool.retryAutomatically = False  # or it asks again at once where a connection is closed
    # A thread that looks up a host may do so for minutes; the process does not wait for it.
    reactor.getThreadPool().threadFactory = partial(Thread, daemon=True)
    crawler = process.create_crawler(kind)
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        again, stopped = stopped, True
        reactor.callFromThread(_end, crawler, time.monotonic() + (0.0 if again else LAST_ANSWER_S))

    with _handled_by(stop, *SIGNALS):
        process.crawl(crawler, plan=plan, known=known, journal=journal, log=work / "fetches.log")
        process.start(install_signal_handlers=False)
    if not isinstance(crawler.spider, GameSpider):
        raise Interrupted
    return crawler.spider, stopped and crawler.spider.way is None


def _end(crawler: Crawler, deadline: float) -> None:
    """Let no request follow, and end the reactor once no answer is on its way, or time is up; runs in the reactor."""
    reactor, spider = _reactor(), crawler.spider
    comes = False
    if isinstance(spider, GameSpider):
        spider.fetch.stopping = True
        slots = crawler.engine.downloader.slots.values() if crawler.engine.running else ()
        left = deadline - time.monotonic()
        comes = (left > 0 and any(slot.transferring for slot in slots)) or (left > -KEEP_S and spider.fetch.answered)
    if comes:
        reactor.callLater(POLL_S, _end, crawler, deadline)
    else:
        reactor.crash()


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
