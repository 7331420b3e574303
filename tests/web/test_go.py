"""Searches of Go positions on the page Analyse: answers, and the panel in a browser."""

import pytest

from pipeline_src.records.go_index import default_path
from pipeline_src.systems.joseki.library import save
from pipeline_src.web import go
from tests.systems.joseki.test_library import built
from tests.web.conftest import PHONE, ask, fits, violations, wait
from tests.web.test_joseki import GAMES

OPENING = {
    "a.sgf": "(;SZ[19]PB[ann]PW[bob]RE[B+R]EV[cup];B[pd];W[dp];B[pp];W[dd];B[fc])",
    "b.sgf": "(;SZ[19]PB[cid]PW[dan]RE[W+R];B[dd];W[pp];B[dp];W[pd];B[nc])(;SZ[19]PB[eve];B[];W[jj])",
    "handicap.sgf": "(;SZ[19]HA[2]AB[dp][pd];W[dd];B[qp])",
}


@pytest.fixture
def records(web_folder, tmp_path, monkeypatch):
    """A folder of records below the server's, and an index that no other test has."""
    of_server = default_path(web_folder)  # the server in a process of its own may have begun with another cache
    monkeypatch.setenv("ZUGWERK_CACHE", str(tmp_path / "cache"))
    go._KNOWN.clear()
    folder = web_folder / "go"
    folder.mkdir(exist_ok=True)
    for name, text in OPENING.items():
        (folder / name).write_text(text)
    yield folder
    for name in OPENING:
        (folder / name).unlink()
    folder.rmdir()
    of_server.unlink(missing_ok=True)


def place(*moves, **more):
    return {"game": "go", "size": 19, "variant": "", "moves": moves} | more


def read_all(client):
    assert client.post("/api/go/read").status_code == 200
    wait(lambda: ask(client, "go/folders")["folders"][0]["state"] != "reading")
    (folder,) = ask(client, "go/folders")["folders"]
    return folder


def find(client, status=200, **query):
    answer = client.post("/api/go/find", json=query)
    assert answer.status_code == status, answer.text
    return answer.json()


def of_records(found):
    """The occurrences in this file's records; other tests leave games in the same folder."""
    return [one for one in found["found"] if one["name"].startswith("go/")]


def test_position_is_found_under_symmetry_with_game_links(client, records):
    assert "not read yet" in find(client, 400, place=place())["error"]
    folder = read_all(client)
    assert (folder["state"], folder["error"]) == ("ready", "")
    assert folder["games"] >= 4
    found = find(client, place=place("Q16", "D4", "Q4", "D16"))
    first, second = of_records(found)
    assert first == {
        "source": f"file:{records}/a.sgf", "name": "go/a.sgf", "number": 1, "ply": 4, "first_name": "ann",
        "second_name": "bob", "event": "cup", "winner": "first", "next": 0,
    }  # fmt: skip
    assert (second["name"], second["ply"], second["winner"]) == ("go/b.sgf", 4, "second")
    one = next(one for one in found["next"] if "F17" in one["points"])
    assert (one["colour"], one["played"]) == ("Black", 2)
    assert set(one["points"]) == {"F17", "F3"}
    assert (one["black_won"], one["white_won"]) == (1, 1)
    assert ask(client, "analyse/game", source=first["source"], number=1)["head"]["first_name"] == "ann"


def test_part_of_board_and_start_with_handicap_stones(client, records):
    read_all(client)
    replay = ask(client, "analyse/game", source=f"file:{records}/handicap.sgf", number=1)
    found = find(client, place=replay["place"] | {"moves": ["D16"]})
    assert [(one["name"], one["ply"]) for one in of_records(found)] == [("go/handicap.sgf", 1)]
    found = find(client, place=place("Q16"), area="K10-T19")
    assert {one["name"] for one in of_records(found)} == {"go/a.sgf", "go/b.sgf", "go/handicap.sgf"}


def test_joseki_of_a_start_with_handicap_stones(client, records, web_folder):
    path = web_folder / "models/joseki/other.joseki"
    path.parent.mkdir(parents=True, exist_ok=True)
    save(built(GAMES), path)
    replay = ask(client, "analyse/game", source=f"file:{records}/handicap.sgf", number=1)

    def corners(**query):
        return client.post("/api/joseki/position", json=query | {"library": "other"}).json()

    try:
        answer = corners(place=replay["place"] | {"moves": ["D16"]})
        assert answer["corners"][0]["pattern"] == "O 4,4"
        assert answer["to_play"] == "Black"
        same = ask(client, "joseki/position", moves="D16,Q4", library="other")
        assert corners(place=place("D16", "Q4")) == same
    finally:
        path.unlink()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"place": place("Q16", "Q16")}, "move 2, Q16, is not legal"),
        ({"place": place(), "area": "A1"}, "expected two corners"),
        ({"place": place(), "folder": "/etc"}, "no such folder as '/etc' on this server"),
        ({"place": place(game="gomoku", variant="freestyle")}, "not of gomoku"),
    ],
)
def test_bad_question_is_refused(client, records, query, words):
    read_all(client)
    assert words in find(client, 400, **query)["error"]


def test_unreadable_index_is_reported(client, records, web_folder):
    path = default_path(web_folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"zugwerk go index 0\n")
    folder = read_all(client)
    assert folder["state"] == "failed"
    assert "an index of version" in folder["error"]


@pytest.mark.slow
def test_the_page_searches_a_record_by_keyboard(open_page, records):
    page = open_page(f"#/analyse?source=file:{records}/a.sgf&game=1&ply=4")
    found = page.locator(".found")
    found.get_by_role("button", name="cid \u2013 dan, move 4, White won").wait_for()
    page.get_by_role("button", name="Play F17 F3, Black").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Move 5 of 5").wait_for()
    found.get_by_role("button", name="ann \u2013 bob, move 5, Black won").wait_for()
    page.get_by_label("Find", exact=True).select_option(label="the top right corner")
    found.get_by_role("button", name="ann \u2013 bob, move 1, Black won").first.wait_for()
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert fits(page)
    found.get_by_role("button", name="cid \u2013 dan, move 2, White won").first.click()
    page.get_by_text("Move 2 of 5").wait_for()
    assert "b.sgf" in page.url
