"""The spider of any site: find wanted games and fetch their records in one of several ways.

| way | finds games by | fetches records |
| --- | --- | --- |
| lists | the player lists, and each player's list of games | one by one, a player after the other |
| text | the same | by a player's page of all records where the match is certain; then one by one |
| api | the JSON interface's lists of finished games | one by one, a page of the list after the other |

The first way that succeeds ends the crawl; a later one takes over what an earlier one found and fetched. Pages are
asked for one after the other and in a fixed order, so the same site gives the same games with the same bytes. A list
is read after the games of earlier lists are fetched, so a crawl that needs few games reads few lists. This is why
`GameSpider.run` awaits page after page, and its requests have no callbacks.

A site, such as `LittleGolemSpider`, is a subclass with the addresses and parsers of its pages.
"""

import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Self, TypeVar

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from pipeline_src.records.crawl_params import CrawlParams, WantedGames, Way
from pipeline_src.records.littlegolem.text import split_records
from pipeline_src.records.raw import RawGame
from spiders import pages
from spiders.fetcher import API, ASKED, Fetcher, FetchError, NotKept, Stopped, WayFailed, site_of
from spiders.pages import GameList, PageError
from spiders.store import Journal

T = TypeVar("T")

BAD_TEXT_PAGES = 3  # Number of failed pages of records after which no more are requested
FEW = 4  # Number of failures that never end a way early, however few pages it has requested
FEW_MOVED = 50
"""The same for records that redirect elsewhere: the next crawl asks for those alone, and would end there again."""
API_PAGE = 100  # Games per request to a JSON interface; it may send fewer
PROGRESS_S = 30.0  # Seconds between two lines on the progress of the crawl


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of a crawl; all fields but the last are those of the params."""

    base_url: str
    api_url: str
    gtid: str
    variants: tuple[str, ...]
    ways: tuple[Way, ...]
    max_games: int  # Number of games with a record at which the crawl ends; 0 is no limit
    max_failures: float
    in_progress: bool  # Whether to fetch games that no list shows as finished


NO_PLAN = Plan("", "", "amzn", (), (), 0, 0.0, in_progress=False)


def plan_of(games: WantedGames, site: CrawlParams) -> Plan:
    """The plan of a crawl of the site itself, which fetches no unfinished game."""
    return Plan(
        site.base_url,
        site.api_url,
        games.gtid,
        games.variants,
        games.ways,
        games.max_games,
        site.max_failures,
        in_progress=False,
    )


class _Beyond:
    """Whether a page of a list is beyond its last one: no entries, or only those of pages before it.

    Pages of the journal do not count: since they came, new entries may have moved the others to later pages.
    """

    def __init__(self) -> None:
        self._fresh = set[int]()

    def __call__(self, entries: set[int], kept: bool) -> bool:
        if kept:
            return not entries
        new = entries - self._fresh
        self._fresh |= new
        return not new


class Enough(Exception):  # noqa: N818 - a success
    """The wanted number of games is reached."""


class GameSpider(Spider):
    """Crawls one game type of a site. Afterwards the attributes have its outcome."""

    optional: Set[str] = frozenset()
    """Parameters in addresses, as ``name=value``, without which the site sends the same page; a redirect may drop
    them."""

    def __init__(
        self,
        plan: Plan = NO_PLAN,
        known: Mapping[int, RawGame] | None = None,
        journal: Journal | dict[str, bytes] | None = None,
        log: Path = Path(os.devnull),
        empty: Iterable[str] = (),
        **kwargs: Any,
    ) -> None:
        """A ``known`` game that has a record is not asked for; for ``empty`` see `Fetcher`.

        Without a plan, as Scrapy's commands make it, the spider crawls nothing: its callbacks can be called.
        """
        super().__init__(**kwargs)
        known = known or {}
        self.plan = plan
        if plan != NO_PLAN:
            self.allowed_domains = [site_of(plan.base_url), site_of(plan.api_url)]
        self.games = dict(known)  # Games by gid: known ones, fetched ones, and ones only seen in a list
        self.players: dict[int, str] = {}  # Names of players in the player lists, by plid
        self.lists: dict[int, GameList] = {}  # Lists of games by plid
        self.way: Way | None = None  # Way that succeeded; None if the crawl failed
        self.complete = False  # Whether all lists were read; not if the wanted number of games was found before
        self.failures: dict[Way, str] = {}  # Reasons of the failures of earlier ways
        self.warnings: list[str] = []  # Problems that did not make a way fail
        self.crash: Exception | None = None  # Error that ended the crawl, if the site did not cause it
        kept = {} if journal is None else journal
        self.fetch = Fetcher(self, kept, log, plan.base_url, plan.api_url, self.optional, empty)
        self.have = {gid for gid, game in known.items() if pages.has_record(game)}  # Games with a record
        self._known = len(self.have)
        self._lacked = known.keys() - self.have  # Games whose record failed earlier: it is requested only once
        self._done = {gid for gid in self.have if known[gid].finished}
        self._seen: set[int] = set()
        self._tried: set[int] = set()  # Games fetched by this way
        self._moved = 0  # Number of records that a redirect kept away, by this way
        self._failed, self._last_failed = 0, ""
        """Number of records that failed, by this way, and what happened to the last one."""
        self._begun = self._told = time.monotonic()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider for a crawl by Scrapy."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._note_request, signals.request_reached_downloader)
        crawler.signals.connect(spider._note_answer, signals.response_downloaded)
        crawler.signals.connect(spider._note_end, signals.request_left_downloader)
        return spider

    def _note_request(self) -> None:
        self.fetch.awaited += 1

    def _note_answer(self, response: Response, request: Request) -> None:
        self.fetch.answered = response.status == 200 and ASKED in request.meta

    def _note_end(self) -> None:
        self.fetch.awaited -= 1

    # Defined by each site: keys of its pages, which are paths relative to the base URL.

    def players_page(self, variant: str, number: int) -> str:
        """Key of a page of the player list of a variant, numbered from 1."""
        raise NotImplementedError

    def read_players(self, body: bytes) -> dict[int, str]:
        """Names by plid; past the last page none, or those of an earlier page.

        Raises:
            PageError: the answer is not that page; likewise in all readers.
        """
        raise NotImplementedError

    def list_page(self, plid: int) -> str:
        """Key of a player's list of games."""
        raise NotImplementedError

    def read_list(self, body: bytes, plid: int) -> GameList:
        """The games of a player, finished ones and others."""
        raise NotImplementedError

    def record_page(self, gid: int) -> str:
        """Key of a game's record."""
        raise NotImplementedError

    def text_page(self, plid: int) -> str | None:  # noqa: ARG002 - for a subclass to use
        """Key of the page of all records of a player; None if the site has no such page."""
        return None

    def api_page(self, variant: str, offset: int) -> str | None:  # noqa: ARG002
        """Key of `API_PAGE` finished games from ``offset`` on; None if the site has no JSON interface."""
        return None

    def read_api(self, body: bytes) -> list[RawGame]:
        """The games on a page of the JSON interface."""
        raise NotImplementedError

    # Shared by the spiders of all sites.

    async def start(self) -> AsyncIterator[Any]:
        """Crawl. Yields nothing: on a stop, Scrapy would wait for ever for an item that is under way."""
        await self.run()
        for nothing in list[Any]():
            yield nothing

    async def run(self) -> None:
        """Try the ways in turn."""
        try:
            await self._crawl()
        except Stopped:
            pass
        except Exception as error:
            self.crash = error
            raise

    def stored(self) -> dict[int, RawGame]:
        """The requested games by gid: those with a record, and those whose record failed.

        A game with only an unfinished record is returned as it was then, and asked for again.
        """
        old = {gid for gid in self.have - self._done if self.games[gid].finished}
        asked = {gid: game for gid, game in sorted(self.games.items()) if game.path}
        return {gid: pages.without_results(game) if gid in old else game for gid, game in asked.items()}

    def wanted(self) -> list[int]:
        """The games whose record is still to be fetched."""
        return [gid for gid in sorted(self._seen) if self._is_wanted(gid)]

    async def _crawl(self) -> None:
        ways: dict[Way, Callable[[], Awaitable[None]]] = {
            "lists": self._by_lists,
            "text": self._by_text,
            "api": self._by_api,
        }
        for way in self.plan.ways:
            self.fetch.begin()
            self._tried, self._failed, self._moved = set(), 0, 0
            try:
                self._end_if_enough()
                await ways[way]()
                self._check()
            except WayFailed as failure:
                self.failures[way] = str(failure)
            except Enough:
                self.way = way
            else:
                self.way, self.complete = way, True
            if self.way:
                self.warnings += [f"{self._failed_words()}; the next crawl asks again"] if self._failed else []
                break

    async def _by_lists(self) -> None:
        async for listed in self._lists():
            await self._take_kept_text(listed)
            await self._fetch_singly(row.gid for row in listed.rows)
        await self._fetch_singly(self._seen)  # an earlier way may have seen others

    async def _by_text(self) -> None:
        bad = 0
        async for listed in self._lists():
            if await self._take_kept_text(listed):
                continue
            key, wanted = self.text_page(listed.plid), self._wanted_of(listed)
            if key is None or bad == BAD_TEXT_PAGES:
                await self._fetch_singly(wanted)
            # For a few games of a long list, the page would be larger than the games.
            elif len(wanted) >= 2 and 2 * len(wanted) >= len(listed.rows):
                bad += not await self._fetch_text(listed, key, wanted)
        await self._fetch_singly(self._seen)

    async def _by_api(self) -> None:
        errors: list[FetchError] = []
        for variant in self.plan.variants:
            beyond, offset = _Beyond(), 0
            while key := self.api_page(variant, offset):
                kept = self.fetch.kept(key)
                try:
                    games = await self._page("API pages", key, self.read_api)
                except FetchError as error:
                    _first_only(offset == 0, error, errors)
                    break
                if beyond({game.gid for game in games}, kept):
                    break
                self._see(games)
                await self._fetch_singly(game.gid for game in games)
                offset += len(games)
        self._some_variant(errors)

    async def _players(self) -> AsyncIterator[int]:
        """All players of the game type, page by page, each once.

        Raises:
            WayFailed: no variant has a player list, or one breaks off.
        """
        errors: list[FetchError] = []
        seen: set[int] = set()
        for variant in self.plan.variants:
            beyond, first = _Beyond(), list[str]()
            for number in count(1):
                key, read = self.players_page(variant, number), partial(self._read_players, number, first)
                kept = self.fetch.kept(key)
                try:
                    page = await self._page("player lists", key, read)
                except FetchError as error:
                    _first_only(number == 1, error, errors)
                    break
                if beyond(set(page), kept):
                    break
                self.players = page | self.players
                for plid in [plid for plid in page if plid not in seen]:
                    seen.add(plid)
                    yield plid
        self._some_variant(errors)
        if not seen:
            raise WayFailed(f"no player of {self.plan.gtid} in the player lists of {', '.join(self.plan.variants)}")

    def _read_players(self, number: int, first: list[str], body: bytes) -> dict[int, str]:
        """`read_players`; a page beyond the last one must have the headings of the ``first``, which are noted."""
        page = self.read_players(body)
        if number == 1:
            first[:] = pages.headings_of(body)
        elif not page and pages.headings_of(body) != first:
            raise PageError("no player list: no players, and other headings than the first page")
        return page

    async def _lists(self) -> AsyncIterator[GameList]:
        """The players' lists of games.

        Raises:
            WayFailed: as `_players`; or too many lists failed.
        """
        asked, failed, last = 0, 0, ""

        def words() -> str:
            return f"{failed} of {asked} players' lists failed, the last: {last}"

        async for plid in self._players():
            asked += 1
            if plid not in self.lists:
                try:
                    found = await self._page("lists", self.list_page(plid), partial(self.read_list, plid=plid))
                except NotKept:
                    continue
                except FetchError as error:
                    failed, last = failed + 1, str(error)
                    if failed > max(FEW, self.plan.max_failures * asked):
                        raise WayFailed(words()) from None
                    continue
                self.lists[plid] = replace(found, name=found.name or self.players[plid])
                self._see(pages.games_of(self.lists[plid]))
            yield self.lists[plid]
        if failed > self.plan.max_failures * asked:
            raise WayFailed(words())
        if failed:
            self.warnings.append(words())

    def _wanted_of(self, listed: GameList) -> set[int]:
        """Finished games of a list whose record is still to be fetched."""
        return {row.gid for row in listed.rows if row.result and self._is_wanted(row.gid)}

    async def _take_kept_text(self, listed: GameList) -> bool:
        """Take the wanted games from a player's page of all records if the journal has it; return whether it does.

        A crawl may have been stopped before all of the page's games were stored.
        """
        key, wanted = self.text_page(listed.plid), self._wanted_of(listed)
        if key is None or not self.fetch.kept(key):
            return False
        return not wanted or await self._fetch_text(listed, key, wanted)

    async def _fetch_text(self, listed: GameList, key: str, wanted: set[int]) -> bool:
        """Fetch a player's page of all records and take the wanted ones; return whether the page came."""
        try:
            page = await self._page("pages of records", key, pages.check_record)
        except NotKept:
            return True
        except FetchError as error:
            self.warnings.append(str(error))
            return False
        for gid, body in (await pages.match_records(listed, split_records(page))).items():
            if gid in wanted:
                self._take(gid, key, 200, body)
        self._end_if_enough()
        return True

    async def _fetch_singly(self, gids: Iterable[int]) -> None:
        """Fetch the records of the wanted games."""
        for gid in sorted(gid for gid in set(gids) if self._is_wanted(gid)):
            self._end_if_enough()
            self._tried.add(gid)
            game, key = self.games[gid], self.record_page(gid)
            again = gid not in self._lacked
            try:
                body = await self._page("records", key, pages.check_record, keep=game.finished, again=again)
                self._take(gid, key, 200, body)
            except NotKept:
                self._tried.discard(gid)
            except FetchError as error:
                self._failed, self._last_failed = self._failed + 1, str(error)
                if gid not in self.have:
                    self._take(gid, key, error.status, error.body)
                self._moved += 300 <= error.status < 400
                few = max(FEW, self.plan.max_failures * len(self._seen))
                if self._failed - self._moved > few or self._moved > max(FEW_MOVED, few):
                    raise WayFailed(self._failed_words()) from None
        self._end_if_enough()

    def _failed_words(self) -> str:
        return f"{self._failed} record{'s' * (self._failed > 1)} failed, the last: {self._last_failed}"

    def _see(self, games: Iterable[RawGame]) -> None:
        """Record a list's facts about some games."""
        for game in games:
            self._seen.add(game.gid)
            before = self.games.get(game.gid, game)
            self.games[game.gid] = pages.merge(before, game)
            if self.games[game.gid].finished and not before.finished:
                self._done.discard(game.gid)  # its record came before its end

    def _take(self, gid: int, path: str, status: int, body: bytes) -> None:
        """Record the answer for a game's record."""
        self.games[gid] = replace(self.games[gid], path=path, status=status, body=body)
        if pages.has_record(self.games[gid]):
            self.have.add(gid)
            self._done.add(gid)

    def _is_wanted(self, gid: int) -> bool:
        left = gid not in self._done and gid not in self._tried
        return left and (self.plan.in_progress or self.games[gid].finished)

    def _end_if_enough(self) -> None:
        if 0 < self.plan.max_games <= len(self.have):
            raise Enough

    def _check(self) -> None:
        """Decide whether a way succeeded, at its end.

        Raises:
            WayFailed: it found nothing, or too many games lack their record.
        """
        if not self._seen:
            raise WayFailed("no games found")
        if not self.plan.in_progress and not any(self.games[gid].finished for gid in self._seen):
            raise WayFailed(f"no list tells a result of any of the {len(self._seen)} games found")
        stored = self.stored()
        lacking = [gid for gid in stored if gid not in self.have]
        if len(lacking) > self.plan.max_failures * len(stored):
            raise WayFailed(f"{len(lacking)} of {len(stored)} games lack their record, first {lacking[0]}")

    def _some_variant(self, errors: list[FetchError]) -> None:
        """Warn of variants without a list: they may have been misspelt, or have no players."""
        if len(errors) == len(self.plan.variants):
            raise WayFailed(str(errors[0]))
        self.warnings += map(str, errors)

    async def _page(self, kind: str, key: str, read: Callable[[bytes], T], **how: bool) -> T:
        """Fetch a page; now and then report the progress on stderr."""
        now = time.monotonic()
        if now - self._told > PROGRESS_S:
            self._told = now
            sys.stderr.write(
                f"{len(self.have):,} games, {len(self.have) - self._known:,} of them new; lists of {len(self.lists):,} "
                f"of the {len(self.players):,} players seen so far; {self.fetch.asked.total():,} pages, "
                f"{(now - self._begun) / 60:.1f} minutes\n"
            )
        return await self.fetch.page(kind, key, read, **how)


def _first_only(first: bool, error: FetchError, errors: list[FetchError]) -> None:
    """A variant whose first page fails may not exist; one that breaks off later has lost us games."""
    if not first:
        raise WayFailed(str(error)) from None
    errors.append(error)


class LittleGolemSpider(GameSpider):
    """LittleGolem's pages and its JSON interface; spiders/pages.py parses them."""

    name = "littlegolem"
    optional = frozenset({"page=1", "offset=0", "min_rating=0"})

    def players_page(self, variant: str, number: int) -> str:
        """Best rated players first."""
        return f"/jsp/info/player_list.jsp?gtvar={self.plan.gtid}_{variant}&page={number}"

    def read_players(self, body: bytes) -> dict[int, str]:
        """Names by plid."""
        return pages.read_players(body)

    def list_page(self, plid: int) -> str:
        """Newest games first, including those in progress."""
        return f"/jsp/info/player_game_list.jsp?gtid={self.plan.gtid}&plid={plid}"

    def read_list(self, body: bytes, plid: int) -> GameList:
        """A player's games."""
        return pages.read_game_list(body, plid)

    def record_page(self, gid: int) -> str:
        """The record in the site's own notation."""
        return f"/servlet/sgf/{gid}/game{gid}.txt"

    def text_page(self, plid: int) -> str:
        """The records of all of a player's games, without their numbers."""
        return f"/jsp/info/player_game_list_txt.jsp?plid={plid}&gtid={self.plan.gtid}"

    def api_page(self, variant: str, offset: int) -> str:
        """Finished games, newest first."""
        query = f"state=finished&min_rating=0&offset={offset}&limit={API_PAGE}"
        return f"{API}/games/variant/{self.plan.gtid}/{variant}?{query}"

    def read_api(self, body: bytes) -> list[RawGame]:
        """Games with their players in the order of moving."""
        return pages.read_api_games(body)

    # Callbacks: what the crawl reads from its pages, as requests and items. `scrapy check` gives them the pages in
    # tests/spiders/pages, `scrapy parse` one of the site.

    def parse_players(self, response: Response) -> Iterator[Request]:
        """Request the list of games of each player.

        @page players.html
        @returns requests 7 7
        @returns items 0 0
        """
        for plid in self.read_players(response.body):
            yield response.follow(self.list_page(plid), self.parse_list, cb_kwargs={"plid": plid})

    def parse_list(self, response: Response, plid: int) -> Iterator[RawGame | Request]:
        """Give a player's games without their records, and request the records of those that are over.

        @page list.html
        @cb_kwargs {"plid": 101}
        @returns items 3 3
        @returns requests 3 3
        @scrapes gid variant seats
        """
        for game in pages.games_of(self.read_list(response.body, plid)):
            yield game
            if game.finished:
                yield response.follow(self.record_page(game.gid), self.parse_record, cb_kwargs={"gid": game.gid})

    def parse_record(self, response: Response, gid: int) -> Iterator[RawGame]:
        """Give a game with its record and nothing that lists say.

        @page record.txt
        @cb_kwargs {"gid": 9981}
        @returns items 1 1
        @scrapes gid path body
        """
        yield RawGame(gid, self.record_page(gid), response.status, pages.check_record(response.body))
