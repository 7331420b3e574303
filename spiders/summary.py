"""A crawl in words: what it will ask of a site, what it did, why it failed."""

import math
import sys
from collections import Counter
from typing import Any

from spiders.merging import lacks
from spiders.spider import GameSpider

LISTS_A_GAME = 0.1
"""Lists to be read for a game, where nobody knows yet how many games a list has."""


def forecast(spider: GameSpider, state: dict[str, Any], delay_s: float) -> str:
    """What a crawl of a live site will ask, as far as that is known before it begins.

    Args:
        spider: that went through what earlier crawls brought, without asking for anything.
        state: `state_of` the last crawl; empty where there was none.
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
    """What the next crawl's forecast needs of this one, which took so many seconds, and of the one before."""
    players, pages = len(spider.players), spider.fetch.asked.total()
    return {
        "players": players if spider.complete else max(players, before.get("players", 0)),
        "seconds_a_page": seconds / pages if pages else before.get("seconds_a_page", 0.0),
    }


def reasons(spider: GameSpider) -> list[str]:
    """Why ways failed; those that failed for the same reason together."""
    ways: dict[str, list[str]] = {}
    for way, reason in spider.failures.items():
        ways.setdefault(reason, []).append(way)
    return [f"{', '.join(names)}: {reason}" for reason, names in ways.items()]


def tell(spider: GameSpider, known: int) -> None:
    """Say on stderr what a crawl did that began with ``known`` games."""
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
    """A time in words, rounded as people do."""
    if seconds < 90:
        return f"{math.ceil(seconds)} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _listed(counts: Counter[str]) -> str:
    return f" ({', '.join(f'{count:,} {name}' for name, count in counts.most_common() if count)})" if counts else ""


def _retried(stats: dict[str, Any]) -> Counter[str]:
    """Requests that were made again, by the reason; exceptions by the last part of their name."""
    reason = "retry/reason_count/"
    found: Counter[str] = Counter()
    for key in stats:
        if key.startswith(reason):
            name = key.removeprefix(reason)
            found[name if " " in name else name.rpartition(".")[2]] += stats[key]
    return found
