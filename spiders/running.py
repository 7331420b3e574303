"""Run Scrapy in this process, once, and end it at once on a signal, with all answers kept; what a crawl says."""

import contextlib
import math
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.settings import Settings
from twisted.web.client import HTTPConnectionPool

from pipeline_src.records.raw import RawGame
from spiders.pages import lacks
from spiders.spider import GameSpider, Plan
from spiders.store import Journal

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LAST_ANSWER_S = 1.5  # Seconds to wait for a pending answer after a signal
KEEP_S = 1.5  # Seconds more to keep it; a list of 20,000 games is read in a second
POLL_S = 0.02
LISTS_A_GAME = 0.1  # Lists to read for each game, as long as the size of lists is unknown


class Interrupted(BaseException):
    """A signal came, or the time is over."""

    def __init__(self, number: int) -> None:
        self.by = "" if number == signal.SIGINT else f" by {signal.Signals(number).name}"  # In words, but for Ctrl-C


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """`SIGNALS` raise `Interrupted` in this block."""
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


def _interrupt(number: int, _: object) -> None:
    raise Interrupted(number)


def run_spider(
    kind: type[GameSpider],
    plan: Plan,
    known: Mapping[int, RawGame],
    journal: Journal,
    work: Path,
    settings: dict[str, Any],
    empty: Iterable[str] = (),
) -> tuple[GameSpider, int]:
    """Run a spider until it is done or a signal stops it. A process can do so once: Scrapy's reactor ends with it.

    Scrapy waits for all pending requests at its end. Here only an answer that the site is already sending is awaited,
    so that it is kept and not requested again; everything else is in the journal.

    Returns:
        The spider, and the signal that stopped it; 0 if none did.

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
    stopped = 0

    def stop(number: int, _: object) -> None:
        nonlocal stopped
        again, stopped = stopped, number
        reactor.callFromThread(_end, crawler, time.monotonic() + (0.0 if again else LAST_ANSWER_S))

    with _handled_by(stop, *SIGNALS):
        process.crawl(crawler, plan=plan, known=known, journal=journal, log=work / "fetches.log", empty=empty)
        process.start(install_signal_handlers=False)
    if not isinstance(crawler.spider, GameSpider):
        raise Interrupted(stopped)
    return crawler.spider, stopped if crawler.spider.way is None else 0


def _end(crawler: Crawler, deadline: float) -> None:
    """Send no further request; end the reactor once no answer is pending, or at the deadline. Runs in the reactor.

    `AsyncCrawlerProcess.stop` does not do: while the engine starts, Scrapy 2.19 takes no notice and then never ends;
    and Twisted waits for the look-up of a host, which may take minutes.
    """
    reactor, spider = _reactor(), crawler.spider
    comes = False
    if isinstance(spider, GameSpider):
        spider.fetch.stopping = True
        left = deadline - time.monotonic()
        comes = (left > 0 and spider.fetch.awaited > 0) or (left > -KEEP_S and spider.fetch.answered)
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
    heard = [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]  # as by nohup
    before = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


# Messages about a crawl: forecast, result, reasons of failures.


def forecast(spider: GameSpider, state: dict[str, Any], delay_s: float) -> str:
    """Forecast of the requests of a live crawl, from a run without requests and `state_of` the last crawl."""
    have, most = len(spider.have), spider.plan.max_games
    site, stored = spider.plan.base_url, f"{have:,} games stored"
    if 0 < most <= have:
        return f"nothing to ask of {site}: {stored}, and max_games is {most:,}"
    begun = spider.players and not spider.complete
    lists = len(spider.players) - len(spider.lists) if begun else state.get("players")
    if most:
        few = math.ceil(LISTS_A_GAME * (most - have))
        pages, more = most - have + (few if lists is None else min(few, lists)), " at most"
    elif lists is None:
        return f"to ask of {site}: a page for each player, one at most for each game, nobody knows how many; {stored}"
    else:
        pages, more = lists + len(spider.wanted()), ", and at most one more for each game that is new"
    seconds = pages * max(delay_s, state.get("seconds_a_page", 0.0))
    return f"to ask of {site}: about {pages:,} pages{more}, {duration(seconds)}; {stored}"


def state_of(spider: GameSpider, seconds: float, before: dict[str, Any]) -> dict[str, Any]:
    """Facts for the next crawl and its forecast, from this crawl, its seconds, and the facts before."""
    players, pages = len(spider.players), spider.fetch.asked.total()
    return {
        "players": players if spider.complete else max(players, before.get("players", 0)),
        "seconds_a_page": seconds / pages if pages else before.get("seconds_a_page", 0.0),
        "empty": sorted(spider.fetch.empty),
    }


def reasons(spider: GameSpider) -> list[str]:
    """Reasons of failed ways; ways with the same reason together."""
    ways: dict[str, list[str]] = {}
    for way, reason in spider.failures.items():
        ways.setdefault(reason, []).append(way)
    return [f"{', '.join(names)}: {reason}" for reason, names in ways.items()]


def tell(spider: GameSpider, known: int) -> None:
    """Report on stderr the result of a crawl that began with ``known`` games."""
    for text in (*(f"by {reason}" for reason in reasons(spider)), *spider.warnings):
        sys.stderr.write(f"warning: {text}\n")
    games = spider.stored()
    why = Counter(what for game in games.values() if (what := lacks(game)))
    lacking = f"{why.total():,} without a record{_listed(why)}"
    stats = spider.crawler.stats
    again = _retried(stats.get_stats())
    asked = spider.fetch.asked
    how = f"by {spider.way}" if spider.way else "not complete"
    sys.stderr.write(
        f"{len(games):,} games, {len(games) - known:,} new, {lacking}; {how}, "
        f"{asked.total():,} pages{_listed(asked)}, {again.total():,} requests again{_listed(again)}\n"
    )


def duration(seconds: float) -> str:
    """A rounded time in words."""
    if seconds < 90:
        return f"{math.ceil(seconds)} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _listed(counts: Counter[str]) -> str:
    return f" ({', '.join(f'{count:,} {name}' for name, count in counts.most_common() if count)})" if counts else ""


def _retried(stats: dict[str, Any]) -> Counter[str]:
    """Retried requests by reason; exceptions by the last part of their name."""
    reason = "retry/reason_count/"
    found: Counter[str] = Counter()
    for key in stats:
        if key.startswith(reason):
            name = key.removeprefix(reason)
            found[name if " " in name else name.rpartition(".")[2]] += stats[key]
    return found
