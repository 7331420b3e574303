"""The spider: finds a game type's games and fetches their records, by ways that stand in for each other.

| way | finds games by | fetches records |
| --- | --- | --- |
| lists | the player list and each player's list of games | one by one |
| text | the same | by a player's page of all records where it is certain which is which, else one by one |
| api | the JSON interface's list of finished games | one by one |

The first way that succeeds ends the crawl; a later one takes over what an earlier one found and fetched. Pages are
asked for one after the other and in a fixed order, so the same site gives the same games with the same bytes.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy import Spider
from tqdm import tqdm

from pipeline_src.records.crawl_params import Way
from pipeline_src.records.littlegolem.text import split_records
from pipeline_src.records.raw import RawGame
from spiders.fetcher import Fetcher, FetchError, WayFailed
from spiders.finding import find_by_api, find_lists, find_players
from spiders.journal import Journal
from spiders.matching import match_records
from spiders.merging import has_record, merge, without_results
from spiders.pages import GameList, check_record, games_of

BAD_TEXT_PAGES = 3
"""After so many pages of records that did not come, no more of them are asked for."""

SETTLE_S = 0.05
"""Time that Scrapy gets to be done with the last game, in seconds."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to crawl; the fields are those of the params."""

    base_url: str
    api_url: str
    gtid: str
    variants: tuple[str, ...]
    ways: tuple[Way, ...]
    max_games: int
    max_failures: float


def _domain(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")


class LittleGolemSpider(Spider):
    """Crawls one game type. Afterwards the attributes tell what came of it."""

    name = "littlegolem"

    def __init__(self, plan: Plan, known: Mapping[int, RawGame], journal: Journal, log: Path, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.plan = plan
        self.allowed_domains = [_domain(plan.base_url), _domain(plan.api_url)]
        self.games = dict(known)
        """What was known and what came, by gid."""
        self.way: Way | None = None
        """That succeeded; None unless the crawl did."""
        self.failures: dict[Way, str] = {}
        """Why the ways before it failed."""
        self.warnings: list[str] = []
        """What went wrong without making a way fail."""
        self.crash: Exception | None = None
        """What ended the crawl, if it was none of the site's doing."""
        self._done = {gid for gid, game in known.items() if game.finished and has_record(game)}
        self._seen: set[int] = set()
        self._players: dict[int, str] = {}
        self._lists: dict[int, GameList] = {}
        self._fetch = Fetcher(self, journal, log, plan.base_url, plan.api_url)

    async def start(self) -> AsyncIterator[RawGame]:
        """Try the ways in turn; yields each game when its record came, or did not come in spite of all retries."""
        ways: dict[Way, Callable[[], AsyncIterator[RawGame]]] = {
            "lists": self._by_lists,
            "text": self._by_text,
            "api": self._by_api,
        }
        try:
            for way in self.plan.ways:
                self._fetch.begin()
                try:
                    async for game in ways[way]():
                        yield game
                    self._check()
                except WayFailed as failure:
                    self.failures[way] = str(failure)
                else:
                    self.way = way
                    break
        except Exception as error:
            self.crash = error
            raise
        # Scrapy ends a crawl whose last item is done when this ends; else only at its next heartbeat, seconds later.
        await asyncio.sleep(SETTLE_S)

    async def _by_lists(self) -> AsyncIterator[RawGame]:
        await self._find_by_lists()
        async for game in self._fetch_singly():
            yield game

    async def _by_text(self) -> AsyncIterator[RawGame]:
        await self._find_by_lists()
        bad, missing = 0, set(self._wanted())
        for plid, listed in sorted(self._lists.items()):
            wanted = missing.intersection(row.gid for row in listed.rows if row.result)
            # One page for a few games of a long list would be more to send than the games.
            if bad == BAD_TEXT_PAGES or len(wanted) < 2 or 2 * len(wanted) < len(listed.rows):
                continue
            key = f"/jsp/info/player_game_list_txt.jsp?plid={plid}&gtid={self.plan.gtid}"
            try:
                page = await self._fetch.page(key, check_record)
            except FetchError as error:
                bad += 1
                self.warnings.append(str(error))
                continue
            for gid, body in sorted(match_records(listed, split_records(page)).items()):
                if gid in wanted:
                    missing.discard(gid)
                    yield self._take(gid, key, 200, body)
        async for game in self._fetch_singly():
            yield game

    async def _by_api(self) -> AsyncIterator[RawGame]:
        self._see(await find_by_api(self._fetch, self.plan.gtid, self.plan.variants, self.warnings.append))
        async for game in self._fetch_singly():
            yield game

    async def _find_by_lists(self) -> None:
        plan, warn = self.plan, self.warnings.append
        self._players = self._players or await find_players(self._fetch, plan.gtid, plan.variants, warn)
        await find_lists(self._fetch, plan.gtid, self._players, self._lists, plan.max_failures, warn)
        for _, listed in sorted(self._lists.items()):
            self._see(games_of(listed))

    async def _fetch_singly(self) -> AsyncIterator[RawGame]:
        """Fetch the record of each game that is still wanted."""
        errors = 0
        for gid in tqdm(self._wanted(), "records", unit=" games", disable=None):
            key = f"/servlet/sgf/{gid}/game{gid}.txt"
            try:
                body = await self._fetch.page(key, check_record, keep=self.games[gid].finished)
                yield self._take(gid, key, 200, body)
            except FetchError as error:
                errors += 1
                if has_record(self.games[gid]):  # it came while the game went on, so the game has to stay unfinished
                    self.games[gid] = without_results(self.games[gid])
                else:
                    yield self._take(gid, key, error.status, error.body)
                if errors > self.plan.max_failures * len(self._target()):
                    raise WayFailed(f"{errors} records failed, the last: {error}") from None

    def _see(self, games: Iterable[RawGame]) -> None:
        """Note what a list says of some games."""
        for game in games:
            self._seen.add(game.gid)
            before = self.games.get(game.gid, game)
            self.games[game.gid] = merge(before, game)
            if self.games[game.gid].finished and not before.finished:
                self._done.discard(game.gid)  # its record came while it went on

    def _take(self, gid: int, path: str, status: int, body: bytes) -> RawGame:
        """Note what came for a game's record."""
        self.games[gid] = replace(self.games[gid], path=path, status=status, body=body)
        if has_record(self.games[gid]):
            self._done.add(gid)
        return self.games[gid]

    def result(self) -> dict[int, RawGame]:
        """The games that the crawl ends with, by gid: those with a record, and those whose record did not come."""
        return {gid: self.games[gid] for gid in self._target()}

    def _target(self) -> list[int]:
        """The gids that the crawl is to end with."""
        return sorted(self.games)[: self.plan.max_games or None]

    def _wanted(self) -> list[int]:
        return [gid for gid in self._target() if gid in self._seen and gid not in self._done]

    def _check(self) -> None:
        """Judge a way that has come to its end.

        Raises:
            WayFailed: it found nothing, or too many games lack their record.
        """
        if not self._seen:
            raise WayFailed("no games found")
        target = self._target()
        lacking = [gid for gid in target if not has_record(self.games[gid])]
        if len(lacking) > self.plan.max_failures * len(target):
            raise WayFailed(f"{len(lacking)} of {len(target)} games lack their record, first {lacking[0]}")
