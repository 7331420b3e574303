"""Openings of Gomoku, marks of boards and an agreed end on the page Play, without a browser."""

import re

import numpy as np
import pytest

from pipeline_src.games import amazons, gomoku
from pipeline_src.games.gomoku import SIDE
from pipeline_src.search.gomoku.lines import ONE_THREE, SURE, THREE, WIDE_THREE, WINS, cell_of, make_lines, may_play
from pipeline_src.web.game import forbidden_cells, squares_of, threats_of, winning_line
from pipeline_src.web.session import Opening
from tests.games import gomoku_reference
from tests.web.conftest import SIX, act, begin, joined, move, post, until

NINE = {"game": "gomoku", "size": 9, "variant": "freestyle"}
FAST = "alphabeta:depth=1,width=4"


def started(client, opening, first="person", second="person", **more):
    return joined(client, begin(client, NINE, first, second, opening=opening, **more))


def three_stones(wire):
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
    text = act(wire, do, "problem", **more)
    until(wire, "game")
    return text


def test_two_people_play_swap2_with_five_stones_and_undo(client):
    with started(client, "swap2") as wire:
        game = until(wire, "game")
        assert (game["opening"], game["persons_turn"]) == ({"seat": 0, "stones": 3, "may_place": False}, True)
        assert "the opening comes first" in refused(wire, "hint")
        assert "no colour to choose" in refused(wire, "choose", choice="swap")
        game = three_stones(wire)
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
    refused = post(client, "play/games", {"place": place, "opening": "swap2"}, 400)
    assert refused == {"error": "the opening swap2 is for Gomoku from the empty board"}


SETTLED = "2*3/2*3/2*3/2*3/2*3/Q1*2q w"
"""White has 11 squares on the left, Black 17 on the right."""


def placed(ranks, variant, side):
    """The state of a diagram, whose numbers of stones need not fit the side to move."""
    rows = [re.sub(r"\d", lambda found: "." * int(found[0]), rank) for rank in ranks.split("/")]
    state = gomoku.initial_state(len(rows), variant)
    state.board[:] = [[".xo".index(letter) for letter in row] for row in rows]
    state.turn[SIDE] = side
    return state


@pytest.mark.parametrize(
    ("ranks", "variant", "side", "move", "line"),
    [
        ("7/7/7/xxxx3/7/7/7", "freestyle", 0, "e4", "a4 b4 c4 d4 e4"),
        ("8/8/8/8/xxx1xx2/8/8/8", "freestyle", 0, "d4", "a4 b4 c4 d4 e4 f4"),
        ("8/8/8/8/xxxx4/4x3/4x3/4x3", "freestyle", 0, "e4", "a4 b4 c4 d4 e4"),
        ("8/8/8/xxxx4/4x3/4x3/4x3/4x3", "freestyle", 0, "e5", "a5 b5 c5 d5 e5 e4 e3 e2 e1"),
        ("7/o6/1o5/2o4/3o3/7/7", "freestyle", 1, "e2", "a6 b5 c4 d3 e2"),
        ("9/9/9/9/xxx1xxx2/3x5/3x5/3x5/3x5", "exact", 0, "d5", "d5 d4 d3 d2 d1"),
        ("9/9/9/9/oxxx1xo2/4x4/4x4/4x4/4x4", "caro", 0, "e5", "e5 e4 e3 e2 e1"),
        ("7/7/7/xx5/7/7/7", "freestyle", 0, "c4", ""),
    ],
)
def test_the_line_that_has_won_is_marked(ranks, variant, side, move, line):
    state = placed(ranks, variant, side)
    height, width = state.board.shape
    state = gomoku.play(state, gomoku.parse_move(move, height, width))
    assert [gomoku.format_move(cell, height, width) for cell in winning_line(state)] == line.split()


@pytest.mark.parametrize("seed", range(2))
def test_forbidden_points_have_the_reason_of_the_slow_rules(seed):
    rng, seen = np.random.default_rng(seed), set()
    for _ in range(60):
        state = gomoku.initial_state(11, "renju")
        state.board[:] = rng.choice([0, 1, 2], state.board.shape, p=[0.62, 0.3, 0.08])
        cells = {at: ".xo"[stone] for at, stone in np.ndenumerate(state.board)}
        marked = forbidden_cells(state)
        for at in np.argwhere(state.board == 0).tolist():
            at, why = tuple(at), None
            if gomoku_reference.forbidden(cells, at):
                placed = {**cells, at: "x"}
                longest = max(gomoku_reference.length(placed, at, axis) for axis in ((0, 1), (1, 0), (1, 1), (1, -1)))
                four = len(gomoku_reference.fours(placed, at)) > 1
                why = "six or more in a row" if longest > 5 else "two fours" if four else "two threes"
                seen.add(why)
            assert marked.get(at[0] * 11 + at[1]) == why
    assert len(seen) == 3


@pytest.mark.parametrize("variant", ["freestyle", "exact", "caro", "renju", "freestyle-4"])
def test_threats_are_those_of_the_pattern_tables(variant):
    rng, seen = np.random.default_rng(5), set()
    for _ in range(40):
        state = gomoku.initial_state(11, variant)
        state.board[:] = rng.choice([0, 1, 2], state.board.shape, p=[0.68, 0.16, 0.16])
        before, lines = state.board.copy(), make_lines(state)
        marked = threats_of(state)
        np.testing.assert_array_equal(state.board, before)
        for action in np.flatnonzero(before == 0).tolist():
            cell, text = cell_of(action, 11, lines), gomoku.format_move(action, 11, 11)
            for side in (0, 1):
                if variant == "renju" and side == 0 and not may_play(lines, 0, cell):
                    assert text not in marked[0]
                elif lines.counts[side, WINS] == 0 or lines.classes[side, cell] == WINS:  # else nobody asks for fours
                    kind, mark = int(lines.classes[side, cell]), marked[side].get(text)
                    assert (mark if mark != 3 else None) == {WINS: 5, SURE: 4}.get(kind), (before, text, side)
                    seen.add(kind)
                    packed = int(lines.packed[side, cell])
                    three = any(THREE <= packed >> 4 * d & 15 <= WIDE_THREE for d in range(4))
                    if three and kind < SURE and lines.counts[side, SURE] == 0 and (variant, side) != ("renju", 0):
                        assert mark == (3 if state.turn[gomoku.LINE] == 5 else None), (before, text, side)
    assert {WINS, SURE, ONE_THREE} <= seen


@pytest.mark.parametrize("variant", ["freestyle", "exact", "caro", "renju"])
def test_an_open_three_leads_to_a_four_in_line(variant):
    rng, seen = np.random.default_rng(6), 0
    for _ in range(20):
        state = gomoku.initial_state(9, variant)
        state.board[:] = rng.choice([0, 1, 2], state.board.shape, p=[0.76, 0.12, 0.12])
        marked = threats_of(state)
        for side in (0, 1):
            for text in [text for text, kind in marked[side].items() if kind == 3]:
                three = gomoku.parse_move(text, 9, 9)
                state.board.flat[three] = side + 1
                after = threats_of(state)[side]
                fours = {at for at, kind in after.items() if kind == 4 and marked[side].get(at) != 4}
                ways = np.abs([np.subtract(divmod(gomoku.parse_move(at, 9, 9), 9), divmod(three, 9)) for at in fours])
                steps = [(int(down), int(right)) for down, right in ways]
                assert any(max(down, right) <= 3 and (down in (0, right) or right == 0) for down, right in steps)
                state.board.flat[three] = 0
                seen += 1
    assert seen > 100


def test_a_board_tells_its_threats_until_the_end(client):
    place = {"game": "gomoku", "size": 9, "variant": "", "fen": "9/9/9/9/2xxx4/4oo3/9/o8/9 b"}

    def threats(*moves):
        return post(client, "play/board", place | {"moves": moves})["threats"]

    assert threats() == [{"b5": 4, "f5": 4}, dict.fromkeys(("c4", "d4", "g4", "h4"), 3)]
    assert threats("f5", "g4") == [{"b5": 5, "g5": 5}, {"d4": 4, "h4": 4}]
    assert threats("f5", "g4", "b5") == [{}, {}]


def test_points_forbidden_to_black_show_for_both_sides(client):
    fen = "9/9/4x4/4x4/2xx5/9/9/o1o1o1o2/9 b"

    def ask(fen, *moves):
        place = {"game": "gomoku", "size": 9, "variant": "", "fen": fen, "moves": moves}
        return post(client, "play/board", place)

    assert ask(f"{fen} renju")["forbidden"] == {"e5": "two threes"}
    assert "e5" not in ask(f"{fen} renju")["cells"]
    after = ask(f"{fen} renju", "a1")
    assert after["forbidden"] == {"e5": "two threes"}
    assert "e5" in after["cells"]  # White may play there
    assert ask(fen)["forbidden"] == {}


def test_the_squares_of_each_side(client):
    found = post(client, "play/territory", SIX | {"fen": SETTLED})
    assert {*found["first"]["settled"]} == {f"{a}{r}" for a in "ab" for r in range(1, 7)} - {"a1"}
    assert (len(found["second"]["settled"]), found["second"]["nearer"]) == (17, [])
    assert found["counted"] == {"winner": "second", "spare": 6}
    found = post(client, "play/territory", SIX | {"fen": SETTLED.replace("2*3", "6", 1)})
    assert (found["counted"], found["first"]["settled"], found["second"]["settled"]) == (None, [], [])
    assert {"a1", "f1"}.isdisjoint(nearer := [*found["first"]["nearer"], *found["second"]["nearer"]])
    assert "a2" in found["first"]["nearer"]
    assert "f2" in found["second"]["nearer"]
    assert len(set(nearer)) == len(nearer)
    other = SIX | {"game": "gomoku", "variant": "freestyle"}
    assert "for the Amazons" in post(client, "play/territory", other, 400)["error"]


@pytest.mark.parametrize(
    ("fen", "counted"),
    [
        ("2*3/2*3/2*3/2*3/2*3/Q1*2q b", {"winner": "second", "spare": 5}),
        ("3*2/3*2/3*2/3*2/3*2/Q2*1q w", {"winner": "first", "spare": 5}),
        ("3*2/3*2/3*2/3*2/3*2/Q2*1q b", {"winner": "first", "spare": 6}),
        ("****2/****2/****2/3*2/3*2/Q2*1q w", {"winner": "second", "spare": 3}),
        ("6/6/6/6/6/Q4q w", None),
    ],
)
def test_counting_decides_settled_positions(fen, counted):
    found = squares_of(amazons.from_fen(fen)).counted
    assert (found and found.model_dump()) == counted


def test_agreed_game_ends_and_undo_resumes_it(client):
    name = begin(client, SIX | {"fen": SETTLED})
    with joined(client, name) as wire:
        game = until(wire, "game")
        assert (game["ended"], game["counted"]) == (None, {"winner": "second", "spare": 6})
        game = act(wire, "agree")
        assert (game["ended"], game["board"]["winner"], game["counted"]) == ("agreed", "second", None)
        assert "not settled" in act(wire, "agree", "problem")
        wire.send_json({"do": "undo"})
        assert until(wire, "game", lambda one: one["ended"] is None)["persons_turn"]
        assert move(wire, "a1-b2/a1")["counted"] == {"winner": "second", "spare": 6}
        wire.send_json({"do": "agree"})
        until(wire, "game", lambda one: one["ended"] == "agreed")
    assert "RE[B+]" in client.get(f"/api/play/games/{name}/record.sgf").text
    with joined(client, begin(client, SIX)) as wire:
        assert until(wire, "game")["counted"] is None
        assert "not settled" in act(wire, "agree", "problem")
