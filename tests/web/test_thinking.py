"""A player thinks about the position that the page Analyse shows: several lines, until the page shows another one."""

import json

import pytest

from tests.web.conftest import PHONE, fits, violations, wait

GOMOKU = {"game": "gomoku", "size": 15, "variant": "freestyle", "moves": ["h8", "i9", "g8"]}
AMAZONS = {"game": "amazons", "size": 10, "variant": "standard", "moves": ["d1-d7/g7"]}


@pytest.fixture
def socket(client):
    with client.websocket_connect("/api/analyse/think", headers={"host": "127.0.0.1"}) as one:
        yield one


def ask(socket, number, **wanted):
    socket.send_text(json.dumps({"number": number} | wanted))


def until(socket, good):
    """The first message of which something holds."""
    while True:
        message = json.loads(socket.receive_text())
        assert message["state"] != "failed" or good(message), message
        if good(message):
            return message


@pytest.mark.parametrize(
    ("place", "player"),
    [
        (GOMOKU, "engine"),
        (GOMOKU, "alphabeta"),
        (GOMOKU, "zero"),
        (AMAZONS, "alphabeta"),
        (AMAZONS, "puct"),
    ],
)
def test_player_gives_several_moves_with_values_and_lines(socket, place, player):
    ask(socket, 7, place=place, player=player, lines=3)
    message = until(socket, lambda one: one["thought"] and len(one["thought"]["lines"]) == 3)
    lines = message["thought"]["lines"]
    assert message["number"] == 7
    assert len({one["moves"][0] for one in lines}) == 3
    assert all(0 <= one["win_rate"] <= 1 for one in lines)
    assert lines[0]["moves"] == message["thought"]["line"]
    tree = player in ("zero", "puct")
    assert all((one["visits"] is not None) == tree for one in lines)
    if not tree:
        assert [one["value"] for one in lines] == sorted((one["value"] for one in lines), reverse=True)


def test_next_position_ends_search_and_leaving_frees_process(client):
    with client.websocket_connect("/api/analyse/think", headers={"host": "127.0.0.1"}) as socket:
        engines = client.app.app.state.engines
        ask(socket, 1, place=GOMOKU, player="engine")
        until(socket, lambda one: one["number"] == 1 and one["thought"])
        ask(socket, 2, place=AMAZONS, player="alphabeta")
        until(socket, lambda one: one["number"] == 2 and one["thought"])
        assert engines._free == 1
    wait(lambda: engines._free == 2, 5)


def test_finished_search_is_reported(socket):
    ask(socket, 1, place=GOMOKU | {"size": 3, "variant": "freestyle-3", "moves": ["b2"]}, player="engine", lines=2)
    message = until(socket, lambda one: one["state"] == "done")
    assert len(message["thought"]["lines"]) == 2


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"player": "random"}, "does not search"),
        ({"player": "brain:/bin/sh"}, "starts another program"),
        ({"player": "engine", "lines": 99}, "less than or equal to 10"),
        ({"player": "engine", "place": GOMOKU | {"moves": ["h8", "h8"]}}, "move 2, h8, is not legal here"),
    ],
)
def test_impossible_request_is_reported_and_next_is_answered(socket, wanted, words):
    ask(socket, 3, **({"place": GOMOKU} | wanted))
    assert words in until(socket, lambda one: one["state"] == "failed")["error"]
    ask(socket, 4, place=GOMOKU, player="engine")
    until(socket, lambda one: one["number"] == 4 and one["thought"])


def test_the_page_lists_the_best_moves_and_plays_one(open_page):
    page = open_page("#/analyse?game=gomoku&size=15&variant=freestyle&moves=h8,i9,g8")
    moves = page.get_by_role("list", name="Best moves, with win rates of Black").get_by_role("button")
    moves.nth(2).wait_for()
    page.get_by_label("Number of best moves").select_option("5")
    moves.nth(4).wait_for()
    assert page.locator(".board .over circle").count() == 5
    assert violations(page) == []
    page.get_by_role("button", name="Think").click()
    page.get_by_text("off", exact=True).wait_for()
    assert moves.count() == 0
    page.get_by_role("button", name="Think").click()
    moves.first.focus()
    page.keyboard.press("Enter")
    page.get_by_text("Move 4 of 4").wait_for()
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_page_leaves_unfinished_amazons_turn_alone_during_search(open_page):
    page = open_page("#/analyse?game=amazons&size=6&variant=standard", PHONE)
    moves = page.get_by_role("list", name="Best moves, with win rates of White").get_by_role("button")
    moves.nth(2).wait_for()
    page.locator("[data-cell=b1]").click()
    page.locator(".board .selected").wait_for(state="attached")
    before = page.get_by_text("nodes; win rates of White").inner_text()
    page.wait_for_function("(before) => !document.body.innerText.includes(before)", arg=before)
    assert page.locator(".board .selected").count() == 1
    page.locator("[data-cell=b3]").click()
    page.locator("[data-cell=b1]").click()
    page.get_by_text("Move 1 of 1").wait_for()
