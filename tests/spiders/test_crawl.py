"""Whole crawls by the stage, each in a process of its own, of replicas and of sites in this process."""

import dataclasses
import json
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from pipeline_src.records.crawl_params import QuirkParams
from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.parquet import write_records
from spiders.replica.quirks import NO_QUIRKS
from spiders.replica.routes import Routes
from spiders.replica.server import Answer
from tests.spiders.sites import (
    ENVIRONMENT,
    PAGES,
    QUIRKS,
    WORK,
    crawl,
    crawled,
    fetches,
    games,
    gid_of,
    served,
    serving,
    shards,
    site_of,
    start_crawl,
    wait_until,
    write_params,
)


def with_archive(folder, records):
    write_records(records, folder / "artifacts/raw/amazons/archive.parquet")
    return folder


def quirks(**changes):
    return QuirkParams(**{**vars(NO_QUIRKS), **changes})


def records_asked_for(folder, since=0):
    return [gid for _, key in fetches(folder)[since:] if (gid := gid_of(key))]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A crawl of a replica without quirks."""
    folder = with_archive(tmp_path_factory.mktemp("plain"), games())
    status, said = crawl(folder, source="replica")
    assert status == 0, said
    return folder


def test_every_game_comes_once_as_it_was_sent(plain):
    stored = crawled(plain)
    assert stored.keys() == {game.gid for game in games()}
    for game in games():
        raw = stored[game.gid]
        assert (raw.body, raw.status, raw.engine) == (write_record(game), 200, True)
        assert raw.path == f"/servlet/sgf/{game.gid}/game{game.gid}.txt"
        assert raw.variant == {"standard": "Size 10", "cross": "Cross"}[game.variant]
        results = {
            game.first_plid: "won" if game.winner == "first" else "lost",
            game.second_plid: "won" if game.winner == "second" else "lost",
        }
        assert not raw.order_known
        assert [seat.plid for seat in raw.seats] == sorted(results)
        assert {seat.plid: seat.result for seat in raw.seats} == results
        assert {seat.name for seat in raw.seats} == {game.first_name, game.second_name}
    assert len(shards(plain)) == 2
    assert not list((plain / WORK).glob("journal*"))


def test_a_second_crawl_fetches_no_record_and_touches_nothing(plain):
    before = {path.name: path.stat().st_mtime_ns for path in (plain / PAGES).iterdir()}
    asked = len(fetches(plain))
    status, said = crawl(plain, source="replica")
    assert (status, "0 new" in said) == (0, True)
    assert {path.name: path.stat().st_mtime_ns for path in (plain / PAGES).iterdir()} == before
    assert records_asked_for(plain, asked) == []
    assert len(fetches(plain)) > asked


@pytest.mark.slow
def test_all_quirks_at_once(tmp_path):
    with_archive(tmp_path, games())
    status, said = crawl(tmp_path, source="replica", quirks=QUIRKS)
    assert status == 0, said
    stored = crawled(tmp_path)
    added = sorted(gid for gid in stored if gid >= 100_000)
    assert stored.keys() - set(added) == {game.gid for game in games()}
    assert [stored[gid].finished for gid in added] == [False] * 4 + [True] * 8
    assert [stored[gid].status for gid in added[4:8]] == [500, 200, 404, 200]
    assert all(game.engine for game in stored.values())
    assert {seat.name.split("engine")[0] for game in stored.values() for seat in game.seats} >= {"", "lazy\\"}
    asked = len(fetches(tmp_path))
    status, said = crawl(tmp_path, source="replica", quirks=QUIRKS)
    assert status == 0, said
    again = set(records_asked_for(tmp_path, asked))
    assert again == set(added[:8])  # in progress last time, and without a record


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_crawl_goes_on_and_ends_in_the_same_bytes(plain, tmp_path, how):
    with_archive(tmp_path, games())
    slow = quirks(slow=1.0, slow_s=0.03)
    write_params(tmp_path, source="replica", quirks=slow)
    process = start_crawl(tmp_path)
    wait_until(lambda: (tmp_path / WORK / "fetches.log").exists() and len(records_asked_for(tmp_path)) > 12)
    children = [path for path in Path("/proc").glob("[0-9]*") if state_of(path)[1:2] == [str(process.pid)]]
    assert len(children) == 1
    process.send_signal(how)
    _, said = process.communicate(timeout=30)
    assert process.returncode not in (0, None)
    if how == signal.SIGTERM:
        assert "interrupted" in said.decode()
    wait_until(lambda: all(state_of(child)[:1] in ([], ["Z"]) for child in children))
    assert not (tmp_path / PAGES).exists()
    (journal,) = (tmp_path / WORK).glob("journal*")
    kept = [json.loads(line)["key"] for line in journal.read_bytes().splitlines()]
    with open(journal, "ab") as file:
        file.write(b'{"key": "/servlet/sgf/99')
    asked = len(fetches(tmp_path))
    status, said = crawl(tmp_path, source="replica", quirks=slow)
    assert status == 0, said
    assert shards(tmp_path) == shards(plain)
    afterwards = [key for _, key in fetches(tmp_path)[asked:]]
    assert not set(kept) & set(afterwards)
    assert len(kept) > 12 < len(afterwards)
    assert sorted(kept + afterwards) == sorted({key for _, key in fetches(plain)} & set(kept + afterwards))
    assert not journal.exists()


def state_of(process):
    """State and parent of a process, as in ``/proc/PID/stat``; nothing where it is gone."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


@pytest.mark.slow
def test_another_archive_leaves_no_stale_game(plain, tmp_path):
    with_archive(tmp_path, games(count=30, seed=3))
    status, said = crawl(tmp_path, source="replica")
    assert status == 0, said
    with_archive(tmp_path, games()[:20])
    status, said = crawl(tmp_path, source="replica")
    assert (status, "20 new" in said) == (0, True)
    assert crawled(tmp_path) == {gid: game for gid, game in crawled(plain).items() if gid < 10_000}


def test_only_what_is_new_or_was_in_progress_is_fetched(tmp_path):
    running = dataclasses.replace(games()[7], actions=games()[7].actions[:9], resigned=False, winner=None)
    with serving([*games()[:7], running], tmp_path) as (url, _):
        port = int(url.rpartition(":")[2])
        status, said = crawl(tmp_path, url)
        assert status == 0, said
    assert not crawled(tmp_path)[running.gid].finished
    asked = len(fetches(tmp_path))
    with serving(games()[:10], tmp_path, port=port) as (url, _):
        status, said = crawl(tmp_path, url)
        assert (status, "2 new" in said) == (0, True)
    assert records_asked_for(tmp_path, asked) == [game.gid for game in games()[7:10]]
    stored = crawled(tmp_path)
    assert {gid: raw.body for gid, raw in stored.items()} == {g.gid: write_record(g) for g in games()[:10]}
    assert all(raw.finished and not raw.engine for raw in stored.values())
    before = shards(tmp_path)
    status, said = crawl(tmp_path, url, crawl={"retries": 0})
    assert status == 1
    assert said.startswith("error: ")
    assert "refused" in said.lower()
    assert said.count("\n") == 1
    assert shards(tmp_path) == before


@pytest.mark.slow
def test_the_ways_agree(plain, tmp_path):
    bodies = {gid: game.body for gid, game in crawled(plain).items()}
    for way in ("text", "api"):
        folder = tmp_path / way
        folder.mkdir()
        with serving(games(), tmp_path) as (url, asked):
            status, said = crawl(folder, url, ways=[way])
        assert status == 0, said
        stored = crawled(folder)
        assert {gid: game.body for gid, game in stored.items()} == bodies
        singly = [target for target in asked if gid_of(target)]
        if way == "text":
            assert 0 < len(singly) < len(bodies) / 2
            of_page = [game for game in stored.values() if "game_list_txt" in game.path]
            assert len(of_page) == len(bodies) - len(singly)
            assert {g.gid: g.seats for g in stored.values()} == {g.gid: g.seats for g in crawled(plain).values()}
        else:
            assert not any("player_list" in target for target in asked)
            for game in games():
                raw = stored[game.gid]
                assert raw.order_known
                assert [seat.plid for seat in raw.seats] == [game.first_plid, game.second_plid]
                assert raw.variant == {"standard": "DEFAULT", "cross": "CROSS"}[game.variant]


@pytest.mark.parametrize(
    ("broken", "ways", "by"),
    [
        ("/jsp/info/player_list.jsp", ["lists", "text", "api"], "api"),
        ("/api/", ["api", "lists"], "lists"),
        ("/jsp/info/player_game_list_txt.jsp", ["text"], "text"),
    ],
)
def test_another_way_stands_in_for_one_that_fails(plain, tmp_path, broken, ways, by):
    with serving(games(), tmp_path, broken=[broken]) as (url, _):
        status, said = crawl(tmp_path, url, ways=ways)
    assert status == 0, said
    assert f"by {by}," in said
    assert f"warning: {'' if by == 'text' else 'by '}" in said
    assert broken in said
    bodies = {gid: game.body for gid, game in crawled(plain).items()}
    assert {gid: game.body for gid, game in crawled(tmp_path).items()} == bodies


@pytest.mark.slow
def test_text_pages_stand_in_for_records_that_cannot_be_had(tmp_path):
    with serving(games(), tmp_path, broken=["/servlet/"]) as (url, _):
        status, said = crawl(tmp_path, url, crawl={"max_failures": 0.6}, ways=["text"])
        assert status == 0, said
        stored = crawled(tmp_path)
        assert {gid for gid, game in stored.items() if game.status == 500}
        assert sum(game.status == 200 for game in stored.values()) > 20
        status, said = crawl(tmp_path, url, crawl={"max_failures": 0.01}, ways=["lists", "text", "api"])
    assert status == 1
    assert "By lists, text, api: " in said
    assert crawled(tmp_path) == stored


@pytest.mark.slow
def test_failing_answers_change_nothing(plain, tmp_path):
    with serving(games(), tmp_path, quirks(failing=0.3)) as (url, asked):
        status, said = crawl(tmp_path, url, ways=["lists"])
    assert status == 0, said
    assert len(asked) > len(set(asked)) + 5
    marked = {gid: dataclasses.replace(game, engine=False) for gid, game in crawled(plain).items()}
    assert crawled(tmp_path) == marked


def test_nothing_found(tmp_path):
    with serving(games(), tmp_path) as (url, _):
        status, said = crawl(tmp_path, url, gtid="hex")
    assert status == 1
    assert "no player of hex" in said
    assert not (tmp_path / PAGES).exists()


@pytest.mark.slow
def test_maintenance_pages_are_no_records(tmp_path):
    page = Answer(200, "text/html", b"<html><table><tr><td>back soon</td></tr></table></html>")
    with served(lambda target: page) as (url, _):
        assert crawl(tmp_path, url)[0] == 1
    assert not (tmp_path / PAGES).exists()
    assert not any(path.read_bytes() for path in (tmp_path / WORK).glob("journal*") if b"servlet" in path.read_bytes())


def test_robots_are_obeyed(tmp_path):
    robots = Answer(200, "text/plain", b"User-agent: *\nDisallow: /jsp/\nDisallow: /api/\n")
    with served(lambda target: robots) as (url, asked):
        status, said = crawl(tmp_path, url)
    assert status == 1
    assert "robots.txt" in said
    assert set(asked) == {"/robots.txt"}


def test_a_foreign_host_needs_a_contact(tmp_path):
    status, said = crawl(tmp_path, "https://littlegolem.invalid")
    assert status == 1
    assert "crawl.contact" in said
    assert not (tmp_path / WORK / "fetches.log").exists()


@pytest.mark.slow
def test_a_site_that_falls_silent_is_left_alone(tmp_path):
    routes = Routes(site_of(games(), tmp_path))

    def silent(target):
        if gid_of(target):
            raise ConnectionResetError
        return routes(target)

    with served(silent) as (url, asked):
        status, said = crawl(tmp_path, url)
    assert status == 1
    assert "does not answer" in said
    assert len({target for target in asked if gid_of(target)}) <= 3 * 3  # three a way


@pytest.mark.slow
def test_crawled_games_are_not_replaced_by_those_of_another_source(tmp_path):
    with serving(games()[:5], tmp_path) as (url, _):
        assert crawl(tmp_path, url)[0] == 0
    before = shards(tmp_path)
    with_archive(tmp_path, games())
    status, said = crawl(tmp_path, source="replica")
    assert status == 1
    assert url in said
    assert "Move the folder away" in said
    assert shards(tmp_path) == before


@pytest.mark.slow
def test_an_own_folder(tmp_path):
    own = tmp_path / "mine"
    own.mkdir()
    for game in games()[:4]:
        (own / f"game{game.gid}.txt").write_bytes(write_record(game))
    status, said = crawl(tmp_path, source="mine", ways=["api", "lists"])
    assert status == 0, said
    stored = crawled(tmp_path)
    assert {gid: raw.body for gid, raw in stored.items()} == {g.gid: write_record(g) for g in games()[:4]}
    assert all((raw.status, raw.engine, raw.variant, raw.finished) == (0, False, "", False) for raw in stored.values())
    (own / f"game{games()[0].gid}.txt").write_bytes(b"(;EV[null]PB[a]PW[b]SO[x];W[d1-d7/g7])")
    status, said = crawl(tmp_path, source="mine")
    assert status == 0, said
    assert crawled(tmp_path)[games()[0].gid].body.endswith(b"[d1-d7/g7])")
    status, said = crawl(tmp_path, source="nowhere")
    assert status == 1
    assert "nowhere" in said


@pytest.mark.slow
def test_at_most_so_many_games_oldest_first(tmp_path):
    with serving(games(), tmp_path) as (url, _):
        for limit in (5, 5, 8):
            status, said = crawl(tmp_path, url, max_games=limit)
            assert status == 0, said
            assert list(crawled(tmp_path)) == [game.gid for game in games()[:limit]]
    assert len(records_asked_for(tmp_path)) == 8


@pytest.mark.slow
def test_delays_hold_for_a_foreign_host(tmp_path):
    """The manners of a foreign host, but on loopback: one request at a time, never quicker than the delay."""
    program = f"""
from pathlib import Path
from pipeline_src.records.crawl_params import CrawlParams
from spiders.crawl import run_spider
from spiders.journal import Journal
from spiders.littlegolem import Plan
from spiders.settings import manners
url = Path("url").read_text()
site = CrawlParams(
    base_url="http://a.example",
    api_url="http://a.example",
    contact="me@a.example",
    delay_s=0.25,
    timeout_s=5.0,
    retries=1,
    backoff_s=0.1,
    max_failures=0.0,
)
plan = Plan(url, url + "/api", "amzn", ("DEFAULT",), ("api",), {4}, 0.0)
settings = manners(site, site.base_url, site.api_url)
with Journal(Path("journal")) as journal:
    assert run_spider(plan, {{}}, journal, Path("."), settings).way == "api"
"""
    times = []
    routes = Routes(site_of(games(), tmp_path))

    def answer(target):
        times.append(time.monotonic())
        return routes(target)

    with served(answer) as (url, _):
        (tmp_path / "url").write_text(url)
        subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=ENVIRONMENT, check=True, timeout=60)
    assert len(times) == 1 + 2 + 4
    assert all(after - before > 0.24 for before, after in pairwise(times))
