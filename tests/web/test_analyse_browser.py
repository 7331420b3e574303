"""The page Analyse in a browser."""

import re
import shutil
from pathlib import Path

import pytest

from pipeline_src.records.psq import write_psq
from tests.web.conftest import PHONE, fits, violations
from tests.web.test_analyse import GOMOKU, VARIED
from tests.web.test_analyse import record_file as record_file


def test_the_page_analyses_a_game_by_mouse_and_keyboard(open_page, web_folder, record_file):
    page = open_page("#/analyse")
    page.get_by_role("button", name="records/amazons/games.parquet").click()
    page.get_by_role("button", name="Game 2").click()
    page.get_by_text("3 moves").first.wait_for()
    page.get_by_label("Player").fill("alphabeta:width=3")
    page.get_by_label("Milliseconds a position").fill("5")
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.get_by_text("4 of 4 positions").wait_for()
    page.get_by_role("button", name="Next move").click()
    page.get_by_text("Move 1 of 3").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_text("Move 2 of 3").wait_for()
    chart = page.get_by_role("slider", name="Win rate over the game")
    assert chart.is_visible()
    chart.focus()
    page.keyboard.press("End")
    page.get_by_text("Move 3 of 3").wait_for()
    chart.locator("svg .mark-line path").first.wait_for(state="attached")
    chart.click(position={"x": 50, "y": 80})
    page.get_by_text("Move 0 of 3").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export .sgf").click()
    assert "first side wins" in Path(download.value.path()).read_text()
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_the_page_lists_files_by_their_numbers(open_page, web_folder):
    (web_folder / "numbered").mkdir()
    for number in (10, 2, 1):
        (web_folder / f"numbered/g{number}.sgf").write_text("(;GM[4]SZ[15];B[hh])")
    page = open_page("#/analyse")
    files = page.get_by_role("button", name=re.compile("numbered"))
    files.nth(2).wait_for()
    found = files.all_inner_texts()
    shutil.rmtree(web_folder / "numbered")  # other tests read the folder, too
    assert found == ["g1.sgf", "g2.sgf", "g10.sgf"]


def test_the_page_grows_variations_and_keeps_them(open_page, tmp_path):
    page = open_page("#/analyse?game=gomoku&size=15&variant=freestyle")
    play = lambda cell: page.locator(f"[data-cell={cell}]").click()  # noqa: E731
    page.locator(".board.live").wait_for()
    assert page.locator(".chart").is_hidden(), "there is no curve yet"
    for k, cell in enumerate(("h8", "i9", "h7"), 1):
        page.locator(".board.live").wait_for()
        play(cell)
        page.get_by_text(f"Move {k} of {k}").wait_for()
    page.get_by_role("button", name="Previous move").click()
    page.locator(".board.live").wait_for()
    play("j10")
    page.get_by_text("Move 3 of 3, a variation").wait_for()
    page.get_by_text("Name, comment, variations").click()
    page.get_by_label("Name of the position").fill("aside")
    page.get_by_role("textbox", name="Comment").fill("too far]")
    turns = page.get_by_role("group", name="Moves")
    assert turns.get_by_role("group", name="Variation of move 3").inner_text().split() == ["2.", "j10", "aside", "✎"]
    page.get_by_role("button", name="Make main line").click()
    page.get_by_text("Move 3 of 3", exact=True).wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export .sgf").click()
    text = Path(download.value.path()).read_text()
    assert ";B[hh];W[ig](;B[jf]C[too far\\]]N[aside])(;B[hi])" in text
    page.get_by_role("button", name="Delete from here").click()
    page.get_by_text("Move 2 of 3").wait_for()
    assert turns.get_by_role("group").count() == 0
    page.get_by_role("button", name="Undo deletion").click()
    page.get_by_text("Move 3 of 3", exact=True).wait_for()
    page.reload()
    page.get_by_text("Move 3 of 3", exact=True).wait_for()
    assert turns.get_by_role("group", name="Variation of move 3").inner_text().split() == ["2.", "h7"]
    page.get_by_text("Name, comment, variations").click()
    assert page.get_by_role("textbox", name="Comment").input_value() == "too far]"
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_changes_of_one_file_do_not_show_in_another(open_page, web_folder):
    (web_folder / "lessons").mkdir()
    for name, rest in (("a", ";W[ii]C[of file A]"), ("b", "(;W[ii]C[of file B])(;W[aa]C[aside])")):
        (web_folder / f"lessons/{name}.sgf").write_text(f"(;GM[4]SZ[15];B[hh]{rest})")
    page = open_page("#/analyse")
    page.get_by_role("button", name="a.sgf").click()
    page.get_by_text("Name, comment, variations").click()
    page.get_by_role("button", name="Next move").click()
    page.get_by_label("Name of the position").fill("mine")
    page.get_by_role("group", name="Moves").get_by_text("mine").wait_for()
    page.goto(page.url.partition("#")[0] + "#/analyse")
    page.get_by_role("button", name="b.sgf").click()
    page.get_by_role("group", name="Variation of move 2").wait_for()
    assert page.get_by_role("group", name="Moves").get_by_text("mine").count() == 0
    page.goto(page.url.partition("#")[0] + "#/analyse")
    page.get_by_role("button", name="a.sgf").click()
    page.get_by_role("group", name="Moves").get_by_text("mine").wait_for()
    shutil.rmtree(web_folder / "lessons")  # other tests read the folder, too


def test_kept_changes_survive_a_failure_to_show_them(open_page):
    page = open_page("#/analyse?game=gomoku&size=15&variant=freestyle")
    page.locator(".board.live").wait_for()
    page.locator("[data-cell=h8]").click()
    page.get_by_text("Move 1 of 1").wait_for()

    def fail(route):
        if route.request.post_data_json.get("nodes"):
            route.fulfill(status=500, json={"error": "out of order"})
        else:
            route.continue_()

    page.expected = ("500",)
    page.route("**/analyse/tree", fail)
    page.reload()
    page.get_by_text("are kept, but not shown here: out of order").wait_for()
    page.locator(".board.live").wait_for()
    page.locator("[data-cell=a1]").click()
    page.get_by_text("Move 1 of 1").wait_for()
    page.unroute("**/analyse/tree")
    page.goto(page.url.partition("&at=")[0])
    page.reload()
    page.get_by_role("group", name="Moves").get_by_text("h8").wait_for()
    assert page.get_by_text("but not shown here").count() == 0


def test_two_tabs_do_not_overwrite_each_other(open_page):
    page = open_page("#/analyse?game=gomoku&size=15&variant=freestyle")
    page.locator(".board.live").wait_for()
    other = page.context.new_page()
    other.goto(page.url)
    other.locator(".board.live").wait_for()
    page.locator("[data-cell=h8]").click()
    page.get_by_text("Move 1 of 1").wait_for()
    other.get_by_text("but not shown here: another tab made them.").wait_for()
    other.locator("[data-cell=a1]").click()
    other.get_by_text("Move 1 of 1").wait_for()
    other.goto(other.url.partition("&at=")[0])
    other.reload()
    other.get_by_role("group", name="Moves").get_by_text("h8").wait_for()
    assert other.get_by_role("group", name="Moves").get_by_text("a1").count() == 0


def test_page_marks_mistakes_and_adds_better_moves(open_page):
    page = open_page("#/analyse?game=gomoku&size=15&moves=h8,i9,h9,i8,h10,a1,h11,a3,h12&judge=1", PHONE)
    page.get_by_text("10 of 10 positions").wait_for()
    button = page.get_by_role("button", name=re.compile(r"^6\. a1 \?\? "))
    button.wait_for()
    assert "??" in page.get_by_role("group", name="Moves").get_by_role("button", name=re.compile("^a1")).inner_text()
    button.click()
    page.get_by_text("Move 6 of 9").wait_for()
    text = page.locator(".lines strong", has_text="better").inner_text()
    page.get_by_role("button", name="Add what was better than move 6 as a variation").click()
    page.get_by_text("a variation").wait_for()
    variation = page.get_by_role("group", name="Variation of move 6").inner_text()
    assert "better, by engine" in variation
    assert text.split()[1] in variation
    assert violations(page) == []
    assert fits(page)


def test_page_plays_amazons_turns_from_a_set_up_position(open_page):
    page = open_page("#/analyse")
    page.get_by_role("button", name="Set up a position").click()
    page.get_by_role("button", name="Clear the board").click()
    page.locator("[data-cell=a1]").click()
    page.get_by_label("Black amazon").check()
    page.locator("[data-cell=j10]").click()
    page.get_by_role("button", name="Analyse this position").click()
    page.get_by_text("Move 0 of 0").wait_for()  # the board that was set up has gone
    for cell in ("a1", "a3", "a1"):
        page.locator(f".board.live .cell.legal[data-cell={cell}]").click()
    page.get_by_text("Move 1 of 1").wait_for()
    assert page.locator(".turns button").all_inner_texts() == ["a1-a3/a1"]
    assert violations(page) == []


def test_the_page_reads_a_text_and_shows_variations_of_sgf(open_page):
    page = open_page("#/analyse", PHONE)
    box = page.get_by_label("Moves, a FEN, SGF")
    page.get_by_label("Gomoku", exact=True).check()
    box.fill("h8 h8")
    page.expected = ["400"]
    page.get_by_role("button", name="Read the text").click()
    page.get_by_text("move 2, h8, is not legal here").wait_for()
    box.fill(VARIED.decode())
    page.get_by_role("button", name="Read the text").click()
    page.get_by_role("button", name="g9 side").click()
    page.get_by_text("Move 2 of 3, a variation").wait_for()
    page.get_by_text("Move 4, h8, is not legal; it is left out").wait_for()
    assert violations(page) == []
    assert fits(page)


def test_page_lists_games_of_a_collection(open_page, tmp_path):
    page = open_page("#/analyse", PHONE)
    path = tmp_path / "three.sgf"
    path.write_text("(;GM[4]SZ[15]PB[ann];B[hh];W[ii])\n(;GM[4]SZ[15];W[hh])\n(;GM[4]SZ[15]PB[cid];B[gg])")
    page.set_input_files("input[type=file]", path)
    page.get_by_text("1 more cannot be read. three.sgf (game 2 of 3): White moves where Black should").wait_for()
    assert page.get_by_role("button", name="Game ").all_inner_texts() == ["Game 1", "Game 3"]
    assert violations(page) == []
    assert fits(page)
    page.get_by_role("button", name="Game 3").click()
    page.get_by_text("three.sgf, game 3: 1 moves").wait_for()


def test_the_page_opens_a_file_of_the_user(open_page, tmp_path):
    page = open_page("#/analyse", PHONE)
    path = tmp_path / "mine.psq"
    path.write_text(write_psq(GOMOKU))
    page.set_input_files("input[type=file]", path)
    page.get_by_text("12 moves").first.wait_for()
    page.expected = ["400"]
    path.write_text("hello")
    page.get_by_role("button", name="Open another").click()
    page.set_input_files("input[type=file]", path)
    page.get_by_text("not a record").wait_for()
    assert fits(page)


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
