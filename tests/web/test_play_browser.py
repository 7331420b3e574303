"""The page Play in a browser: whole games, by mouse, by keyboard and by finger, and what can go wrong."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.web.conftest import PHONE, alive, fits, violations

SETUP = "zugwerk.play.setup"


def set_up(page, **setup):
    """Make the page offer a game, and begin it."""
    page.evaluate("([key, value]) => localStorage.setItem(key, JSON.stringify(value))", [SETUP, setup])
    page.reload()
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url("**id=*")
    page.wait_for_selector(".seat.to-move")


def moves(page):
    return page.locator(".moves .move").all_inner_texts()


def test_a_whole_game_of_gomoku_by_mouse(open_page):
    page = open_page()
    set_up(page, game="gomoku", size=5, variant="freestyle-3", mode="people")
    for cell in ("a1", "a5", "b1", "b5", "c1"):
        page.locator(f"[data-cell={cell}]").click()
        page.get_by_role("gridcell", name=re.compile(f"^{cell}, .* stone, last move")).wait_for()
    page.get_by_text("Black has won.").first.wait_for()
    assert moves(page) == ["a1", "a5", "b1", "b5", "c1"]
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save .psq").click()
    assert saved.value.path().read_text().startswith("Piskvorky 5x5")
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Black to move.").wait_for()
    assert moves(page) == ["a1", "a5", "b1", "b5"]


def test_a_whole_game_of_gomoku_against_a_player_by_keyboard(open_page):
    """Tab to the board once, then arrows and Enter: the whole board in order, until somebody has won."""
    page = open_page()
    set_up(page, **{"game": "gomoku", "size": 5, "variant": "freestyle-3", "mode": "player", "player gomoku": "random"})
    for _ in range(25):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('.cell') !== null"):
            break
    assert page.evaluate("document.activeElement.dataset.cell") == "a1"
    ways = ["ArrowRight"] * 4 + ["ArrowUp"] + ["ArrowLeft"] * 4 + ["ArrowUp"]
    for k in range(25):
        turn(page).wait_for()
        if page.locator(".status.over").count():
            break
        page.keyboard.press("Enter")
        page.keyboard.press(ways[k % 10])
    assert re.search("has won|is drawn", page.locator(".status").inner_text())
    assert len(moves(page)) >= 5


def turn(page):
    """What says that a person may move, or that nobody may."""
    return page.locator(".status", has_text=re.compile("Your turn|has won|is drawn"))


def middle(page, mark):
    """Of the first mark on the board."""
    box = page.locator(f".board .under {mark}").first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_whole_game_of_the_amazons_by_mouse(open_page):
    page = open_page()
    set_up(page, **{"game": "amazons", "size": 6, "variant": "standard", "mode": "player", "player amazons": "random"})
    for _ in range(40):
        turn(page).wait_for()
        if page.locator(".status.over").count():
            break
        page.locator(".board.live .cell.legal").first.click()
        page.mouse.click(*middle(page, "circle.target"))
        before = len(moves(page))
        page.mouse.click(*middle(page, "path.target"))
        page.locator(".moves .move").nth(before).wait_for()
    assert "has won" in page.locator(".status").inner_text()
    assert len(moves(page)) >= 8


def test_a_turn_of_the_amazons_by_drag_and_by_keyboard(open_page):
    page = open_page()
    set_up(page, game="amazons", size=6, variant="standard", mode="people")
    page.locator("[data-cell=b1]").hover()
    page.mouse.down()
    page.locator("[data-cell=b3]").hover()
    page.mouse.up()
    page.get_by_text("b1 to b3: choose the arrow's square").wait_for()
    page.locator("[data-cell=b1]").click()
    page.get_by_text("Black to move.").wait_for()
    assert moves(page) == ["b1-b3/b1"]
    page.locator("[data-cell=a5]").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")  # she goes elsewhere
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.get_by_text("White to move.").wait_for()
    assert moves(page) == ["b1-b3/b1", "a5-c5/b5"]
    assert page.locator("[role=gridcell][aria-label='c5, black amazon, moved last']").count() == 1


def test_a_reload_finds_the_game_again_and_a_link_shares_it(open_page):
    page = open_page()
    set_up(page, game="gomoku", size=7, variant="freestyle", mode="people")
    page.locator("[data-cell=d4]").click()
    page.get_by_text("White to move.").wait_for()
    page.reload()
    page.get_by_text("White to move.").wait_for()
    assert moves(page) == ["d4"]
    link = page.evaluate(
        "JSON.parse(Object.entries(localStorage).find(([k]) => k.startsWith('zugwerk.game.'))[1]).link"
    )
    other = open_page(link.split("/", 3)[3])
    other.get_by_text("A shared position of Gomoku, after 1 moves.").wait_for()
    other.get_by_role("gridcell", name="d4, black stone, last move").wait_for()
    other.get_by_role("button", name="Play", exact=True).click()
    other.get_by_text("White to move.").wait_for()


def test_a_game_that_the_server_has_lost_goes_on_from_what_the_page_remembers(open_page):
    page = open_page()
    set_up(page, game="gomoku", size=7, variant="freestyle", mode="people")
    page.locator("[data-cell=d4]").click()
    page.get_by_text("White to move.").wait_for()
    page.evaluate(
        """() => { const key = Object.keys(localStorage).find((one) => one.startsWith("zugwerk.game."));
            localStorage.setItem("zugwerk.game.gone", localStorage.getItem(key)); location.hash = "#/play?id=gone"; }"""
    )
    page.get_by_text("The server has no such game.").wait_for()
    page.get_by_role("link", name="Go on from where it stood").click()
    page.get_by_role("gridcell", name="d4, black stone, last move").wait_for()


def test_a_dropped_connection_is_told_and_comes_back(open_page):
    page = open_page()
    wires = []
    page.route_web_socket(re.compile("/socket$"), lambda wire: wires.append((wire, wire.connect_to_server())))
    set_up(page, game="gomoku", size=7, variant="freestyle", mode="people")
    page.wait_for_function("document.querySelectorAll('.cell.legal').length === 49")
    wires[-1][0].close(code=1001)
    page.get_by_text("The connection to the server is lost").wait_for()
    page.get_by_text("The connection to the server is lost").wait_for(state="detached")
    page.locator("[data-cell=d4]").click()
    page.get_by_text("White to move.").wait_for()
    assert len(wires) == 2


def test_thoughts_are_drawn_and_a_killed_engine_can_be_asked_again(open_page, server):
    page = open_page()
    text = "alphabeta:movetime=600000"
    set_up(
        page,
        **{"game": "amazons", "size": 6, "variant": "standard", "mode": "player", "side": 1, "player amazons": text},
    )
    page.locator(".thinking .line").wait_for()
    page.locator(".board .over line").first.wait_for()
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    for child in children:
        os.kill(int(child), signal.SIGKILL)
    page.get_by_text("killed by SIGKILL").wait_for()
    assert alive(server)
    page.get_by_role("button", name="Ask it again").click()
    page.locator(".thinking .line").wait_for()
    page.get_by_role("button", name="Move now").click()
    page.get_by_text("Your turn.").wait_for()
    assert len(moves(page)) == 1
    page.get_by_text("thought:").wait_for()  # it stays to be read
    assert int(page.locator(".figures dd").first.inner_text()) >= 1


def test_a_move_shows_before_the_server_has_answered(open_page):
    page = open_page()
    set_up(page, **{"game": "gomoku", "size": 9, "variant": "freestyle", "mode": "player", "player gomoku": "random"})
    drawn = page.evaluate(
        """() => {
            const cell = document.querySelector("[data-cell=e5]"), board = cell.closest("svg");
            const before = board.querySelectorAll(".stone").length;
            cell.firstChild.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, button: 0 }));
            return board.querySelectorAll(".stone").length - before;
        }"""
    )
    assert drawn == 1


def test_names_are_text_and_nothing_else(open_page):
    page = open_page("#/play?game=gomoku&size=5&variant=freestyle-3&moves=a1,<img src=x>")
    page.expected = ["400"]
    page.get_by_text("<img src=x>").first.wait_for()
    assert page.locator("img[src=x]").count() == 0


def test_it_fits_a_phone_and_everybody_can_use_it(open_page):
    for scheme in ("light", "dark"):
        page = open_page("", PHONE, color_scheme=scheme)
        page.get_by_role("button", name="Play", exact=True).wait_for()
        assert fits(page)
        assert violations(page) == []
        page.get_by_text("All options of alphabeta").click()
        assert fits(page)
        set_up(page, game="gomoku", size=15, variant="freestyle", mode="people", minutes="5")
        page.locator("[data-cell=h8]").click()
        page.get_by_text("White to move.").wait_for()
        assert fits(page)
        assert violations(page) == []


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("game=amazons&size=7", "There is no board of size 7 for amazons, standard. Sizes: 10, 8, 6."),
        ("game=amazons&size=40", "There is no board of size 40 for amazons, standard. Sizes: 10, 8, 6."),
        ("game=amazons&size=99", "There is no board of size 99 for amazons"),
        ("size=99", "There is no board of size 99 for amazons"),
        ("game=amazons&size=8&variant=cross", "There is no board of size 8 for amazons, cross. Sizes: 10."),
        ("game=gomoku&size=99", "There is no board of size 99 for gomoku, freestyle. Sizes: 3 to 25."),
        ("game=gomoku&size=1e9", "There is no board of size 1e9 for gomoku"),
        ("game=gomoku&size=-3", "There is no board of size -3 for gomoku"),
        ("game=gomoku&size=7.5", "There is no board of size 7.5 for gomoku"),
        ("game=gomoku&size=7abc", "There is no board of size 7abc for gomoku"),
        ("game=gomoku&variant=chess", "There is no variant chess of gomoku. Variants: freestyle, exact, renju, caro."),
        ("game=gomoku&size=5&variant=exact-6", "There is no variant exact-6 of gomoku on a board of size 5."),
        ("game=gomoku&variant=renju-4", "There is no variant renju-4 of gomoku"),
        ("game=constructor", "There is no game constructor to play here. Games: amazons, gomoku."),
        ("game=go&size=9", "There is no game go to play here."),
    ],
)
def test_a_link_to_a_board_that_there_is_not_says_which_there_are(open_page, query, said):
    page = open_page(f"#/play?{query}")
    page.get_by_text(said).wait_for()
    assert page.locator(".board").count() == 0
    page.get_by_role("link", name="Begin from the start").click()
    page.wait_for_selector(".board")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("game=gomoku&size=7&moves=d4,z9", "This position cannot be shown: not a move: 'z9'"),
        ("game=amazons&size=99&fen=x", "This position cannot be shown: bad FEN 'x'"),
    ],
)
def test_a_link_to_a_position_that_there_is_not_says_why(open_page, query, said):
    page = open_page()
    page.expected = ["400"]
    page.goto(page.url.partition("#")[0] + f"#/play?{query}")
    page.get_by_text(said).wait_for()
    page.get_by_role("link", name="Begin from the start").click()
    page.wait_for_selector(".board")


def test_a_link_may_name_the_game_alone_or_a_position(open_page):
    page = open_page("#/play?game=gomoku&size=25&variant=exact-4")
    page.locator("[data-cell=y25]").wait_for()
    page = open_page("#/play?game=amazons&fen=3Q/4/4/q3%20w%20-%20-%200%201")
    page.get_by_role("gridcell", name="d4, white amazon").wait_for()
    assert page.locator("[role=gridcell]").count() == 16
