"""Messages about a crawl: forecast, result, reasons of failures."""

import math
import sys
from collections import Counter
from typing import Any

from spiders.merging import lacks
from spiders.spider import GameSpider

LISTS_A_GAME = 0.1  # Lists to read for each game, as long as the size of lists is unknown


def forecast(spider: GameSpider, state: dict[str, Any], delay_s: float) -> str:
    """Forecast of the requests of a crawl of a live site.

    Args:
        spider: after a run over the answers of earlier crawls, without requests.
        state: `state_of` the last crawl; empty without one.
        delay_s: between two requests, in seconds.
    """
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
    """Facts for the next crawl's forecast, from this crawl, its seconds, and the facts before."""
    players, pages = len(spider.players), spider.fetch.asked.total()
    return {
        "players": players if spider.complete else max(players, before.get("players", 0)),
        "seconds_a_page": seconds / pages if pages else before.get("seconds_a_page", 0.0),
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
