"""Crawls of a site as if it were live: the site is a server in this process, each crawl a process of its own."""

import dataclasses
import itertools
import json
import sys
import time

import pytest

from pipeline_src.records.littlegolem.amazons import write_record
from spiders.replica.site import Answer, Routes
from tests.spiders import sites

BODIES = {game.gid: write_record(game) for game in sites.games()}


def bodies(folder):
    return {gid: game.body for gid, game in sites.crawled(folder).items()}


def records_asked_for(asked):
    return [gid for target in asked if (gid := sites.gid_of(target))]


@pytest.mark.slow
def test_only_new_finished_games_are_fetched(tmp_path):
    running = dataclasses.replace(sites.games()[7], actions=sites.games()[7].actions[:9], resigned=False, winner=None)
    with sites.serving([*sites.games()[:7], running], tmp_path) as (url, _):
        port = int(url.rpartition(":")[2])
        status, said = sites.crawl(tmp_path, url)
        assert status == 0, said
    assert bodies(tmp_path) == {game.gid: BODIES[game.gid] for game in sites.games()[:7]}
    with sites.serving(sites.games()[:10], tmp_path, port=port) as (url, asked):
        status, said = sites.crawl(tmp_path, url)
        assert (status, "10 games, 3 new" in said) == (0, True)
    assert sorted(records_asked_for(asked)) == [game.gid for game in sites.games()[7:10]]
    assert bodies(tmp_path) == {game.gid: BODIES[game.gid] for game in sites.games()[:10]}
    assert all(raw.finished and not raw.engine for raw in sites.crawled(tmp_path).values())
    before = sites.shards(tmp_path)
    status, said = sites.crawl(tmp_path, url, crawl={"retries": 0})
    assert status == 1
    assert "to ask of " in said.splitlines()[0]
    assert said.splitlines()[-1].startswith("error: ")
    assert "robots.txt does not come" in said
    assert "refused" in said.lower()
    assert sites.shards(tmp_path) == before


@pytest.mark.slow
def test_no_change_of_params_asks_for_a_finished_game_twice(tmp_path):
    """Nor a deleted output, another source, a fresh checkout, or another way."""
    changes = [
        {"max_games": 10},
        {"max_games": 3},
        {"max_games": 0},
        {"max_games": 12, "ways": ["text"]},
        {"ways": ["api"]},
        {"ways": ["text", "lists"], "crawl": {"delay_s": 0.5, "contact": "somebody", "max_failures": 0.5}},
        {"variants": ["CROSS"]},
        {"variants": ["CROSS", "DEFAULT"], "quirks": sites.quirks(names=1.0)},
        {"max_games": 10},
        {"source": sites.LIVE},
    ]
    store = {"store": str(tmp_path)}
    with sites.serving(sites.games(), tmp_path) as (url, asked):
        for number, change in enumerate(changes):
            folder = tmp_path / f"checkout{number % 2}"
            status, said = sites.crawl(folder, url, **{**change, "crawl": store | change.get("crawl", {})})
            assert status == 0, said
            if number in (2, 5):
                (folder / sites.LIVE).rename(folder / f"gone{number}")
        assert sorted(records_asked_for(asked)) == sorted(BODIES)
        assert not any("list_txt" in target for target in asked)
        assert bodies(folder) == BODIES
        before = len(asked)
        for most, expected in ((5, 5), (0, 40)):  # what is stored stays, whatever the stage is to take of it
            assert sites.stage(folder, url, max_games=most, crawl=store, source=sites.LIVE) == (0, "")
            assert len(sites.crawled(folder, sites.PAGES)) == expected
        assert len(asked) == before


@pytest.mark.slow
@pytest.mark.parametrize("second", [{}, {"ways": ["text"]}])
def test_two_sites_in_one_checkout_are_not_mixed(tmp_path, second):
    """Their numbers overlap; each store has its own games, and the copy in the checkout those of the first."""
    others = sites.games(30, seed=1)
    theirs = {game.gid: write_record(game) for game in others}
    (tmp_path / "b").mkdir()
    with sites.serving(sites.games(), tmp_path) as (url, _), sites.serving(others, tmp_path / "b") as (other, asked):
        assert sites.crawl(tmp_path, url)[0] == 0
        before = sites.shards(tmp_path)
        status, said = sites.crawl(tmp_path, other, **second)
        assert (status, asked, sites.shards(tmp_path)) == (1, [], before)
        here, there = (site.removeprefix("http://") for site in (url, other))
        assert f"{sites.LIVE}: holds amzn games of {here}; amzn games of {there} are not mixed with them" in said
        (tmp_path / sites.LIVE).rename(tmp_path / "moved")
        for _ in range(2):
            status, said = sites.crawl(tmp_path, other, **second)
            assert status == 0, said
        assert bodies(tmp_path) == theirs
        (tmp_path / sites.LIVE).rename(tmp_path / "moved too")
        assert sites.crawl(tmp_path, url)[0] == 0
    assert bodies(tmp_path) == BODIES


def test_interface_of_a_different_site_is_not_asked(tmp_path):
    with sites.serving(sites.games()[:4], tmp_path) as (url, asked):
        api = {"api_url": "http://api.elsewhere.example", "contact": "me@a.example"}
        status, said = sites.crawl(tmp_path, url, crawl=api)
        assert (status, asked) == (1, [])
        assert f"crawl.base_url is {url} and crawl.api_url is http://api.elsewhere.example, another site" in said
        assert not (tmp_path / "store").exists()


@pytest.mark.slow
def test_a_crawl_in_portions_reads_lists_as_it_needs_them(tmp_path):
    with sites.serving(sites.games(), tmp_path) as (url, asked):
        for most, lists in ((1, 1), (9, 1), (20, 3)):
            status, said = sites.crawl(tmp_path, url, max_games=most, ways=["lists"])
            assert status == 0, said
            assert len(sites.crawled(tmp_path)) == most
            assert sum("player_game_list" in target for target in asked) <= lists
        assert len([target for target in asked if not sites.gid_of(target)]) == 3 + 1 + 2  # robots.txt each time; lists
        status, said = sites.crawl(tmp_path, url, max_games=20)
        assert status == 0, said
        assert "nothing to ask of" in said
        status, said = sites.crawl(tmp_path, url, ways=["lists"])
    assert sorted(records_asked_for(asked)) == sorted(BODIES)
    assert len({target for target in asked if "player" in target}) == 7 + 4
    assert sum("player" in target for target in asked) == 7 + 4


def test_planned_requests_are_printed_before_the_crawl(tmp_path):
    slowly = {"delay_s": 60.0}  # of a live site: more than any page takes here
    with sites.serving(sites.games(), tmp_path) as (url, asked):
        sites.crawl(tmp_path, url, max_games=4)
        dry = [*sites.CRAWL, "--dry-run"]
        begun = len(asked)
        assert sites.run(dry, tmp_path)[1].startswith(f"nothing to ask of {url}: 4 games stored, and max_games is 4")
        sites.crawl(tmp_path, url, max_games=6)
        sites.write_params(tmp_path, url, max_games=10, crawl=slowly)
        said, hint = sites.run(dry, tmp_path)[1].splitlines()
        assert said == f"to ask of {url}: about 5 pages at most, 5 minutes; 6 games stored"
        assert hint == f"these games become the graph's where params.yaml has amazons_crawl.source: {sites.LIVE}"
        sites.write_params(tmp_path, url, source=sites.LIVE, crawl=slowly)
        said = sites.run(dry, tmp_path)[1]
        more = "and at most one more for each game that is new, 12 minutes; 6 games stored\n"
        assert said == f"to ask of {url}: about {6 + 6} pages, {more}"
        assert len(asked) == begun + 1 + 2
        (tmp_path / sites.LIVE).rename(tmp_path / "gone")
        sites.run(dry, tmp_path)
        assert len(sites.crawled(tmp_path)) == 6


@pytest.mark.parametrize(
    ("broken", "ways", "by"),
    [
        ("/jsp/info/player_list.jsp", ["lists", "text", "api"], "api"),
        ("/api/", ["api", "lists"], "lists"),
        ("/jsp/info/player_game_list_txt.jsp", ["text"], "text"),
    ],
)
def test_second_way_replaces_a_failing_one(tmp_path, broken, ways, by):
    with sites.serving(sites.games(), tmp_path, broken=[broken]) as (url, _):
        status, said = sites.crawl(tmp_path, url, ways=ways)
    assert status == 0, said
    assert f"by {by}," in said
    assert f"warning: {'' if by == 'text' else 'by '}" in said
    assert broken in said
    assert bodies(tmp_path) == BODIES


@pytest.mark.slow
def test_text_pages_replace_unavailable_records(tmp_path):
    with sites.serving(sites.games(), tmp_path, broken=["/servlet/"]) as (url, _):
        status, said = sites.crawl(tmp_path, url, crawl={"max_failures": 0.6}, ways=["text"])
        assert status == 0, said
        stored = sites.crawled(tmp_path)
        assert {gid for gid, game in stored.items() if game.status == 500}
        assert sum(game.status == 200 for game in stored.values()) > 20
        status, said = sites.crawl(tmp_path, url, crawl={"max_failures": 0.01}, ways=["lists", "text", "api"])
    assert status == 1
    assert "failed. By lists" in said
    assert "5 records failed, the last: " in said
    assert bodies(tmp_path) == {gid: game.body for gid, game in stored.items()}


@pytest.mark.parametrize("body", [b"", b" \r\n", b"<html><body>please wait</body></html>"])
def test_answer_200_without_record_is_retried(tmp_path, body):
    """Counted separately from failures in the summary; and when a later crawl tries again, it does so once."""
    routes = Routes(sites.site_of(sites.games()[:12], tmp_path))
    asked = []
    never = sites.games()[3].gid

    def wrong_at_first(target):
        asked.append(target)
        gid = sites.gid_of(target)
        return Answer(200, "text/html", body) if gid and (gid == never or asked.count(target) == 1) else routes(target)

    with sites.served(wrong_at_first) as (url, _):
        status, said = sites.crawl(tmp_path, url, ways=["lists"], crawl={"retries": 2})
        assert status == 0, said
        assert {gid for gid, game in sites.crawled(tmp_path).items() if game.body != BODIES[gid]} == {never}
        assert len(records_asked_for(asked)) == 11 * 2 + 3
        what = "an HTML page in the record's place" if b"html" in body else "an empty answer"
        assert f"1 without a record (1 {what}); by lists" in said
        assert f"13 requests again (13 {what})" in said
        del asked[:]
        assert sites.crawl(tmp_path, url, ways=["lists"], crawl={"retries": 2})[0] == 0
        assert records_asked_for(asked) == [never]


def test_later_crawls_ask_once_for_an_empty_list(tmp_path):
    routes, asked = Routes(sites.site_of(sites.games()[:12], tmp_path)), []
    page = "/jsp/info/player_game_list.jsp?gtid=amzn&plid=101"
    empty = {page: Answer(200, "text/html", b"")}

    def site(target):
        asked.append(target)
        return empty.get(target) or routes(target)

    with sites.served(site) as (url, _):
        for number, times in enumerate((3, 1, 1)):
            if number == 2:
                empty.clear()
            del asked[:]
            status, said = sites.crawl(tmp_path, url, ways=["lists"], crawl={"retries": 2})
            assert (status, asked.count(page)) == (0, times), said
    (state,) = (tmp_path / "store").glob("*/amzn/state.json")
    assert json.loads(state.read_text())["empty"] == []


def test_nothing_found(tmp_path):
    with sites.serving(sites.games(), tmp_path) as (url, _):
        status, said = sites.crawl(tmp_path, url, gtid="hex")
    assert status == 1
    assert "no player of hex" in said
    assert not (tmp_path / sites.LIVE).exists()


def test_robots_are_obeyed(tmp_path):
    robots = Answer(200, "text/plain", b"User-agent: *\nDisallow: /jsp/\nDisallow: /api/\n")
    with sites.served(lambda target: robots) as (url, asked):
        status, said = sites.crawl(tmp_path, url)
    assert status == 1
    assert "Forbidden by robots.txt" in said
    assert set(asked) == {"/robots.txt"}


@pytest.mark.parametrize("answer", [Answer(503, "text/plain", b""), Answer(500, "text/html", b"<html>"), None])
def test_failing_robots_txt_forbids_everything(tmp_path, answer):
    def site(target):
        if answer is None:
            raise ConnectionResetError
        return answer

    with sites.served(site) as (url, asked):
        status, said = sites.crawl(tmp_path, url)
    assert status == 1
    assert "its robots.txt " in said
    assert "asks to stay away; run again later" in said
    assert set(asked) == {"/robots.txt"}
    assert len(asked) == 2  # tried again once, as params say


@pytest.mark.parametrize("status", [404, 403])
def test_missing_robots_txt_forbids_nothing(tmp_path, status):
    routes = Routes(sites.site_of(sites.games()[:3], tmp_path))
    rules = Answer(404, "text/plain", b"User-agent: *\nDisallow: /\n")
    with sites.served(lambda target: rules if target == "/robots.txt" else routes(target)) as (url, _):
        assert sites.crawl(tmp_path, url)[0] == 0
    assert len(sites.crawled(tmp_path)) == 3


@pytest.mark.slow
def test_a_crawl_delay_is_obeyed(tmp_path):
    """Even of a host that has no delay otherwise."""
    routes, times = Routes(sites.site_of(sites.games()[:3], tmp_path)), []
    rules = b"User-agent: zugwerk\nCrawl-delay: 0.4\n\nUser-agent: *\nCrawl-delay: 0.01\n"

    def site(target):
        times.append(time.monotonic())
        return Answer(200, "text/plain", rules) if target == "/robots.txt" else routes(target)

    with sites.served(site) as (url, _):
        assert sites.crawl(tmp_path, url, max_games=2)[0] == 0
    assert len(times) == 1 + 2 + 2
    assert min(after - before for before, after in itertools.pairwise(times)) >= 0.4


@pytest.mark.slow
def test_foreign_host_is_asked_with_delays(tmp_path):
    """The delay after each answer, and as long as the answer took; a closed connection is not tried again at once."""
    routes, times = Routes(sites.site_of(sites.games()[:4], tmp_path)), {}

    def site(target):
        first = target not in times
        times[target if first else f"{target} again"] = time.monotonic()
        if sites.gid_of(target) and first and sum(map(bool, map(sites.gid_of, times))) == 2:
            raise ConnectionResetError
        time.sleep(0.5 if "player_game_list" in target else 0.0)
        return routes(target)

    with sites.served(site) as (url, _):
        foreign = f"http://games.example:{url.rpartition(':')[2]}"
        manners = {"api_url": foreign, "contact": "me@a.example", "delay_s": 0.25, "backoff_s": 0.01}
        sites.write_params(tmp_path, foreign, crawl=manners, max_games=3, ways=["lists"])
        status, said = sites.run([sys.executable, "-m", "tests.rehearsal.resolved", *sites.CRAWL[2:]], tmp_path)
        assert status == 0, said
    gaps = {after: times[after] - times[before] for before, after in itertools.pairwise(times)}
    assert len([target for target in times if target.endswith(" again")]) == 1
    assert min(gaps.values()) >= 0.23  # the server of a busy machine notes a request late
    (before, after) = next((b, a) for b, a in itertools.pairwise(times) if "player_game_list" in b)
    assert times[after] - times[before] >= 0.5 + 0.5


@pytest.mark.slow
def test_silent_site_is_not_asked_again(tmp_path):
    routes = Routes(sites.site_of(sites.games(), tmp_path))

    def silent(target):
        if sites.gid_of(target):
            raise ConnectionResetError
        return routes(target)

    with sites.served(silent) as (url, asked):
        status, said = sites.crawl(tmp_path, url)
    assert status == 1
    assert "does not answer" in said
    assert len({target for target in asked if sites.gid_of(target)}) <= 3 * 3  # three a way


def moved(to, status=302):
    return Answer(status, "text/html", b"<html>moved</html>", (f"Location: {to}",))


def test_a_wrong_redirect_is_one_failed_record(tmp_path):
    """A wrong redirect neither ends the crawl nor keeps the next one from getting the record."""
    routes, wrong = Routes(sites.site_of(sites.games(), tmp_path)), True
    loop, forbidden, login, elsewhere = (game.gid for game in sites.games()[:4])
    rules = Answer(200, "text/plain", f"User-agent: *\nDisallow: /servlet/sgf/{forbidden}/*?\n".encode())

    def site(target):
        gid, path = sites.gid_of(target), target.partition("?")[0]
        if target == "/robots.txt":
            return rules
        if gid is None:  # lists with one more parameter
            return routes(target.removesuffix("&hl=en")) if "&hl=en" in target else moved(f"{target}&hl=en", 301)
        if wrong and gid in (loop, login, forbidden, elsewhere):
            to = {loop: path, login: "/login?then=1", forbidden: f"{path}?x", elsewhere: f"http://localhost{path}"}
            return moved(to[gid])
        return routes(path) if gid % 2 or "?" in target else moved(path.rpartition("/")[2] + "?v=2", 308)

    with sites.served(site) as (url, asked):
        status, said = sites.crawl(tmp_path, url, crawl={"max_failures": 0.1})
        assert status == 0, said
        assert "40 games, 40 new, 4 without a record (4 status 302); by lists" in said
        assert "4 records failed, the last: " in said
        assert max(map(asked.count, asked)) == 2  # the loop
        known, wrong = len(asked), False
        status, said = sites.crawl(tmp_path, url, crawl={"max_failures": 0.1})
        assert (status, "40 games, 0 new, 0 without a record; by lists" in said) == (0, True), said
    assert bodies(tmp_path) == BODIES
    assert {gid for target in asked[known:] if (gid := sites.gid_of(target))} == {loop, login, forbidden, elsewhere}


def test_reasons_of_retries_are_few(tmp_path):
    routes = Routes(sites.site_of(sites.games()[:10], tmp_path))
    asked = set()

    def site(target):
        first = target not in asked
        asked.add(target)
        return (
            Answer(200, "text/html", b'{"gid": %d}' % len(asked)) if sites.gid_of(target) and first else routes(target)
        )

    with sites.served(site) as (url, _):
        status, said = sites.crawl(tmp_path, url)
    assert (status, "10 requests again (10 no record)" in said) == (0, True), said


def test_redirects_to_where_nobody_answers_make_no_site_silent(tmp_path):
    """A later crawl asks for nothing but such records, one after the other."""
    routes = Routes(sites.site_of(sites.games()[:12], tmp_path))
    wrong = {game.gid for game in sites.games()[:4]}

    def site(target):
        there = routes(target)
        return moved(f"https://{host}{target}?tls") if sites.gid_of(target) in wrong else there

    with sites.served(site) as (url, asked):
        host = url.removeprefix("http://")
        for _ in range(2):
            del asked[:]
            status, said = sites.crawl(tmp_path, url, ways=["lists"], crawl={"retries": 0, "max_failures": 0.5})
            assert status == 0, said
            assert "4 records failed, the last: " in said
            assert f"redirected to https://{host}/servlet/sgf/" in said
            assert "which does not answer: " in said
            assert wrong <= set(records_asked_for(asked))


def test_no_second_way_asks_for_a_page_that_is_redirected(tmp_path):
    routes = Routes(sites.site_of(sites.games(), tmp_path))
    with sites.served(lambda target: moved("/login") if sites.gid_of(target) else routes(target)) as (url, asked):
        status, said = sites.crawl(tmp_path, url)
    assert (status, "by lists: 40 of 40 games lack their record" in said, "; by text" in said) == (0, True, True), said
    singly = records_asked_for(asked)
    assert len(singly) == len(set(singly))
    log = (tmp_path / "work/amazons_crawl/fetches.log").read_text().splitlines()
    assert sum(line.endswith(f"\tredirected to another page, {url}/login") for line in log) == len(singly)


@pytest.mark.slow
def test_redirects_wait_as_long_as_other_requests(tmp_path):
    """Also to another name of the site; and longer where a redirect says so."""
    routes, times = Routes(sites.site_of(sites.games()[:5], tmp_path)), []

    def site(target):
        times.append((time.monotonic(), target))
        time.sleep(0.1 if "www" in target else 0.0)
        if sites.gid_of(target) and "www" not in target:
            wish = ("Retry-After: 1",) * (sites.gid_of(target) == sites.games()[1].gid)
            to = moved(f"//www.games.example:{port}{target}?www")
            return to._replace(headers=to.headers + wish)
        return routes(target)

    with sites.served(site) as (url, _):
        port = url.rpartition(":")[2]
        foreign = f"http://games.example:{port}"
        manners = {"api_url": foreign, "contact": "me@a.example", "delay_s": 0.2, "backoff_s": 0.01}
        sites.write_params(tmp_path, foreign, crawl=manners, ways=["lists"])
        status, said = sites.run([sys.executable, "-m", "tests.rehearsal.resolved", *sites.CRAWL[2:]], tmp_path)
        assert status == 0, said
    gaps = [(then - now, target) for (now, target), (then, _) in itertools.pairwise(times)]
    assert min(gap for gap, _ in gaps) >= 0.18
    assert min(gap for gap, target in gaps if "www" in target) >= 0.28
    assert [gap >= 1 for gap, target in gaps if sites.gid_of(target) == sites.games()[1].gid] == [True, False]
    assert [target for _, target in times].count("/robots.txt") == 2


def test_wrong_redirects_at_the_beginning_end_no_crawl(tmp_path):
    routes, gone = Routes(sites.site_of(sites.games(), tmp_path)), set()

    def site(target):
        if (gid := sites.gid_of(target)) and len(gone) < 7:
            gone.add(gid)
        return moved("/login") if gid in gone else routes(target)

    with sites.served(site) as (url, _):
        status, said = sites.crawl(tmp_path, url, ways=["lists"])
    assert (status, "40 games, 40 new, 7 without a record (7 status 302)" in said) == (0, True), said
