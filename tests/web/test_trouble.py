"""What can go wrong on a page: twenty tabs, a flood of messages, a model that is none, engines that are all busy."""

import json
import re
import subprocess
import sys

import pytest

from tests.web.conftest import alive
from tests.web.test_play_browser import moves, set_up

TABS = 20
SIX = {"game": "amazons", "size": 6, "variant": "standard"}
THREE = {"game": "gomoku", "size": 5, "variant": "freestyle-3", "mode": "people"}


def against(player, game="amazons", **more):
    return {**(SIX if game == "amazons" else THREE), "mode": "player", f"player {game}": player, **more}


@pytest.mark.slow
def test_twenty_tabs_at_once_all_get_their_moves(open_page, server):
    """Each tab has a game of its own, against a player; there are four processes for all of them."""
    pages = [open_page() for _ in range(TABS)]
    for page in pages:
        set_up(page, **against("alphabeta:movetime=100", side=1))
    for page in pages:
        page.get_by_text("Your turn.").wait_for()
        assert len(moves(page)) == 1
    assert alive(server)


def test_game_in_too_many_tabs_keeps_the_others(open_page):
    page = open_page()
    set_up(page, **THREE)
    address = page.url.split("/", 3)[3]
    others = [open_page(address) for _ in range(7)]
    for other in others:
        other.get_by_text("Black to move.").wait_for()
    late = open_page(address)
    late.get_by_text("This game is open in 8 tabs already.").wait_for()
    page.locator("[data-cell=a1]").click()
    for other in others:
        other.get_by_text("White to move.").wait_for()
    others[0].close()
    late.get_by_role("button", name="Reload").click()
    late.get_by_text("White to move.").wait_for()


def test_flood_of_messages_is_stopped_and_reload_resumes(open_page):
    page, other = open_page(), open_page()
    set_up(other, **THREE)
    page.add_init_script(
        """const Own = WebSocket, all = window.wires = [];
        window.WebSocket = class extends Own { constructor(...words) { super(...words); all.push(this); } };"""
    )
    set_up(page, **THREE)
    page.locator("[data-cell=a1]").click()
    page.get_by_text("White to move.").wait_for()
    flood = json.dumps({"do": "pause"})
    page.evaluate("(text) => { for (let k = 0; k < 500; k++) wires.at(-1).send(text); }", flood)
    page.get_by_text("This page sent too many messages; reload it.").wait_for()
    other.locator("[data-cell=c3]").click()
    other.get_by_text("White to move.").wait_for()
    page.get_by_role("button", name="Reload").click()
    page.get_by_role("gridcell", name="a1, black stone, last move").wait_for()


def test_missing_model_is_reported_before_and_in_the_game(open_page, web_folder):
    path = web_folder / "models/amazons/gone/nets.pt"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no net")
    page = open_page()

    def turn():
        for cell in ("d1", "d7", "g7"):
            page.locator(f"[data-cell={cell}]").click()

    page.expected = ["400"]
    page.get_by_label("Opponent").select_option("nets")
    page.get_by_label("Model").select_option(str(path))
    problem = page.locator(".bad-text", has_text=str(path))
    problem.wait_for()
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url("**id=*")
    page.get_by_text("Your turn.").wait_for()
    assert page.get_by_role("button", name="Undo").is_disabled()
    turn()
    page.get_by_role("alert").get_by_text(str(path)).wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Your turn.").wait_for()
    path.unlink()
    turn()
    page.get_by_role("alert").get_by_text("no such model").wait_for()


@pytest.mark.slow
def test_waiting_for_a_busy_engine_is_reported(open_page, server):
    busy = [open_page() for _ in range(4)]
    for page in busy:
        set_up(page, **against("alphabeta:movetime=600000", side=1))
    for page in busy:
        page.locator(".thinking .line").wait_for()
    late = open_page()
    set_up(late, **against("random", side=1))
    late.get_by_text("waits for a free engine; 0 before it.").wait_for()
    nets = open_page()
    nets.expected = ["400"]
    nets.evaluate("location.hash = '#/nets?model=package:gomoku_zero-15x15-freestyle'")
    nets.get_by_text("all processes of this server are thinking for other tabs").wait_for()
    busy[0].close()
    late.get_by_text("Your turn.").wait_for()
    assert len(moves(late)) == 1


def test_analysis_by_unknown_player_is_refused_and_another_works(open_page):
    page = open_page("#/analyse")
    page.set_input_files(
        "input[type=file]",
        {"name": "a.psq", "mimeType": "text/plain", "buffer": b"Piskvorky 5x5, 1:1, 0\n3,3,0\n1,1,0\n2,3,0\n"},
    )
    page.get_by_label("Player").fill("nobody")
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.get_by_text(re.compile("no player 'nobody'")).first.wait_for()
    page.get_by_label("Player").fill("alphabeta")
    page.get_by_label("Milliseconds a position").fill("5")
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.get_by_text("4 of 4 positions").wait_for()


SIDE_BY_SIDE = """
import sys, threading
from pipeline_src.web.app import create_app
from pipeline_src.web.settings import Settings
create_app(Settings(folders=()))
sys.setswitchinterval(1e-6)
names = ["gomoku", "kernels", "rules", "amazons", "stones"]
wrong = []
threading.excepthook = lambda one: wrong.append(one.exc_value)
threads = [threading.Thread(target=__import__, args=(f"pipeline_src.games.{name}",)) for name in names]
for one in threads: one.start()
for one in threads: one.join()
sys.exit(repr(wrong) if wrong else 0)
"""


def test_concurrent_requests_for_the_games_are_all_answered():
    assert subprocess.run([sys.executable, "-c", SIDE_BY_SIDE]).returncode == 0
