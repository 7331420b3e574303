"""Run Scrapy in this process, once, and end it at once on a signal, with all answers kept."""

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
LAST_ANSWER_S = 1.5  # Seconds to wait for a pending answer after a signal
KEEP_S = 1.5  # Seconds more to keep it; a list of 20,000 games is read in a second
POLL_S = 0.02


class Interrupted(BaseException):
    """A signal came, or the time is over."""


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """SIGINT and SIGTERM raise `Interrupted` in this block."""
    with _handled_by(_interrupt, *SIGNALS):
        yield


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Interrupt this block after so many seconds."""
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

    Scrapy waits for all pending requests at its end. Here only an answer that the site is already sending is awaited,
    so that it is kept and not requested again; everything else is in the journal.

    Returns:
        The spider, and whether a signal stopped it.

    Raises:
        Interrupted: a signal came before the spider was made.
    """
    everything = Settings()
    everything.setmodule("spiders.settings")
    everything.setdict({**settings, "LOG_FILE": str(work / "scrapy.log"), "LOG_FILE_APPEND": False})
    process = AsyncCrawlerProcess(everything)
    reactor = _reactor()
    HTTPConnectionPool.retryAutomatically = False  # otherwise it retries at once on a closed connection
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
    """Send no further request; end the reactor once no answer is pending, or at the deadline. Runs in the reactor."""
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
    """Twisted's reactor, imported late, since Scrapy's process installs it."""
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
