"""Marks of boards in a browser: numbers, lines, forbidden points, territory, an agreed end."""

import json

import pytest

from tests.web.conftest import PHONE, fits, violations
from tests.web.test_marks import SETTLED
from tests.web.test_play_browser import moves

pytestmark = pytest.mark.slow
RENJU = "#/analyse?game=gomoku&size=15&variant=renju&moves=h8,a1,h9,c1,g7,e1,f7,g1"


def begun(page, **wanted):
    """Begin a game of people, and show it."""
    ask = """async (body) => (await (await fetch("/api/play/games", { method: "POST",
        headers: { "content-type": "application/json" }, body })).json()).id"""
    page.evaluate("(id) => { location.hash = `#/play?id=${id}`; }", page.evaluate(ask, json.dumps(wanted)))
    page.wait_for_selector(".seat")


def test_a_point_that_renju_forbids_is_marked_and_says_why(open_page):
    page = open_page(RENJU, PHONE)
    cell = page.get_by_role("gridcell", name="h7, forbidden: two threes")
    cell.wait_for()
    assert page.locator(".board .forbidden").count() == 1
    cell.focus()
    page.keyboard.press("Enter")
    page.get_by_text("h7 is forbidden to Black: two threes.").wait_for()
    assert page.locator(".turns button").count() == 8
    assert violations(page) == []
    assert fits(page)


def test_stones_have_numbers_while_the_button_is_pressed(open_page):
    page = open_page(RENJU)
    page.get_by_role("gridcell", name="h7, forbidden: two threes").wait_for()
    assert page.locator(".board .number").count() == 0
    page.get_by_role("button", name="Numbers").click()
    assert sorted(page.locator(".board .number").all_text_contents()) == [str(k) for k in range(1, 9)]
    page.get_by_role("button", name="Previous move").click()
    page.get_by_role("gridcell", name="f7, black stone, last move, move 7").wait_for()
    assert page.locator(".board .number").count() == 7
    page.reload()
    page.get_by_role("gridcell", name="f7, black stone, last move, move 7").wait_for()
    page.get_by_role("button", name="Numbers").click()
    assert page.locator(".board .number").count() == 0


def test_the_line_that_has_won_is_ringed(open_page):
    page = open_page()
    place = {"game": "gomoku", "size": 7, "variant": "freestyle-3", "moves": ["a1", "a7", "b1", "b7"]}
    begun(page, place=place)
    page.locator(".board.live [data-cell=c1]").click()
    page.get_by_role("gridcell", name="c1, black stone, last move, in the line that won").wait_for()
    assert page.locator(".board .won").count() == 3
    page.get_by_role("button", name="b7", exact=True).click()
    page.get_by_text("Looking at move 4 of 5.").wait_for()
    page.wait_for_selector(".board .won", state="detached")


def test_territory_is_coloured_counted_and_agreed(open_page):
    page = open_page("", PHONE)
    begun(page, place={"game": "amazons", "size": 6, "variant": "", "fen": SETTLED})
    page.get_by_text("White to move. All is settled: Black wins with 6 turns to spare.").wait_for()
    page.get_by_role("button", name="Territory").click()
    page.get_by_role("gridcell", name="a2, settled for White").wait_for()
    page.get_by_text("White: 11 settled, 0 nearer. Black: 17 settled, 0 nearer.").wait_for()
    assert page.locator(".board .owned.settled").count() == 28
    assert violations(page) == []
    assert fits(page)
    page.get_by_role("button", name="Agree").click()
    page.get_by_text("Black has won. All is settled, and the result was agreed on.").first.wait_for()
    page.get_by_role("button", name="Undo").click()
    page.locator(".board.live").wait_for()
    for cell in ("a1", "b2", "a1"):
        page.locator(f".board.live [data-cell={cell}]").click()
    page.get_by_text("White: 10 settled").wait_for()
    assert moves(page) == ["a1-b2/a1"]


def test_territory_follows_the_position_that_is_looked_at(open_page):
    page = open_page("#/analyse?game=amazons&size=6&variant=standard&moves=b1-b3/b1,a5-c5/b5")
    page.get_by_role("button", name="Territory").click()
    text = page.locator(".squares")
    page.wait_for_function("() => document.querySelector('.squares').textContent.startsWith('White: 0 settled')")
    before = text.inner_text()
    page.get_by_role("button", name="Previous move").click()
    page.wait_for_function("(before) => document.querySelector('.squares').textContent !== before", arg=before)
    page.get_by_role("button", name="Territory").click()
    page.wait_for_selector(".board .owned", state="detached")
    assert violations(page) == []
