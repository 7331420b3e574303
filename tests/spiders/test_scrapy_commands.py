"""Scrapy's own commands in the project, against servers on loopback."""

import json
import re
import subprocess
import sys

import pytest

from tests.spiders.sites import ENVIRONMENT, ROOT, crawled, fetches, games, served, serving, shards, write_params

SETTINGS = {"SCRAPY_SETTINGS_MODULE": "spiders.commands"}  # What scrapy.cfg says, for folders that have none


def scrapy(*words, folder=ROOT, **more):
    command = [sys.executable, "-m", "scrapy", *words]
    return subprocess.run(command, cwd=folder, env={**ENVIRONMENT, **more}, capture_output=True, text=True, timeout=240)


@pytest.mark.slow
def test_the_spider_is_listed():
    done = scrapy("list")
    assert (done.stdout, done.returncode) == ("littlegolem\n", 0)
    assert "active project: zugwerk" in scrapy().stdout


@pytest.mark.slow
def test_crawl_stores_the_games_as_zugwerk_crawl_does(tmp_path):
    with serving(games(), tmp_path) as (url, _):
        write_params(tmp_path, url)
        done = scrapy("crawl", "littlegolem", "-a", "system=amazons", folder=tmp_path, **SETTINGS)
    assert done.returncode == 0, done.stderr
    assert len(crawled(tmp_path)) == len(games())
    assert shards(tmp_path)
    assert fetches(tmp_path)


@pytest.mark.slow
def test_crawl_fails_where_no_site_answers(tmp_path):
    write_params(tmp_path)
    done = scrapy("crawl", "littlegolem", "-a", "system=amazons", folder=tmp_path, **SETTINGS)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: the crawl of http://127.0.0.1:9 failed. By lists, text: ")


def test_crawl_asks_no_foreign_host_without_a_contact(tmp_path):
    write_params(tmp_path, "http://site.invalid")
    done = scrapy("crawl", "littlegolem", "-a", "system=amazons", folder=tmp_path, **SETTINGS)
    assert done.returncode == 1
    assert "crawl.contact is empty" in done.stderr
    assert not (tmp_path / "work").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([], "name one spider"),
        (["other", "-a", "system=amazons"], "name one spider"),
        (["littlegolem"], "give -a system=amazons or joseki"),
        (["littlegolem", "-a", "system=chess"], "give -a system=amazons or joseki"),
        (["littlegolem", "-a", "system=amazons", "-s", "DOWNLOAD_DELAY=0"], "section crawl of params.yaml"),
        (["littlegolem", "-a", "system=amazons", "-o", "games.jsonl"], "section crawl of params.yaml"),
    ],
)
def test_unsupported_crawl_is_named_without_requests(words, named, tmp_path):
    with served(lambda target: (200, b"")) as (url, asked):
        write_params(tmp_path, url)
        done = scrapy("crawl", *words, folder=tmp_path, **SETTINGS)
    assert done.returncode == 2
    assert named in done.stderr
    assert not asked


@pytest.mark.slow
def test_callbacks_keep_their_contracts_on_stored_pages():
    done = scrapy("check", "littlegolem")
    assert (done.returncode, re.findall(r"Ran (\d+) contracts", done.stderr)) == (0, ["7"]), done.stderr


@pytest.mark.slow
def test_a_list_is_parsed_as_the_crawl_reads_it(tmp_path):
    plid = games()[0].first_plid
    page = f"/jsp/info/player_game_list.jsp?gtid=amzn&plid={plid}"
    callback = ("--spider", "littlegolem", "-c", "parse_list", "--cbkwargs", json.dumps({"plid": plid}))
    with serving(games(), tmp_path) as (url, asked):
        done = scrapy("parse", "--nolog", "--nocolour", *callback, url + page)
    gids = {game.gid for game in games() if plid in (game.first_plid, game.second_plid)}
    assert {int(gid) for gid in re.findall(r"'gid': (\d+)", done.stdout)} == gids
    assert {int(gid) for gid in re.findall(r"/servlet/sgf/(\d+)/", done.stdout)} == gids
    assert asked == ["/robots.txt", page]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [["fetch"], ["shell", "--spider=littlegolem", "-c=next(spider.parse_record(response, 1)).body.decode()"]]
)
def test_a_single_page_is_fetched_politely(words, tmp_path):
    with serving(games(), tmp_path) as (url, asked):
        done = scrapy(*words, "--nolog", f"{url}/servlet/sgf/9981/game9981.txt")
    assert done.stdout.startswith("(;")
    assert asked == ["/robots.txt", "/servlet/sgf/9981/game9981.txt"]


@pytest.mark.slow
def test_a_single_page_of_a_foreign_host_needs_a_contact():
    done = scrapy("fetch", "http://site.invalid/page")
    assert "http://site.invalid/page is not asked for: the user agent names no contact. Give one" in done.stderr
    assert "robots.txt" not in done.stderr
