"""Positions of Go: searches on the page Analyse, and the joseki page."""

import pytest

from pipeline_src.records.go_index import default_path
from pipeline_src.records.record import write_records
from pipeline_src.systems.joseki.library import save
from pipeline_src.systems.joseki.patterns import pattern_code
from pipeline_src.systems.joseki.recommend import SharedCodes, state_window
from pipeline_src.web import go
from tests.systems.joseki.games import at, random_record, record
from tests.systems.joseki.test_library import built
from tests.web.conftest import PHONE, ask, post, wait

GAMES = [
    record([at(4, 4, 1), at(4, 4, 2), at(3, 6, 1)], 1),
    record([at(4, 4, 1), at(4, 4, 2), at(6, 3, 1)], 2, "second"),
    record([at(4, 4, 3), at(4, 4, 2), at(9, 9, 1)], 3, None),
    *(random_record(seed, 60) for seed in range(4)),
]


@pytest.fixture(scope="session")
def library(web_folder):
    write_records(GAMES, web_folder / "records/joseki/games.parquet")
    path = web_folder / "models/joseki/library.joseki"
    path.parent.mkdir(parents=True, exist_ok=True)
    found = built(GAMES)
    save(found, path)
    return found


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
    post(client, "go/read", None)
    wait(lambda: ask(client, "go/folders")["folders"][0]["state"] != "reading")
    (folder,) = ask(client, "go/folders")["folders"]
    return folder


def find(client, status=200, **query):
    return post(client, "go/find", query, status)


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
        return post(client, "joseki/position", query | {"library": "other"})

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


def test_corner_has_continuations_from_all_symmetries(client, library):
    found = ask(client, "joseki/position", moves="D16,Q4")  # games 1 and 2 have the same corner at the upper right
    one = next(c for c in found["continuations"] if c["corner"] == 0 and c["points"] == ["F17", "C14"])
    assert (one["played"], one["won"], one["lost"], one["win_rate"]) == (2, 1, 1, 0.5)
    assert 0 < one["win_rate_low"] < 0.5 < one["win_rate_high"] < 1
    assert {(g["gid"], g["ply"]) for g in one["games"]} == {(1, 2), (2, 2)}
    assert found["to_play"] == "Black"
    assert found["fen"].startswith("19/19/19/3x15/")
    assert [c["name"] for c in found["corners"]] == ["top-left", "top-right", "bottom-left", "bottom-right"]
    assert found["corners"][0]["pattern"] == "X 4,4"


def test_libraries_describe_their_contents(client, library):
    (found,) = ask(client, "joseki/libraries")["libraries"]
    assert found["name"] == "library"
    assert (found["games"], found["patterns"]) == (len(GAMES), library.states)


def test_a_code_names_all_patterns_that_share_it(client, library):
    shared = SharedCodes(library)
    codes = [int(pattern_code(state_window(library, state))) for state in range(library.states)]
    for state, code in enumerate(codes):
        assert shared.sharing(code)[0] == max(
            (other for other, same in enumerate(codes) if same == code),
            key=lambda other: (library.seen[other], -other),
        )
        assert state in shared.sharing(code)
    assert shared.clashing == sum(codes.count(code) > 1 for code in codes)
    found = ask(client, "joseki/clashes")
    assert found["clashing"] == shared.clashing > 0
    assert all(len(clash["patterns"]) > 1 for clash in found["clashes"])
    asked = ask(client, "joseki/code", moves="D16,Q4", corner=0)
    assert asked["code"] == str(int(asked["black"]["k"]) * int(asked["white"]["k"]) * int(asked["both"]["k"]))
    assert [one["pattern"] for one in asked["patterns"] if one["is_asked"]] == ["O 4,4"]  # its canonical colours


def test_an_example_game_opens(client, library):
    found = ask(client, "joseki/games/2")
    assert found["moves"] == ["Q16", "D4", "R14"]
    assert (found["winner"], found["source"]) == ("second", "file")
    assert "no game 77 there" in ask(client, "joseki/games/77", 400)["error"]


def test_another_game_with_an_examples_number_is_not_shown(client, library, web_folder):
    path = web_folder / "models/joseki/merged.joseki"
    save(built([*GAMES[2:], record([at(3, 3), at(4, 4, 3)], 2), record([at(3, 4)], 1)]), path)
    try:
        assert ask(client, "joseki/games/3", library="merged")["moves"]
        assert "another game than the library's" in ask(client, "joseki/games/2", 400, library="merged")["error"]
    finally:
        path.unlink()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"moves": "Q16,Q16"}, "move 2, Q16, is not legal"),
        ({"moves": "hello"}, "not a move"),
        ({"moves": "I5"}, "no file I"),
        ({"moves": "pass," * 401}, "after 400 at most"),
        ({"library": "../../secret"}, "no joseki library '../../secret' here; there are: library"),
    ],
)
def test_bad_joseki_question_is_refused(client, library, query, words):
    assert words in ask(client, "joseki/position", 400, **query)["error"]


def test_damaged_library_is_reported(client, web_folder, library):
    path = web_folder / "models/joseki/torn.joseki"
    path.write_bytes(b"zugwerk joseki library 3\n" + b"\0" * 40)
    try:
        assert "damaged" in ask(client, "joseki/position", 400, library="torn")["error"]
        found = ask(client, "joseki/libraries")
        assert [one["name"] for one in found["libraries"]] == ["library"]
        assert "torn.joseki: damaged" in found["problems"][0]
    finally:
        path.unlink()


@pytest.mark.slow
def test_the_page_searches_a_record_by_keyboard(open_page, records):
    page = open_page(f"#/analyse?source=file:{records}/a.sgf&game=1&ply=4")
    page.get_by_role("tab", name="Elsewhere").click()
    found = page.locator(".found")
    found.get_by_role("button", name="cid \u2013 dan, move 4, White won").wait_for()
    page.get_by_role("button", name="Play F17 F3, Black").focus()
    page.keyboard.press("Enter")
    page.see("Move 5 of 5")
    found.get_by_role("button", name="ann \u2013 bob, move 5, Black won").wait_for()
    page.get_by_label("Find", exact=True).select_option(label="the top right corner")
    found.get_by_role("button", name="ann \u2013 bob, move 1, Black won").first.wait_for()
    page.fine(PHONE)
    found.get_by_role("button", name="cid \u2013 dan, move 2, White won").first.click()
    page.see("Move 2 of 5")
    assert "b.sgf" in page.url


def test_the_page_by_mouse_and_keyboard(open_page, library):
    page = open_page("#/joseki?moves=D16,Q4")
    page.push("Play F17 C14, top left")
    page.see("White to play, move 4")
    assert "moves=D16%2CQ4%2CF17" in page.url
    cell = page.locator('[data-cell="Q16"]')
    cell.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.see("Black to play, move 5")
    assert page.locator('[data-cell="Q15"]').get_attribute("aria-label") == "Q15, white stone, last move"
    page.push("One move back")
    page.see("White to play, move 4")
    page.get_by_label("the bottom right corner").check()
    page.get_by_role("heading", name="The bottom right corner").wait_for()
    page.get_by_text("Patterns of this library that share a code").click()
    page.see("a number that another pattern has too")
    page.fine(PHONE)


def test_the_page_opens_a_game_and_follows_it(open_page, library):
    page = open_page("#/joseki?moves=D16,Q4", PHONE)
    page.get_by_role("button", name="Open game 2 at move 2").first.click()
    page.see("Next: R14")
    page.push("One move on")
    page.see("White to play, move 4")
    page.push("Close")
    page.expected = ["400"]
    page.evaluate("location.hash = '#/joseki?moves=A1,A1'")
    page.see("move 2, A1, is not legal here")


def test_without_a_library_the_page_says_how_to_make_one(open_page, server):
    page = open_page()
    page.route("**/api/joseki/libraries", lambda route: route.fulfill(json={"libraries": [], "problems": []}))
    page.evaluate("location.hash = '#/joseki'")
    page.see("dvc repro joseki_build")
