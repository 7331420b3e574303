"""Marks of boards: lines that won, forbidden points with their reasons, the squares of each side, an agreed end."""

import re

import numpy as np
import pytest

from pipeline_src.games import amazons, gomoku
from pipeline_src.games.gomoku import SIDE
from pipeline_src.web.marks import forbidden_cells, squares_of, winning_line
from tests.games import gomoku_reference
from tests.web.test_play import SIX, begin, joined, move, until

SETTLED = "2*3/2*3/2*3/2*3/2*3/Q1*2q w"
"""White has 11 squares on the left, Black 17 on the right."""


def cells_of(state):
    height, width = state.board.shape
    return {(r, c): ".xo"[state.board[r, c]] for r in range(height) for c in range(width)}


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
        cells, marked = cells_of(state), forbidden_cells(state)
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


def test_only_black_in_renju_has_forbidden_points(client):
    fen = "9/9/4x4/4x4/2xx5/9/9/o1o1o1o2/9 b"

    def ask(fen, *moves):
        place = {"game": "gomoku", "size": 9, "variant": "", "fen": fen, "moves": moves}
        return client.post("/api/play/board", json=place).json()

    assert ask(f"{fen} renju")["forbidden"] == {"e5": "two threes"}
    assert "e5" not in ask(f"{fen} renju")["cells"]
    assert ask(f"{fen} renju", "a1")["forbidden"] == {}
    assert ask(fen)["forbidden"] == {}


def test_the_squares_of_each_side(client):
    found = client.post("/api/play/territory", json=SIX | {"fen": SETTLED}).json()
    assert sorted(found["first"]["settled"]) == sorted(
        f"{a}{r}" for a in "ab" for r in range(1, 7) if (a, r) != ("a", 1)
    )
    assert (len(found["second"]["settled"]), found["second"]["nearer"]) == (17, [])
    assert found["counted"] == {"winner": "second", "spare": 6}
    found = client.post("/api/play/territory", json=SIX | {"fen": SETTLED.replace("2*3", "6", 1)}).json()
    assert (found["counted"], found["first"]["settled"], found["second"]["settled"]) == (None, [], [])
    assert {"a1", "f1"}.isdisjoint(nearer := [*found["first"]["nearer"], *found["second"]["nearer"]])
    assert "a2" in found["first"]["nearer"]
    assert "f2" in found["second"]["nearer"]
    assert len(set(nearer)) == len(nearer)
    refused = client.post("/api/play/territory", json=SIX | {"game": "gomoku", "variant": "freestyle"})
    assert (refused.status_code, "for the Amazons" in refused.json()["error"]) == (400, True)


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
        wire.send_json({"do": "agree"})
        game = until(wire, "game")
        assert (game["ended"], game["board"]["winner"], game["counted"]) == ("agreed", "second", None)
        wire.send_json({"do": "agree"})
        assert "not settled" in until(wire, "problem")["text"]
        wire.send_json({"do": "undo"})
        assert until(wire, "game", lambda one: one["ended"] is None)["persons_turn"]
        assert move(wire, "a1-b2/a1")["counted"] == {"winner": "second", "spare": 6}
        wire.send_json({"do": "agree"})
        until(wire, "game", lambda one: one["ended"] == "agreed")
    assert "RE[B+]" in client.get(f"/api/play/games/{name}/record.sgf").text


def test_a_game_that_is_open_cannot_be_agreed(client):
    with joined(client, begin(client, SIX)) as wire:
        assert until(wire, "game")["counted"] is None
        wire.send_json({"do": "agree"})
        assert until(wire, "problem")["text"] == "the result is not settled yet; play on"
