"""The page of a tournament: what is in the file, and that it works in a browser without other files."""

import json
import re
import sys
from html import unescape

import pytest

from pipeline_src.arena.match import Tournament, run_tournament
from pipeline_src.report.tournament_page import write_page
from tests.arena import fakes  # noqa: F401 - registers the player
from tests.players.test_programs import SCRIPT
from tests.web.conftest import PATIENCE_MS, PHONE, WIDE, browser, fits, violations  # noqa: F401 - a fixture

HOSTILE = "</script><b>&x"
GOMOKU = {
    "game": "gomoku",
    "size": 5,
    "games": 2,
    "openings": "random:2",
    "players": {
        "deep": "alphabeta:depth=2",
        HOSTILE: "random",
        "broken": f"brain:'{sys.executable}' -S '{SCRIPT}' crash",
    },
}
AMAZONS = {"game": "amazons", "size": 6, "games": 2, "sprt": (0, 50), "players": {"one": "one_ply", "two": "random"}}


def written(tmp_path, values):
    wanted = Tournament(**values)
    found = run_tournament(wanted)
    write_page(found, wanted, tmp_path / "index.html")
    return found, (tmp_path / "index.html").read_text()


def data(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def test_the_file_has_table_chart_forfeits_and_all_games(tmp_path):
    found, page = written(tmp_path, GOMOKU)
    games = data(page)["games"]
    assert [one["number"] for one in games] == [1, 2, 3, 4, 5, 6]
    assert [one["names"] for one in games[:2]] == [["deep", HOSTILE], [HOSTILE, "deep"]]
    assert [len(one["ranks"]) for one in games] == [1 + len(one["moves"]) for one in games]
    assert games[0]["ranks"][0] == "5/5/5/5/5"
    assert HOSTILE not in page
    drawn = {unescape(text) for text in re.findall(r">([^<]+)</text>", page)}
    assert drawn & {*GOMOKU["players"]} == {"deep", HOSTILE}  # a player without a legal move has no Elo
    assert [one["game"] for one in found.forfeited] == [3, 4, 5, 6]
    for one in found.forfeited:
        assert f'<a href="#game-{one["game"]}">' in page
    assert page.count("no memory ?[31mleft") == 4 + 4  # the table, and the games
    assert not re.search(r'(src|href)="(?!#)', page)
    assert not re.search(r"^(import|export) ", page, re.MULTILINE)


def test_an_interrupted_tournament_has_a_page_too(tmp_path):
    wanted = Tournament(**GOMOKU)
    found = run_tournament(wanted)
    for match in found.matches.values():
        match.pairs.clear()
    found.status = "interrupted"
    write_page(found, wanted, tmp_path / "index.html")
    page = (tmp_path / "index.html").read_text()
    assert "0 of 6 games, interrupted" in page
    assert data(page)["games"] == []


@pytest.fixture
def opened(browser, tmp_path):  # noqa: F811
    """Opens the page of a tournament from its file; nothing may be asked of elsewhere, and nothing complained."""
    contexts, complaints = [], []

    def begin(values, size, scheme):
        written(tmp_path, values)
        context = browser.new_context(viewport=size, color_scheme=scheme, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda m: complaints.append(m.text))
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.on("request", lambda r: r.url.startswith("file:") or complaints.append(r.url))
        page.goto(f"file://{tmp_path / 'index.html'}")
        page.wait_for_selector(".board")
        return page

    yield begin
    for context in contexts:
        context.close()
    assert not complaints


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (PHONE, "dark")])
def test_games_are_stepped_through(opened, size, scheme):
    page = opened(GOMOKU, size, scheme)
    assert fits(page)
    assert page.get_attribute("html", "data-theme") == scheme
    game = data(page.content())["games"][0]
    page.get_by_label("To the end").click()
    assert page.locator(".board .stone").count() == len(game["moves"])
    page.get_by_label("Previous move").click()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".turn").inner_text() == f"Move {len(game['moves']) - 2} of {len(game['moves'])}"
    page.locator('a[href="#game-3"]').click()
    page.get_by_text("Forfeit, crash: move 4: engine").wait_for()
    page.get_by_label("Games shown").select_option("broken")
    assert page.locator("tr[data-game]").count() == 4
    page.locator("tr[data-game]").last.get_by_role("button").click()
    page.get_by_text("Game 6:").wait_for()
    assert fits(page)
    assert not violations(page)


def test_amazons_have_their_board(opened):
    page = opened(AMAZONS, WIDE, "light")
    page.get_by_label("To the end").click()
    game = data(page.content())["games"][0]
    assert page.locator(".board .amazon").count() == 8
    assert page.locator(".board .burnt").count() == len(game["moves"])
    assert page.get_by_role("heading", name="Sequential tests").is_visible()
