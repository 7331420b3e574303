"""The joseki page: answers over a small library, and the page itself in a browser."""

import pytest

from pipeline_src.records.record import write_records
from pipeline_src.systems.joseki.code import pattern_code
from pipeline_src.systems.joseki.library import save
from pipeline_src.systems.joseki.recommend import SharedCodes, state_window
from tests.systems.joseki.games import at, random_record, record
from tests.systems.joseki.test_library import built
from tests.web.conftest import PHONE, ask, fits, violations

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
def test_bad_question_is_refused(client, library, query, words):
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


def test_the_page_by_mouse_and_keyboard(open_page, library):
    page = open_page("#/joseki?moves=D16,Q4")
    page.get_by_role("button", name="Play F17 C14, top left").click()
    page.get_by_text("White to play, move 4").wait_for()
    assert "moves=D16%2CQ4%2CF17" in page.url
    cell = page.locator('[data-cell="Q16"]')
    cell.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_text("Black to play, move 5").wait_for()
    assert page.locator('[data-cell="Q15"]').get_attribute("aria-label") == "Q15, white stone, last move"
    page.get_by_role("button", name="One move back").click()
    page.get_by_text("White to play, move 4").wait_for()
    page.get_by_label("the bottom right corner").check()
    page.get_by_role("heading", name="The bottom right corner").wait_for()
    page.get_by_text("Patterns of this library that share a code").click()
    page.get_by_text("a number that another pattern has too").wait_for()
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_the_page_opens_a_game_and_follows_it(open_page, library):
    page = open_page("#/joseki?moves=D16,Q4", PHONE)
    page.get_by_role("button", name="Open game 2 at move 2").first.click()
    page.get_by_text("Next: R14").wait_for()
    page.get_by_role("button", name="One move on").click()
    page.get_by_text("White to play, move 4").wait_for()
    page.get_by_role("button", name="Close").click()
    page.expected = ["400"]
    page.evaluate("location.hash = '#/joseki?moves=A1,A1'")
    page.get_by_text("move 2, A1, is not legal here").wait_for()


def test_without_a_library_the_page_says_how_to_make_one(open_page, server):
    page = open_page()
    page.route("**/api/joseki/libraries", lambda route: route.fulfill(json={"libraries": [], "problems": []}))
    page.evaluate("location.hash = '#/joseki'")
    page.get_by_text("dvc repro joseki_build").wait_for()
