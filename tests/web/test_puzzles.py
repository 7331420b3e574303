"""Puzzles: the forced wins of the package, what is answered to a try, and the worst turns of one's own games."""

import json
import re

import pytest

from pipeline_src.games import gomoku
from pipeline_src.records.forced_wins import PACKAGED, read_forced_wins
from pipeline_src.search.gomoku.solver import Solver
from pipeline_src.web.puzzles import PROOF, collection
from tests.web.conftest import PHONE, fits, violations

FOUR = {"game": "gomoku", "size": 9, "variant": "freestyle", "moves": ["c5", "a1", "d5", "a9", "e5", "i1"]}
"""Black has three in a row; both f5 and b5 make a straight four."""


def answer(client, *moves, status=200):
    found = client.post("/api/analyse/forced/answer", json=FOUR | {"moves": [*FOUR["moves"], *moves]})
    assert found.status_code == status, found.text
    return found.json()


def test_each_packaged_forced_win_is_proven_and_legal():
    rows = [json.loads(text) for text in PACKAGED.read_text().splitlines()]
    wins = read_forced_wins(PACKAGED)
    solver = Solver()
    for (state, plies), row in zip(wins, rows, strict=True):
        found = solver.solve(state, PROOF)
        assert found.win, row
        assert (found.line[0], len(found.line)) == (row["win"], plies)
        for action in found.line:
            state = gomoku.play(state, action)
        assert gomoku.winner(state) is not None
    assert len(rows) >= 40
    assert len({row["plies"] for row in rows}) >= 5
    assert {row["variant"] for row in rows} == {"freestyle", "renju"}
    assert [row["plies"] for row in rows] == sorted(row["plies"] for row in rows)


def test_the_collection_lists_the_positions(client):
    wins = client.get("/api/analyse/forced").json()["wins"]
    assert [one["number"] for one in wins] == list(range(1, len(wins) + 1))
    for one, (state, plies) in zip(wins[:3], read_forced_wins(PACKAGED), strict=False):
        board = client.post("/api/play/board", json=one["place"]).json()
        assert (board["fen"], one["plies"]) == (gomoku.to_fen(state), plies)
    assert len(collection().wins) == len(wins)


def test_a_try_is_answered(client):
    holds = answer(client, "f5")
    assert (holds["state"], holds["plies"]) == ("holds", 1)
    assert answer(client, "f5", "b5", "g5") == {"state": "won", "answer": "", "plies": 0}
    spoilt = answer(client, "i9")
    assert spoilt["state"] == "spoilt"
    assert spoilt["answer"] in ("b5", "f5")
    line = client.post("/api/analyse/forced/line", json=FOUR).json()["moves"]
    assert (len(line), line[0] in ("b5", "f5")) == (3, True)


def test_forced_wins_are_of_gomoku(client):
    place = {"game": "amazons", "size": 6, "variant": "standard", "moves": ["b1-b3/b1"]}
    refused = client.post("/api/analyse/forced/answer", json=place)
    assert (refused.status_code, "in positions of Gomoku" in refused.json()["error"]) == (400, True)


@pytest.mark.slow
def test_the_page_asks_for_a_forced_win_and_answers(open_page):
    page = open_page("#/analyse", PHONE)
    page.get_by_role("button", name="Forced wins of Gomoku").click()
    page.get_by_text("to move wins by force").wait_for()
    assert violations(page) == []
    assert fits(page)
    page.locator(".board.live [data-cell=a1]").click()
    page.get_by_text(re.compile("a1 does not win: .* answers it. Try another move.")).wait_for()
    for _ in range(20):
        before = page.locator(".board .stone:not(.ghost)").count()
        page.get_by_role("button", name="Show the answer").click()
        page.get_by_text(re.compile(r"^\S+ wins[:.]$")).wait_for()
        move = page.locator("p.status").inner_text().split()[0]
        page.locator(f".board.live [data-cell={move}]").click()
        page.get_by_text(re.compile(f"^{move} (is right|wins)")).wait_for()
        assert page.locator(".board .stone:not(.ghost)").count() > before
        if page.get_by_text("Solved.").count():
            break
    page.get_by_text("Solved.").wait_for()
    page.get_by_role("button", name="Next").click()
    page.get_by_text("Forced win 2 of").wait_for()
    page.reload()
    page.get_by_text("Forced win 2 of").wait_for()
    page.get_by_role("button", name="Previous").click()
    page.get_by_role("heading", name="solved").wait_for()


@pytest.mark.slow
def test_a_win_that_takes_longer_is_called_so(open_page):
    page = open_page("#/analyse?puzzle=forced-3")
    page.get_by_text("in 3 moves at most").wait_for()
    page.locator(".board.live [data-cell=a1]").click()
    page.get_by_text(re.compile(r"^a1 wins too, but there is a shorter way\. .* holds out longest")).wait_for()


@pytest.mark.slow
def test_worst_turns_of_own_game_become_puzzles(open_page):
    moves = "h8,i9,h9,i8,h10,a1,h11,a3,h12"
    page = open_page(f"#/analyse?game=gomoku&size=15&moves={moves}&judge=1&second_name=You", PHONE)
    page.get_by_text("10 of 10 positions").wait_for()
    page.get_by_role("button", name="Find the better moves").click()
    page.get_by_text("White to move. In your game").wait_for()
    played = re.search(r"In your game (\S+) gave", page.locator("main").inner_text())[1]
    page.locator(f".board.live [data-cell={played}]").click()
    page.get_by_text(re.compile(f"^{played} gives away .*, as in your game. Try another move.")).wait_for()
    page.locator(".board.live [data-cell=o1]").click()
    page.get_by_text(re.compile("^o1 gives away")).wait_for()
    assert violations(page) == []
    assert fits(page)
    page.get_by_role("button", name="Show the answer").click()
    page.get_by_text(re.compile(r" is better[:.]$")).wait_for()
    best = page.locator("p.status").inner_text().split()[0]
    page.locator(f".board.live [data-cell={best}]").click()
    page.get_by_text(f"{best} is right. Solved.").wait_for()
    page.reload()
    page.get_by_role("heading", name="solved").wait_for()
