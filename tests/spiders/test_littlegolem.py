"""The spider on pages from a dict, without Scrapy's engine and without a network."""

import asyncio
import dataclasses
import re

import pytest

from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.raw import RawGame, Seat
from spiders.fetcher import API, FetchError
from spiders.journal import Journal
from spiders.littlegolem import LittleGolemSpider, Plan
from spiders.pages import PageError
from spiders.replica.quirks import MISSING
from spiders.replica.routes import API_PREFIX, Routes
from tests.spiders.sites import games, site_of

PLAN = Plan("http://127.0.0.1:1", "http://127.0.0.1:1/api", "amzn", ("DEFAULT", "CROSS"), ("lists",), 0, 0.1)


class Pages:
    """A fetcher that asks a replica's routes directly; some keys fail."""

    def __init__(self, routes, failing=()):
        self.routes = routes
        self.failing = tuple(failing)
        self.asked = []
        self.kept = {}

    def begin(self):
        pass

    async def page(self, key, read, *, keep=True):
        self.asked.append(key)
        self.kept[key] = keep
        answer = self.routes(key.replace(API, API_PREFIX))
        if key.startswith(self.failing) or answer.status != 200:
            raise FetchError(key, 503, b"busy", "status 503")
        try:
            return read(answer.body)
        except PageError as error:
            raise FetchError(key, 200, answer.body, str(error)) from None


@pytest.fixture
def crawl(tmp_path):
    def run(records=None, known=None, failing=(), **plan):
        routes = records if callable(records) else Routes(site_of(records or games(), tmp_path))
        with Journal(tmp_path / "journal") as journal:
            spider = LittleGolemSpider(dataclasses.replace(PLAN, **plan), known or {}, journal, tmp_path / "log")
        spider._fetch = Pages(routes, failing)

        async def collect():
            return [game async for game in spider.start()]

        return spider, asyncio.run(collect())

    return run


def test_every_game_is_yielded_once(crawl):
    spider, yielded = crawl()
    assert spider.way == "lists"
    assert [game.gid for game in yielded] == [game.gid for game in games()]
    assert spider.result() == {game.gid: game for game in yielded}


def test_a_record_that_came_in_progress_is_better_than_none(crawl):
    game = games()[0]
    running = RawGame(game.gid, "/old", 200, b"(;EV[null]PB[a]PW[b];W[d1-d7/g7])", seats=(Seat(101, "engine 1", ""),))
    spider, _ = crawl(known={game.gid: running}, failing=[f"/servlet/sgf/{game.gid}/"])
    assert spider.way == "lists"
    kept = spider.result()[game.gid]
    assert (kept.body, kept.path, kept.status) == (running.body, "/old", 200)
    assert not kept.finished  # so the next crawl asks again


def test_a_game_that_ends_while_it_is_crawled_is_fetched_again(crawl, tmp_path):
    """Its record came while a list said that it goes on; then, by another way, it is found to be over."""
    ended = games()[1]
    running = dataclasses.replace(ended, actions=ended.actions[:9], resigned=False, winner=None)
    others = games()[2:20]
    (tmp_path / "then").mkdir()
    then = Routes(site_of([running, *others], tmp_path / "then"))
    now = Routes(site_of([ended, *others], tmp_path))
    api = []

    def answer(target):
        api.extend(["begun"] if target.startswith(API_PREFIX) else [])
        return (now if api else then)(target)

    failing = [f"/servlet/sgf/{game.gid}/" for game in others[-3:]]
    record = f"/servlet/sgf/{ended.gid}/game{ended.gid}.txt"
    spider, _ = crawl(answer, failing=failing, ways=("lists", "api"), max_failures=0.1)
    assert spider._fetch.asked.count(record) == 2
    assert spider.result()[ended.gid].body == write_record(ended)
    assert spider.result()[ended.gid].finished

    def only_once(target):
        if api and target == record:
            return MISSING[0]
        return answer(target)

    api.clear()
    spider, _ = crawl(only_once, failing=failing, ways=("lists", "api"), max_failures=0.1)
    assert spider.result()[ended.gid].body == write_record(running)
    assert not spider.result()[ended.gid].finished


def test_only_records_of_finished_games_are_journalled(crawl):
    running = dataclasses.replace(games()[1], actions=games()[1].actions[:9], resigned=False, winner=None)
    spider, _ = crawl([running, *games()[2:5]])
    kept = {key: keep for key, keep in spider._fetch.kept.items() if "/servlet/" in key}
    assert [keep for _, keep in sorted(kept.items())] == [False, True, True, True]
    assert all(keep for key, keep in spider._fetch.kept.items() if key not in kept)


def test_a_finished_game_is_not_asked_for_and_learns_what_lists_say(crawl):
    game = games()[0]
    known = RawGame(game.gid, "/old", 200, b"(;)", seats=(Seat(game.first_plid, "then", "won"),))
    spider, _ = crawl(known={game.gid: known})
    assert not any(f"/{game.gid}/" in key for key in spider._fetch.asked)
    stored = spider.result()[game.gid]
    assert stored.body == b"(;)"
    assert [seat.plid for seat in stored.seats] == sorted((game.first_plid, game.second_plid))
    assert "then" in {seat.name for seat in stored.seats}


def test_a_game_without_a_record_is_asked_for_again(crawl):
    game = games()[0]
    known = RawGame(game.gid, "/old", 500, b"", seats=(Seat(game.first_plid, "then", "won"),))
    spider, _ = crawl(known={game.gid: known})
    assert spider.result()[game.gid].body == write_record(game)


def test_games_that_the_site_no_longer_lists_stay(crawl):
    known = RawGame(5, "/old", 200, b"(;)", seats=(Seat(1, "a", "won"),))
    spider, _ = crawl(known={5: known})
    assert spider.way == "lists"
    assert spider.result()[5] == known


def test_some_failures_are_kept_as_they_came(crawl):
    gids = [game.gid for game in games()[3:6]]
    spider, yielded = crawl(failing=[f"/servlet/sgf/{gid}/" for gid in gids])
    assert spider.way == "lists"
    assert len(yielded) == len(games())
    for gid in gids:
        assert (spider.result()[gid].status, spider.result()[gid].body) == (503, b"busy")


def test_too_many_failures_end_a_way_at_once(crawl):
    spider, yielded = crawl(failing=["/servlet/"])
    assert spider.way is None
    assert "5 records failed" in spider.failures["lists"]
    assert len(yielded) == 5


def test_too_many_lists_that_fail(crawl):
    spider, _ = crawl(failing=["/jsp/info/player_game_list.jsp?gtid=amzn&plid=103"], max_failures=0.2)
    assert spider.way == "lists"
    assert "1 of 7 players' lists failed" in spider.warnings[0]
    assert spider.result().keys() == {game.gid for game in games()}
    spider, _ = crawl(failing=["/jsp/info/player_game_list.jsp?gtid=amzn&plid=10"])
    assert "of 7 players' lists failed" in spider.failures["lists"]


def test_a_variant_that_is_not_there_is_warned_of(crawl):
    for way, page in (
        ("lists", "/jsp/info/player_list.jsp?gtvar=amzn_CROSS"),
        ("api", f"{API}/games/variant/amzn/CROSS"),
    ):
        spider, _ = crawl(failing=[page], ways=(way,))
        assert spider.way == way
        assert page in spider.warnings[0]


@pytest.mark.parametrize(
    "page", ["/jsp/info/player_list.jsp?gtvar=amzn_DEFAULT&page=2", f"{API}/games/variant/amzn/DEFAULT?state=finished"]
)
def test_a_list_that_breaks_off_fails_the_way(crawl, page):
    way = "api" if page.startswith(API) else "lists"
    more = [dataclasses.replace(game, gid=gid) for gid, game in enumerate(games() * 4)]
    failing = page + "&min_rating=0&offset=100" if way == "api" else page
    spider, _ = crawl(more, failing=[failing], ways=(way,))
    assert failing in spider.failures[way]


def test_text_pages_that_do_not_come_are_given_up(crawl):
    spider, _ = crawl(failing=["/jsp/info/player_game_list_txt.jsp"], ways=("text",))
    assert spider.way == "text"
    assert sum("list_txt" in key for key in spider._fetch.asked) == 3
    assert {gid: game.body for gid, game in spider.result().items()} == {g.gid: write_record(g) for g in games()}


def test_what_the_first_way_brought_the_second_does_not_fetch_again(crawl):
    gids = [game.gid for game in games()[20:30]]
    spider, yielded = crawl(failing=[f"/servlet/sgf/{gid}/" for gid in gids], ways=("lists", "text"))
    got = [game.gid for game in yielded if game.status == 200]
    assert len(got) == len(set(got))
    assert "records failed" in spider.failures["lists"]


def test_a_defect_is_not_taken_for_a_failure_of_the_site(crawl, tmp_path):
    def broken(target):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        crawl(broken)


def test_an_api_that_ignores_the_offset_ends(crawl, tmp_path):
    routes = Routes(site_of(games(), tmp_path))
    spider, _ = crawl(lambda target: routes(re.sub(r"offset=\d+", "offset=0", target)), ways=("api",))
    assert spider.way == "api"
    assert sum(key.startswith(API) for key in spider._fetch.asked) == 4
