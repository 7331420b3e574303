"""docs/how-to/crawl-another-site.md: its spider crawls such a site."""

import json
import sys
from urllib.parse import parse_qs, urlsplit

from pipeline_src.records.littlegolem.amazons import write_record
from spiders.replica.site import Answer
from tests.docs.pages import blocks
from tests.layout.imports import ROOT
from tests.spiders.sites import crawled, games, run, served, write_params

PAGE = ROOT / "docs/how-to/crawl-another-site.md"
VIEW = "artifacts/raw/amazons/live-other"
LONGEST = 60


def answer(target):
    url = urlsplit(target)
    if url.path == "/players.json":
        page = int(parse_qs(url.query)["page"][0])
        names = sorted(
            {(g.first_plid, g.first_name) for g in games()} | {(g.second_plid, g.second_name) for g in games()}
        )
        return text(json.dumps([{"id": plid, "nick": name} for plid, name in names[4 * page - 4 : 4 * page]]))
    what, _, number = url.path[1:].partition("/")
    if what == "games":
        plid = int(number.removesuffix(".txt"))
        return text("\n".join(line(game, plid) for game in games() if plid in (game.first_plid, game.second_plid)))
    if what == "record":
        return Answer(200, "text/plain", next(write_record(game) for game in games() if game.gid == int(number)))
    return Answer(404, "text/plain", b"")


def line(game, plid):
    first = plid == game.first_plid
    won = (game.winner == "first") == first
    opponent = game.second_name if first else game.first_name
    return f"{game.gid};{opponent};{len(game.actions)};{'1-0' if won else '0-1'}"


def text(value):
    return Answer(200, "text/plain", value.encode())


def test_the_page_s_spider_crawls_its_site(tmp_path):
    (code,) = (text for language, text in blocks(PAGE) if language == "python")
    assert code.count("\n") < LONGEST
    (tmp_path / "other.py").write_text(code)
    with served(answer) as (url, asked):
        write_params(tmp_path, url, ways=["lists"], variants=["amazons"])
        status, said = run([sys.executable, "other.py"], tmp_path)
        assert status == 0, said
        stored = crawled(tmp_path, VIEW)
        assert {gid: game.body for gid, game in stored.items()} == {g.gid: write_record(g) for g in games()}
        assert all(game.finished for game in stored.values())
        before = len(asked)
        status, said = run([sys.executable, "other.py"], tmp_path)
        assert (status, "0 new" in said) == (0, True)
        assert not any("record" in target for target in asked[before:])
