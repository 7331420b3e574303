"""The spider on pages from a dict, without Scrapy's engine and without a network."""

import asyncio
import dataclasses
import gzip
import re
from collections import Counter

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.raw import RawGame, Seat
from spiders.fetcher import API, ASKED, Asked, FetchError, FollowSamePage, MarkCutOff, NotKept, check_whole
from spiders.pages import PageError
from spiders.replica.site import API_PREFIX, HTML, MISSING, Answer, Routes
from spiders.spider import LittleGolemSpider, Plan
from spiders.store import Journal
from tests.spiders.sites import games, site_of

SITE = "http://127.0.0.1:1"
PLAN = Plan(SITE, f"{SITE}/api", "amzn", ("DEFAULT", "CROSS"), ("lists",), 0, 0.1, in_progress=True)


class Pages:
    """A fetcher that asks a replica's routes directly; some keys fail, some are not there."""

    def __init__(self, routes, failing=(), missing=(), kept=()):
        self.in_journal = kept
        self.routes = routes
        self.failing = tuple(failing)
        self.missing = tuple(missing)
        self.asked = Counter()
        self.keys = []
        self.how = {}

    def begin(self):
        pass

    def kept(self, key):
        return key in self.in_journal

    async def page(self, kind, key, read, **how):
        self.asked[kind] += 1
        self.keys.append(key)
        self.how[key] = how
        if key.startswith(self.missing):
            raise NotKept
        answer = self.routes(key.replace(API, API_PREFIX))
        if key.startswith(self.failing) or answer.status != 200:
            raise FetchError(key, 503, b"busy", "status 503")
        try:
            return read(answer.body)
        except PageError as error:
            raise FetchError(key, 200, answer.body, str(error)) from None


@pytest.fixture
def crawl(tmp_path):
    def run(records=None, known=None, failing=(), missing=(), kept=(), **plan):
        routes = records if callable(records) else Routes(site_of(records or games(), tmp_path))
        with Journal(tmp_path / "journal") as journal:
            spider = LittleGolemSpider(dataclasses.replace(PLAN, **plan), known or {}, journal, tmp_path / "log")
        spider.fetch = Pages(routes, failing, missing, kept)

        async def collect():
            return [item async for item in spider.start()]

        assert asyncio.run(collect()) == []
        return spider

    return run


def records_of(spider):
    """The gids whose record was asked for, in order."""
    return [int(found[1]) for key in spider.fetch.keys if (found := re.match(r"/servlet/sgf/(\d+)/", key))]


def bodies(spider):
    return {gid: game.body for gid, game in spider.stored().items()}


ALL = {game.gid: write_record(game) for game in games()}


def test_every_game_is_fetched_once(crawl):
    spider = crawl()
    assert (spider.way, spider.complete) == ("lists", True)
    assert sorted(records_of(spider)) == [game.gid for game in games()]
    assert bodies(spider) == ALL
    assert spider.fetch.asked == {"player lists": 4, "lists": 7, "records": 40}


def test_records_come_after_the_first_list(crawl):
    keys = crawl().fetch.keys
    assert [key.split("?")[0] for key in keys[:2]] == ["/jsp/info/player_list.jsp", "/jsp/info/player_game_list.jsp"]
    assert keys[2].startswith("/servlet/sgf/")
    lists = [number for number, key in enumerate(keys) if "player_game_list" in key]
    assert lists[-1] > lists[0] + 12


def test_the_ways_agree(crawl):
    lists, text, api = (crawl(ways=(way,)) for way in ("lists", "text", "api"))
    assert bodies(lists) == bodies(text) == bodies(api) == ALL
    assert 0 < len(records_of(text)) < len(ALL) / 2
    of_page = [game for game in text.stored().values() if "game_list_txt" in game.path]
    assert len(of_page) == len(ALL) - len(records_of(text))
    assert [game.seats for game in text.stored().values()] == [game.seats for game in lists.stored().values()]
    assert not any("player_list" in key for key in api.fetch.keys)
    for game in games():
        raw = api.stored()[game.gid]
        assert raw.order_known
        assert [seat.plid for seat in raw.seats] == [game.first_plid, game.second_plid]
        assert raw.variant == {"standard": "DEFAULT", "cross": "CROSS"}[game.variant]


@pytest.mark.parametrize(("way", "most"), [("lists", 3), ("text", 15), ("api", 3)])
def test_crawl_breadth_follows_number_of_missing_games(crawl, way, most):
    spider = crawl(ways=(way,), max_games=3)
    assert (spider.way, spider.complete) == (way, False)
    assert 3 <= len(spider.have) <= most
    assert spider.fetch.asked.total() <= 5
    assert spider.fetch.asked["lists"] <= 1
    whole = crawl(known=spider.stored(), ways=(way,))
    assert bodies(whole) == ALL
    assert not spider.have & set(records_of(whole))


def test_enough_games_need_no_requests(crawl):
    known = crawl().stored()
    spider = crawl(known=known, max_games=7)
    assert (spider.way, spider.complete, spider.fetch.keys) == ("lists", False, [])
    assert spider.stored() == known


def test_unfinished_games_are_left_out_on_request(crawl):
    running = dataclasses.replace(games()[1], actions=games()[1].actions[:9], resigned=False, winner=None)
    spider = crawl([running, *games()[2:9]], in_progress=False)
    assert list(spider.stored()) == sorted(records_of(spider)) == [game.gid for game in games()[2:9]]
    spider = crawl([running], in_progress=False)
    assert "no list tells a result of any of the 1 games" in spider.failures["lists"]


def test_games_missing_in_journal_are_skipped(crawl):
    """As before a crawl, when only what earlier ones brought is gone through."""
    gids = [game.gid for game in games()[3:6]]
    spider = crawl(missing=[f"/servlet/sgf/{gid}/" for gid in gids])
    assert spider.wanted() == gids
    assert bodies(spider) == {gid: body for gid, body in ALL.items() if gid not in gids}
    spider = crawl(missing=["/jsp/info/player_game_list.jsp?gtid=amzn&plid=103"])
    assert len(spider.lists) == 6
    assert bodies(spider) == ALL
    spider = crawl(missing=["/jsp/info/player_list.jsp"])
    assert (spider.way, spider.failures, spider.stored()) == (None, {}, {})


def test_a_record_that_came_in_progress_is_better_than_none(crawl):
    game = games()[0]
    running = RawGame(game.gid, "/old", 200, b"(;EV[null]PB[a]PW[b];W[d1-d7/g7])", seats=(Seat(101, "engine 1", ""),))
    spider = crawl(known={game.gid: running}, failing=[f"/servlet/sgf/{game.gid}/"])
    assert spider.way == "lists"
    kept = spider.stored()[game.gid]
    assert (kept.body, kept.path, kept.status) == (running.body, "/old", 200)
    assert not kept.finished  # so the next crawl asks again


def test_game_that_ends_during_crawl_is_fetched_again(crawl, tmp_path):
    """Its record came while a list showed it as unfinished; then, by another way, it is found to be over."""
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
    spider = crawl(answer, failing=failing, ways=("lists", "api"), max_failures=0.1)
    assert spider.fetch.keys.count(record) == 2
    assert spider.stored()[ended.gid].body == write_record(ended)
    assert spider.stored()[ended.gid].finished

    def only_once(target):
        if api and target == record:
            return MISSING[0]
        return answer(target)

    api.clear()
    spider = crawl(only_once, failing=failing, ways=("lists", "api"), max_failures=0.1)
    assert spider.stored()[ended.gid].body == write_record(running)
    assert not spider.stored()[ended.gid].finished


def test_only_records_of_finished_games_are_journalled(crawl):
    running = dataclasses.replace(games()[1], actions=games()[1].actions[:9], resigned=False, winner=None)
    spider = crawl([running, *games()[2:5]])
    kept = {key: how["keep"] for key, how in spider.fetch.how.items() if "/servlet/" in key}
    assert [keep for _, keep in sorted(kept.items())] == [False, True, True, True]
    assert not any(how for key, how in spider.fetch.how.items() if key not in kept)


def test_stored_games_of_earlier_crawls_are_updated(crawl):
    """A finished game learns what lists say and is not asked for; one without a record is asked for; others stay."""
    game, other = games()[:2]
    finished = RawGame(game.gid, "/old", 200, b"(;)", seats=(Seat(game.first_plid, "then", "won"),))
    failed = RawGame(other.gid, "/old", 500, b"", seats=(Seat(other.first_plid, "then", "won"),))
    unlisted = RawGame(5, "/old", 200, b"(;)", seats=(Seat(1, "a", "won"),))
    spider = crawl(known={one.gid: one for one in (finished, failed, unlisted)})
    stored = spider.stored()
    assert game.gid not in records_of(spider)
    assert stored[game.gid].body == b"(;)"
    assert [seat.plid for seat in stored[game.gid].seats] == sorted((game.first_plid, game.second_plid))
    assert "then" in {seat.name for seat in stored[game.gid].seats}
    assert stored[other.gid].body == write_record(other)
    again = {key: how["again"] for key, how in spider.fetch.how.items() if "/servlet/" in key}
    assert [key for key, more in again.items() if not more] == [f"/servlet/sgf/{other.gid}/game{other.gid}.txt"]
    assert (spider.way, stored[5]) == ("lists", unlisted)


def test_some_failures_are_kept_as_they_came(crawl):
    gids = [game.gid for game in games()[3:6]]
    spider = crawl(failing=[f"/servlet/sgf/{gid}/" for gid in gids])
    assert spider.way == "lists"
    assert spider.stored().keys() == ALL.keys()
    for gid in gids:
        assert (spider.stored()[gid].status, spider.stored()[gid].body) == (503, b"busy")


def test_too_many_failures_end_a_way_at_once(crawl):
    spider = crawl(failing=["/servlet/"])
    assert spider.way is None
    assert "5 records failed" in spider.failures["lists"]
    assert len(spider.stored()) == 5


def test_a_few_failures_at_the_beginning_end_nothing(crawl):
    gids = sorted(ALL)[:4]
    spider = crawl(failing=[f"/servlet/sgf/{gid}/" for gid in gids], max_failures=0.1)
    assert spider.way == "lists"
    spider = crawl(failing=[f"/servlet/sgf/{gid}/" for gid in gids], max_failures=0.05)
    assert "4 of 40 games lack their record, first 9980" in spider.failures["lists"]


def test_too_many_lists_that_fail(crawl):
    spider = crawl(failing=["/jsp/info/player_game_list.jsp?gtid=amzn&plid=103"], max_failures=0.2)
    assert spider.way == "lists"
    assert spider.fetch.keys[1] == "/jsp/info/player_game_list.jsp?gtid=amzn&plid=103"  # the first one; six follow
    failed = "1 of 7 players' lists failed, the last: /jsp/info/player_game_list.jsp?gtid=amzn&plid=103: status 503"
    assert spider.warnings == [failed]
    spider = crawl(failing=["/jsp/info/player_game_list.jsp?gtid=amzn&plid=103"], max_failures=0.1)
    assert spider.failures["lists"] == failed
    assert spider.stored().keys() == {game.gid for game in games()}
    spider = crawl(failing=["/jsp/info/player_game_list.jsp?gtid=amzn&plid=10"])
    assert "5 of 5 players' lists failed" in spider.failures["lists"]


def test_a_variant_that_is_not_there_is_warned_of(crawl):
    for way, page in (
        ("lists", "/jsp/info/player_list.jsp?gtvar=amzn_CROSS"),
        ("api", f"{API}/games/variant/amzn/CROSS"),
    ):
        spider = crawl(failing=[page], ways=(way,))
        assert spider.way == way
        assert page in spider.warnings[0]


@pytest.mark.parametrize(
    "page", ["/jsp/info/player_list.jsp?gtvar=amzn_DEFAULT&page=2", f"{API}/games/variant/amzn/DEFAULT?state=finished"]
)
def test_a_list_that_breaks_off_fails_the_way(crawl, page):
    way = "api" if page.startswith(API) else "lists"
    more = [dataclasses.replace(game, gid=gid) for gid, game in enumerate(games() * 4)]
    failing = page + "&min_rating=0&offset=100" if way == "api" else page
    spider = crawl(more, failing=[failing], ways=(way,))
    assert failing in spider.failures[way]


def test_text_pages_that_do_not_come_are_given_up(crawl):
    spider = crawl(failing=["/jsp/info/player_game_list_txt.jsp"], ways=("text",))
    assert spider.way == "text"
    assert sum("list_txt" in key for key in spider.fetch.keys) == 3
    assert bodies(spider) == ALL


@pytest.mark.parametrize("way", ["text", "lists"])
@pytest.mark.parametrize("left", [1, 2, 5])
def test_record_page_is_reread_for_games_not_stored(crawl, way, left):
    """A stop while shards are written leaves some games of a page without a record; none of them is asked for."""
    whole = crawl(ways=("text",))
    page = next(key for key in whole.fetch.keys if "list_txt" in key)
    of_page = [gid for gid, game in whole.stored().items() if game.path == page]
    assert len(of_page) > left
    known = {gid: game for gid, game in whole.stored().items() if gid not in of_page[:left]}
    spider = crawl(known=known, ways=(way,), kept=[page])
    assert records_of(spider) == []
    assert [key for key in spider.fetch.keys if "list_txt" in key] == [page]
    assert bodies(spider) == ALL


def test_record_page_is_not_reread_for_stored_games(crawl):
    whole = crawl(ways=("text",))
    pages = [key for key in whole.fetch.keys if "list_txt" in key]
    spider = crawl(known=whole.stored(), ways=("text",), kept=pages)
    assert not any("list_txt" in key or "servlet" in key for key in spider.fetch.keys)


def test_second_way_does_not_refetch_games_of_first(crawl):
    gids = [game.gid for game in games()[20:30]]
    spider = crawl(failing=[f"/servlet/sgf/{gid}/" for gid in gids], ways=("lists", "text"))
    asked = records_of(spider)
    assert len(asked) - len(set(asked)) <= 5  # those that failed
    assert len(asked) > 5
    assert "records failed" in spider.failures["lists"]


def test_defect_of_ours_is_not_taken_for_site_failure(crawl, tmp_path):
    def broken(target):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        crawl(broken)


def test_an_api_that_ignores_the_offset_ends(crawl, tmp_path):
    routes = Routes(site_of(games(), tmp_path))
    spider = crawl(lambda target: routes(re.sub(r"offset=\d+", "offset=0", target)), ways=("api",))
    assert spider.way == "api"
    assert sum(key.startswith(API) for key in spider.fetch.keys) == 4


LOGIN = Answer(200, HTML, b"<html><h3>Login</h3><table><tr><td>Name</td><td><input></td></tr></table></html>")


def test_another_page_does_not_end_the_player_list(crawl, tmp_path):
    more = [dataclasses.replace(game, gid=gid, first_plid=gid) for gid, game in enumerate(games() * 3, 1)]
    routes = Routes(site_of(more, tmp_path))
    assert len(crawl(routes).players) > 100
    page = "/jsp/info/player_list.jsp?gtvar=amzn_DEFAULT&page=2"
    spider = crawl(lambda target: LOGIN if target == page else routes(target))
    assert page in spider.failures["lists"]
    assert "other headings than the first page" in spider.failures["lists"]


@pytest.mark.parametrize("new", [5, 10, 15, 40])
def test_a_resumed_crawl_by_api_sees_shifted_games(crawl, tmp_path, monkeypatch, new):
    """Pages of ten; the first two are in the journal, from before new games came."""
    monkeypatch.setattr("spiders.spider.API_PAGE", 10)
    old = [dataclasses.replace(game, gid=gid, variant="standard") for gid, game in enumerate(games(), 1)]
    late = [dataclasses.replace(game, gid=100 + k, variant="standard") for k, game in enumerate(games()[:new])]
    before, after = (Routes(site_of(some, tmp_path / name)) for name, some in (("a", old), ("b", [*old, *late])))
    kept = [crawl(before, ways=("api",)).fetch.keys[0]]
    kept.append(kept[0].replace("offset=0", "offset=10"))
    found = crawl(
        lambda target: (before if target.replace(API_PREFIX, API) in kept else after)(target), kept=kept, ways=("api",)
    )
    assert found.complete
    assert {game.gid for game in old} <= found.stored().keys()


URL = "http://127.0.0.1/jsp/info/player.jsp?plid=1"
PAGE = b"<html>" + bytes(range(97, 123)) * 40 + b"</html>\r\n"
PACKED = gzip.compress(PAGE, mtime=0)


def fault_of(response):
    try:
        check_whole(response)
    except PageError as error:
        return str(error)
    return ""


def unpacked(body, encoding="gzip"):
    request, response = Request(URL), Response(URL, headers={"Content-Encoding": encoding}, body=body)
    response = MarkCutOff().process_response(request, response)
    return HttpCompressionMiddleware.from_crawler(get_crawler()).process_response(request, response)


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip"])
def test_gzip_that_is_whole_is_left_alone(encoding):
    whole = unpacked(PACKED, encoding)
    assert (whole.body, fault_of(whole)) == (PAGE, "")


@pytest.mark.parametrize(("length", "end"), [(-1, b""), (-9, b""), (40, b""), (-8, b"\0" * 8)])
def test_gzip_that_is_cut_or_damaged_is_noticed(length, end):
    cut = unpacked(PACKED[:length] + end)
    assert PAGE.startswith(cut.body)
    assert fault_of(cut) == "the answer is cut off"


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (PAGE, ""),
        (PAGE[:-5], "the answer is cut off"),
        (b"(;W[d1-d7/g7])\r\n", ""),
        (b"(;W[d1-d7/g7]", "the answer is cut off"),
        (b'{"games": []}{"games": []}', ""),
        (b'{"games": [', "the answer is cut off"),
        (b"1. a4 b5", ""),
        (b"", ""),
    ],
)
def test_answer_without_a_length_must_have_an_end(body, fault):
    assert fault_of(Response(URL, body=body, flags=["partial"])) == fault
    assert fault_of(Response(URL, body=body)) == ""


ADDRESS = "http://www.site.net/servlet/sgf/7/game7.txt"
LIST = "http://www.site.net/jsp/list.jsp?gtid=amzn&plid=2"


@pytest.mark.parametrize(
    ("asked", "location", "followed"),
    [
        (ADDRESS, "https://www.site.net/servlet/sgf/7/game7.txt", True),
        (ADDRESS, "http://site.net:8080/servlet/sgf/7/game7.txt", True),
        (ADDRESS, "HTTP://WWW.SITE.NET/servlet/sgf/7/game7.txt", True),
        (ADDRESS, "//site.net/servlet/sgf/7/game7.txt", True),
        (ADDRESS, "/servlet/sgf/7/game7.txt?lang=en", True),
        (ADDRESS, "game7.txt?lang=en#top", True),
        (ADDRESS, "?lang=en", True),
        (ADDRESS, "game7.txt;jsessionid=0A1B", True),
        (ADDRESS, "../8/game8.txt", False),
        (ADDRESS, "/jsp/login.jsp?to=/servlet/sgf/7/game7.txt", False),
        (ADDRESS, "http://othersite.net/servlet/sgf/7/game7.txt", False),
        (ADDRESS, "http://login.site.net/servlet/sgf/7/game7.txt", False),
        (ADDRESS, "ftp://www.site.net/servlet/sgf/7/game7.txt", False),
        (ADDRESS, "http://[", False),
        (ADDRESS, None, False),
        (LIST, "list.jsp?plid=2&gtid=amzn&lang=en", True),
        (LIST, "list.jsp?plid=2&gtid=amzn&plid=3", False),
        (LIST, "list.jsp?plid=3&gtid=amzn", False),
        (LIST, "list.jsp?gtid=amzn", False),
        (LIST + "&page=1", LIST, True),
        (LIST + "&page=2", LIST, False),
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_follows_redirects_to_the_same_page_only(asked, location, followed, status):
    page = Asked(asked, frozenset({"page=1"}))
    answer = redirected(Request(asked, meta={ASKED: page}), location, status)
    assert isinstance(answer, Request) == followed == bool(page.followed) != bool(page.refused)
    assert followed or answer.status == status


def redirected(request, location, status=302):
    middleware = FollowSamePage.from_crawler(get_crawler(settings_dict={"REDIRECT_MAX_TIMES": 5}))
    headers = {} if location is None else {"Location": location}
    middleware.handle_referer = lambda *_: None
    return middleware.process_response(request, Response(request.url, status=status, headers=headers))


@pytest.mark.parametrize("forms", [["", "?a"], [""], ["", "?a", "?b"]])
def test_a_loop_is_refused_in_its_second_round(forms):
    page, asked = Asked(ADDRESS), []
    answer = Request(ADDRESS, meta={ASKED: page})
    while isinstance(answer, Request):
        asked.append(answer.url)
        answer = redirected(answer, ADDRESS + forms[len(asked) % len(forms)])
    assert "redirected" in page.refused
    assert len(asked) <= 2 * len(forms)


def test_a_redirected_robots_txt_is_scrapys():
    assert isinstance(redirected(Request("http://site.net/robots.txt"), "http://other.net/robots.txt"), Request)
