"""Openings of Gomoku on the page Play: level stones, swap, swap2; by people and by players."""

import pytest

from pipeline_src.web.sessions.game import Opening
from tests.web.conftest import PHONE, fits, violations
from tests.web.test_play import SIX, begin, joined, move, until
from tests.web.test_play_browser import set_up

NINE = {"game": "gomoku", "size": 9, "variant": "freestyle"}
FAST = "alphabeta:depth=1,width=4"


def started(client, opening, first="person", second="person", **more):
    return joined(client, begin(client, NINE, first, second, opening=opening, **more))


def act(wire, do, **more):
    wire.send_json({"do": do, **more})
    return until(wire, "game")


def three(wire):
    for cell in ("e5", "a1", "f6"):
        game = move(wire, cell)
    return game


@pytest.mark.parametrize(
    ("kind", "choices", "seats"),
    [
        ("swap", ["swap"], "ba"),
        ("swap", ["stay"], "ab"),
        ("swap2", ["swap"], "ba"),
        ("swap2", ["stay"], "ab"),
        ("swap2", ["place", "swap"], "ab"),
        ("swap2", ["place", "stay"], "ba"),
    ],
)
def test_colours_of_the_players(kind, choices, seats):
    opening, plies, seated = Opening(kind), 3, "ab"
    for choice in choices:
        assert opening.step(plies).stones == 0
        seated = seated[::-1] if opening.take(plies, choice) else seated
        plies += 2 * (choice == "place")
    assert (opening.step(plies), seated) == (None, seats)
    assert opening.back_to(3) == (seated != "ab")
    assert opening.step(3).seat == 1


def refused(wire, do, **more):
    wire.send_json({"do": do, **more})
    text = until(wire, "problem")["text"]
    until(wire, "game")
    return text


def test_two_people_play_swap2_with_five_stones_and_undo(client):
    with started(client, "swap2") as wire:
        game = until(wire, "game")
        assert (game["opening"], game["persons_turn"]) == ({"seat": 0, "stones": 3, "may_place": False}, True)
        assert "the opening comes first" in refused(wire, "hint")
        assert "no colour to choose" in refused(wire, "choose", choice="swap")
        game = three(wire)
        assert game["opening"] == {"seat": 1, "stones": 0, "may_place": True}
        assert (game["persons_turn"], game["board"]["cells"]) == (False, [])
        assert "choose a colour first" in refused(wire, "move", move="g7")
        assert "no stones of the opening to place" in refused(wire, "balance")
        assert act(wire, "choose", choice="place")["opening"] == {"seat": 1, "stones": 2, "may_place": False}
        move(wire, "b2")
        assert move(wire, "c3")["opening"] == {"seat": 0, "stones": 0, "may_place": False}
        assert "after the first three" in refused(wire, "choose", choice="place")
        game = act(wire, "choose", choice="stay")
        assert (game["opening"], game["persons_turn"], game["board"]["to_play"]) == (None, True, 1)
        assert act(wire, "undo")["opening"] == {"seat": 0, "stones": 0, "may_place": False}
        assert act(wire, "undo")["opening"] == {"seat": 1, "stones": 1, "may_place": False}
        game = act(wire, "undo")
        assert (game["opening"]["may_place"], len(game["board"]["moves"])) == (True, 3)


@pytest.mark.slow
def test_colour_choice_swaps_seats_and_undo_restores_them(client):
    with started(client, "swap", FAST, "person") as wire:
        game = until(wire, "game", lambda one: one["opening"] and one["opening"]["seat"] == 1)
        assert (len(game["board"]["moves"]), game["can_undo"]) == (3, False)
        game = act(wire, "choose", choice="swap")
        assert game["seats"] == ["person", FAST]
        game = until(wire, "game", lambda one: len(one["board"]["moves"]) == 4)
        assert game["persons_turn"]
        game = act(wire, "undo")
        assert (game["seats"], game["opening"]["seat"]) == ([FAST, "person"], 1)
        assert act(wire, "choose", choice="stay")["seats"] == [FAST, "person"]


@pytest.mark.slow
def test_a_player_chooses_after_the_stones_of_a_person(client):
    with started(client, "swap", "person", FAST, minutes=5, increment_s=9) as wire:
        until(wire, "game")
        game = act(wire, "balance")
        game = until(wire, "game", lambda one: len(one["board"]["moves"]) == 3)
        assert game["clocks"] == {"left_ms": [300_000, 300_000], "running": None}
        game = until(wire, "game", lambda one: one["opening"] is None and one["persons_turn"])
        assert sorted(game["seats"]) == sorted([FAST, "person"])
        assert game["clocks"]["running"] is not None


@pytest.mark.slow
def test_level_stones_begin_a_game(client):
    with started(client, "balanced", "person", "person") as wire:
        game = until(wire, "game")
        assert (game["opening"], game["persons_turn"]) == ({"seat": None, "stones": 3, "may_place": False}, False)
        game = until(wire, "game", lambda one: one["opening"] is None)
        assert (len(game["board"]["moves"]), game["persons_turn"], game["board"]["to_play"]) == (3, True, 1)
        assert game["seats"] == ["person", "person"]


@pytest.mark.parametrize("place", [NINE | {"moves": ["e5"]}, SIX])
def test_an_opening_is_for_the_empty_board_of_gomoku(client, place):
    answer = client.post("/api/play/games", json={"place": place, "opening": "swap2"})
    assert (answer.status_code, answer.json()["error"]) == (400, "the opening swap2 is for Gomoku from the empty board")


@pytest.mark.slow
def test_the_page_leads_through_swap2(open_page):
    page = open_page("", PHONE)
    set_up(page, game="gomoku", size=9, variant="freestyle", mode="people", opening="swap2")
    page.get_by_text("First person: 3 stones to place, black and white in turn.").wait_for()
    page.locator("[data-cell=e5]").click()
    page.get_by_text("First person: 2 stones to place").wait_for()
    page.get_by_role("button", name="Balanced stones").click()
    page.get_by_text("Second person: choose a colour; White moves next.").wait_for()
    assert violations(page) == []
    assert fits(page)
    page.get_by_role("button", name="Place two more stones").click()
    page.get_by_role("button", name="Balanced stones").click()
    page.get_by_text("First person: choose a colour").wait_for()
    assert page.get_by_role("button", name="Place two more stones").count() == 0
    page.get_by_role("button", name="Play White").click()
    page.get_by_text("White to move.").wait_for()
    page.get_by_role("link", name="New game").or_(page.get_by_role("link", name="Zugwerk")).first.click()
    assert page.get_by_label("Opening").input_value() == "swap2"
    page.get_by_label("In a row").fill("4")
    page.get_by_label("In a row").blur()
    page.get_by_label("Opening").wait_for(state="detached")
