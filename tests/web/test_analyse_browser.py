"""The page Analyse in a browser."""

import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from pipeline_src.records.psq import write_psq
from tests.web.conftest import PHONE, WIDE, fits, push_play, see, solve_forced_win, touch, violations
from tests.web.test_analyse import GOMOKU, VARIED
from tests.web.test_analyse import record_file as record_file

LOST = "game=gomoku&size=15&variant=freestyle&moves=h8,i9,h9,i8,h10,a1,h11,a3,h12"


def choose_player(page, text):
    """Have the page analyse with a player that is not in its list."""
    page.get_by_label("Player", exact=True).select_option("another player …")
    page.get_by_label("Text of the player").fill(text)
    page.keyboard.press("Enter")  # which also begins


def test_analysis_survives_a_reload_and_a_deeper_value_replaces_it(open_page):
    page = open_page(f"#/analyse?{LOST}&judge=1&nodes=5000")
    page.see("10 of 10 positions, 5.0 k nodes each", "Move 6 of 9", "From there on the loss of White was forced.")
    page.push("Think", "Previous move", "Previous move")
    page.see("Move 4 of 9")
    shallow = page.locator(".lines p small").inner_text()
    page.wait_for_url(re.compile("ply=4.*judge=1.*player=engine.*nodes=5000"))
    page.reload()
    page.see("Move 4 of 9", "From there on the loss of White was forced.")
    assert page.locator(".lines p small").inner_text() == shallow
    page.push("Analyse i8 deeper")
    page.get_by_text(shallow).wait_for(state="detached")
    page.reload()
    page.see("Move 4 of 9")
    assert page.locator(".lines p small").inner_text() != shallow


@pytest.mark.parametrize("size", [{"width": 1366, "height": 768}, WIDE, PHONE], ids=["1366x768", "1300x900", "400"])
@pytest.mark.parametrize("game", ["amazons&size=10&variant=standard", "gomoku&size=15&variant=freestyle"])
def test_board_and_its_steps_end_above_the_fold(open_page, game, size):
    page = open_page(f"#/analyse?game={game}", size)
    page.locator(".board.live").wait_for()
    for place in (".board", ".steps"):
        box = page.locator(place).bounding_box()
        assert box["y"] + box["height"] <= size["height"], place
    page.fine()


PASTE = """(text) => { const data = new DataTransfer(); data.setData("text/plain", text);
    const all = { clipboardData: data, bubbles: true, cancelable: true };
    document.body.dispatchEvent(new ClipboardEvent("paste", all)); }"""

DROP = """() => { const data = new DataTransfer();
    data.items.add(new File([new Uint8Array([255, 216, 0, 16])], "photo.jpg"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })); }"""


def test_text_pasted_anywhere_opens_a_board(open_page):
    page = open_page("#/play")
    page.see("New game")
    page.evaluate(PASTE, "hello world")
    page.see("hello is no move")
    page.expected = ["400"]
    page.evaluate(PASTE, "(;GM[4]SZ[15];B[hh]")
    page.see("pasted: ")
    page.evaluate(DROP)
    page.see("photo.jpg is no record of a game: it holds no text.")
    assert page.get_by_text("New game").count(), "the page stays"
    page.goto(page.url.split("#")[0] + "#/analyse")
    page.see("Drop a record on any page")
    page.evaluate(DROP)
    page.locator("#refused", has_text="photo.jpg is no record").wait_for()
    for text, path in (
        ("7,7 8,8", "h8,i7"),
        ("D1-D7(G7)", "d1-d7/g7"),
        ("d1d7g7 a7f2i5", "d1-d7/g7,a7-f2/i5"),
        ("5/5/2x2/5/5 w", "fen=5/5/2x2/5/5"),
        ("(;GM[4]SZ[15];B[hh];W[ig];B[hi])", "source=upload"),
        ("Piskvorky 15x15, 1:1, 0\n8,8,0\n9,9,0\n-1\n", "source=upload"),
    ):
        page.evaluate(PASTE, text)
        page.wait_for_function("(path) => decodeURIComponent(location.hash).includes(path)", arg=path)
        page.locator(".board").wait_for()


@pytest.mark.parametrize("path", ["analyse", "play"])
def test_link_with_illegal_move_offers_the_moves_before(open_page, path):
    page = open_page(f"#/{path}?game=gomoku&size=15&variant=freestyle&moves=h8,i9,h8,i8")
    page.expected = ["400"]
    page.get_by_role("link", name="Show the 2 moves before it").click()
    page.get_by_role("gridcell", name=re.compile("^i9, white stone")).wait_for()
    assert page.get_by_text("not legal").count() == 0


def test_unknown_player_is_named_once_with_another(open_page):
    place = "game=gomoku&size=15&variant=freestyle&moves=h8"
    page = open_page(f"#/analyse?{place}&judge=1&nodes=1000&player=nobody")
    page.see("There is no player nobody here; engine analyses instead.", "2 of 2 positions")
    assert page.locator("main").inner_text().count("nobody") == 1
    assert "1.0" not in page.locator(".chart svg").text_content(), "whole moves"
    page.goto(page.url.split("#")[0] + f"#/play?{place}&first=person&second=nobody")
    page.see("There is no player nobody on this board; level")


def test_position_set_up_by_clicks_in_turn_is_played_from(open_page):
    page = open_page("#/play")
    page.get_by_label("Gomoku", exact=True).check()
    page.get_by_role("link", name="Set up a position").click()
    page.touch("h8", "h9", "h10")
    page.see("White to move.")
    page.push("Play from here")
    page.see("Play on from here", "A position of your own.")
    push_play(page)
    page.get_by_text("White You").wait_for()
    page.see("Your turn.")
    assert page.evaluate("document.activeElement.dataset.cell") == "h8"


def test_tabs_below_thoughts_never_jump_up(open_page, record_file):
    page = open_page("#/analyse")
    page.push("records/amazons/games.parquet", "Game 2")
    choose_player(page, "alphabeta:width=3")
    page.see("4 of 4 positions")
    page.evaluate(
        """() => {
            const tab = document.querySelector("[role=tab]"), tops = window.tops = [];
            (function look() { tops.push(tab.getBoundingClientRect().top); requestAnimationFrame(look); })();
        }"""
    )
    for key, move in (("End", 3), ("ArrowLeft", 2), ("ArrowLeft", 1)):  # nothing is known of these positions
        page.keyboard.press(key)
        page.see(f"Move {move} of 3")
        page.locator(".candidates li").nth(2).wait_for()
    tops = page.evaluate("window.tops")
    assert all(after > before - 1 for before, after in pairwise(tops))


def test_the_page_analyses_a_game_by_mouse_and_keyboard(open_page, web_folder, record_file):
    page = open_page("#/analyse")
    page.push("records/amazons/games.parquet", "Game 2")
    page.see("3 moves")
    choose_player(page, "alphabeta:width=3")
    page.see("4 of 4 positions")
    page.push("Analyse game")  # all is known
    page.see("4 of 4 positions")
    page.push("Next move")
    page.see("Move 1 of 3", "4 of 4 positions")
    page.keyboard.press("ArrowRight")
    page.see("Move 2 of 3")
    chart = page.get_by_role("slider", name="Win rate of White over the game")
    chart.wait_for()
    chart.focus()
    page.keyboard.press("End")
    page.see("Move 3 of 3")
    chart.locator("svg .mark-line path").first.wait_for(state="attached")
    chart.click(position={"x": 50, "y": 80})
    page.see("Move 0 of 3")
    page.get_by_role("tab", name="Tools").click()
    with page.expect_download() as download:
        page.push("Export .sgf")
    assert "first side wins" in Path(download.value.path()).read_text()
    page.fine(PHONE)


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
    page.push("Think")  # no longer: what it says would stand in the file
    for k, cell in enumerate(("h8", "i9", "h7"), 1):
        page.locator(".board.live").wait_for()
        play(cell)
        page.see(f"Move {k} of {k}")
    page.see("Gingetsu (I9)")
    page.push("Previous move")
    page.locator(".board.live").wait_for()
    play("j10")
    page.see("Move 3 of 3, a variation")
    page.get_by_role("tab", name="Notes").click()
    page.get_by_label("Name of the position").fill("aside")
    page.get_by_role("textbox", name="Comment").fill("too far]")
    page.get_by_role("tab", name="Moves").click()
    turns = page.get_by_role("group", name="Moves")
    shown = turns.get_by_role("group", name="Variation of move 3").inner_text().split()
    assert shown == ["2.", "j10", "aside", "✎"]
    page.get_by_role("tab", name="Notes").click()
    page.push("Make main line")
    page.get_by_text("Move 3 of 3", exact=True).wait_for()
    page.get_by_role("tab", name="Tools").click()
    with page.expect_download() as download:
        page.push("Export .sgf")
    text = Path(download.value.path()).read_text()
    assert ";B[hh];W[ig](;B[jf]C[too far\\]]N[aside])(;B[hi])" in text
    page.get_by_role("tab", name="Notes").click()
    page.push("Delete from here")
    page.see("Move 2 of 3")
    assert page.locator(".turns .variation").count() == 0
    page.push("Undo deletion")
    page.get_by_text("Move 3 of 3", exact=True).wait_for()
    page.wait_for_url(re.compile("ply=3"))  # written after all that shows
    page.reload()
    page.get_by_text("Move 3 of 3", exact=True).wait_for()
    assert turns.get_by_role("group", name="Variation of move 3").inner_text().split()[:2] == ["2.", "h7"]
    page.get_by_role("tab", name="Notes").click()
    assert page.get_by_role("textbox", name="Comment").input_value() == "too far]"
    page.fine(PHONE)


def test_changes_of_one_file_do_not_show_in_another(open_page, web_folder):
    (web_folder / "lessons").mkdir()
    for name, rest in (("a", ";W[ii]C[of file A]"), ("b", "(;W[ii]C[of file B])(;W[aa]C[aside])")):
        (web_folder / f"lessons/{name}.sgf").write_text(f"(;GM[4]SZ[15];B[hh]{rest})")
    page = open_page("#/analyse")
    page.push("a.sgf")
    page.get_by_role("tab", name="Notes").click()
    page.push("Next move")
    page.get_by_label("Name of the position").fill("mine")
    page.get_by_role("tab", name="Moves").click()
    page.get_by_role("group", name="Moves").get_by_text("mine").wait_for()
    page.goto(page.url.partition("#")[0] + "#/analyse")
    page.push("b.sgf")
    page.get_by_role("group", name="Variation of move 2").wait_for()
    assert page.get_by_role("group", name="Moves").get_by_text("mine").count() == 0
    page.goto(page.url.partition("#")[0] + "#/analyse")
    page.push("a.sgf")
    page.get_by_role("group", name="Moves").get_by_text("mine").wait_for()
    shutil.rmtree(web_folder / "lessons")  # other tests read the folder, too


def test_kept_changes_survive_a_failure_to_show_them(open_page):
    page = open_page("#/analyse?game=gomoku&size=15&variant=freestyle")
    page.locator(".board.live").wait_for()
    page.touch("h8")
    page.see("Move 1 of 1")

    def fail(route):
        if route.request.post_data_json.get("nodes"):
            route.fulfill(status=500, json={"error": "out of order"})
        else:
            route.continue_()

    page.expected = ("500",)
    page.route("**/analyse/tree", fail)
    page.reload()
    page.see("are kept, but not shown here: out of order")
    page.locator(".board.live").wait_for()
    page.touch("a1")
    page.see("Move 1 of 1")
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
    page.touch("h8")
    page.see("Move 1 of 1")
    see(other, "but not shown here: another tab made them.")
    touch(other, "a1")
    see(other, "Move 1 of 1")
    other.goto(other.url.partition("&at=")[0])
    other.reload()
    other.get_by_role("group", name="Moves").get_by_text("h8").wait_for()
    assert other.get_by_role("group", name="Moves").get_by_text("a1").count() == 0


ROWS = """async (moves) => {
  const app = document.querySelector("script[src*='app.js']").src;
  const { Candidates } = await import(new URL("analyse/candidates.js", app));
  const about = { player: () => "zero", rate: (_, rate) => rate, side: "Black", onpoint: () => 0, ondraw: () => 0 };
  const one = globalThis.rows ??= new Candidates(about), line = { value: 0, win_rate: 0.5, depth: 1, visits: 1 };
  if (!one.element.isConnected) document.body.prepend(one.element);
  Object.assign(one, { on: true, node: "position" });
  one.thoughts.set("position", { player: "zero", nodes: 9, lines: moves.map((move) => ({ ...line, moves: [move] })) });
  one.draw();
  return [...one.list.querySelectorAll("strong")].map((move) => move.textContent);
}"""


def test_best_moves_stay_under_the_pointer(open_page):
    page = open_page("#/analyse")
    page.get_by_role("heading", name="Find the move").wait_for()
    assert page.evaluate(ROWS, ["a1", "b2"]) == ["a1", "b2"]
    assert page.evaluate(ROWS, ["b2", "a1"]) == ["b2", "a1"]
    page.locator(".candidates li").first.hover()
    assert page.evaluate(ROWS, ["a1", "b2"]) == ["b2", "a1"]
    assert page.evaluate(ROWS, ["c3", "b2"]) == ["b2", "c3"]
    page.mouse.move(0, 0)
    assert page.evaluate(ROWS, ["c3", "b2"]) == ["c3", "b2"]


def test_page_marks_mistakes_and_adds_better_moves(open_page):
    page = open_page("#/analyse?game=gomoku&size=15&moves=h8,i9,h9,i8,h10,a1,h11,a3,h12&judge=1&nodes=5000", PHONE)
    page.see("10 of 10 positions")
    page.see("Move 6 of 9", re.compile("^After a1 .move 6. Black had a forced win; (h7|h11) was the point"))
    assert "??" in page.get_by_role("group", name="Moves").get_by_role("button", name=re.compile("^a1")).inner_text()
    page.get_by_role("tab", name="Mistakes").click()
    page.push("Next move", re.compile(r"^6\. a1 \?\? "))
    page.see("Move 6 of 9")
    box = page.locator(".board").bounding_box()
    assert box["y"] >= -box["height"] / 2, f"the list is far below the board, which comes back into sight: {box}"
    text = page.locator(".lines strong", has_text="better").inner_text()
    page.push("Add what was better than move 6 as a variation")
    page.see("a variation")
    page.get_by_role("tab", name="Moves").click()
    variation = page.get_by_role("group", name="Variation of move 6").inner_text()
    assert "better, by engine" in variation
    assert text.split()[1] in variation
    page.fine()


def test_page_plays_amazons_turns_from_a_set_up_position(open_page):
    page = open_page("#/analyse")
    page.push("Set up a position", "Clear the board")
    page.touch("a1")
    page.get_by_label("Black amazon").check()
    page.touch("j10")
    page.push("Analyse this position")
    page.get_by_text("Move 0 of 0").wait_for()  # the board that was set up has gone
    for cell in ("a1", "a3", "a1"):
        page.locator(f".board.live .cell.legal[data-cell={cell}]").click()
    page.see("Move 1 of 1")
    (turn,) = page.locator(".turns button").all_inner_texts()
    assert turn.split()[0] == "a1-a3/a1"
    assert violations(page) == []


def test_the_page_reads_a_text_and_shows_variations_of_sgf(open_page):
    page = open_page("#/analyse", PHONE)
    box = page.get_by_label("Moves, a FEN, SGF")
    page.get_by_label("Gomoku", exact=True).check()
    box.fill("h8 h8")
    page.expected = ["400"]
    page.push("Read the text")
    page.see("move 2, h8, is not legal here")
    box.fill(VARIED.decode())
    page.push("Read the text", "g9 side")
    page.see("Move 2 of 3, a variation", "Move 4, h8, is not legal: left out")
    page.fine()


def test_page_lists_games_of_a_collection(open_page, tmp_path):
    page = open_page("#/analyse", PHONE)
    path = tmp_path / "three.sgf"
    path.write_text("(;GM[4]SZ[15]PB[ann];B[hh];W[ii])\n(;GM[4]SZ[15];W[hh])\n(;GM[4]SZ[15]PB[cid];B[gg])")
    page.set_input_files("input[type=file]", path)
    page.see("1 more cannot be read. three.sgf (game 2 of 3): White moves where Black should")
    assert page.get_by_role("button", name="Game ").all_inner_texts() == ["Game 1", "Game 3"]
    page.fine()
    page.push("Game 3")
    page.see("three.sgf, game 3: 1 move")


def test_the_page_opens_a_file_of_the_user(open_page, tmp_path):
    page = open_page("#/analyse", PHONE)
    path = tmp_path / "mine.psq"
    path.write_text(write_psq(GOMOKU))
    page.set_input_files("input[type=file]", path)
    page.see("12 moves")
    page.expected = ["400"]
    path.write_text("hello")
    page.push("Open another")
    page.set_input_files("input[type=file]", path)
    page.see("not a record")
    assert fits(page)


def test_the_page_lists_the_best_moves_and_plays_one(open_page):
    page = open_page("#/analyse?game=gomoku&size=15&variant=freestyle&moves=h8,i9,g8")
    moves = page.get_by_role("list", name="Best moves, with win rates of Black").locator("li > button:first-child")
    moves.nth(2).wait_for()
    page.get_by_label("Number of best moves").select_option("5")
    moves.nth(4).wait_for()
    assert page.locator(".board .over circle").count() == 5
    assert violations(page) == []
    page.push("Think")
    page.get_by_text("off", exact=True).wait_for()
    moves.first.wait_for(state="detached")
    page.push("Think")
    moves.first.focus()
    page.keyboard.press("Enter")
    page.see("Move 4 of 4")
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_page_leaves_unfinished_amazons_turn_alone_during_search(open_page):
    page = open_page("#/analyse?game=amazons&size=6&variant=standard", PHONE)
    moves = page.get_by_role("list", name="Best moves, with win rates of White").locator("li > button:first-child")
    moves.nth(2).wait_for()
    page.touch("b1")
    page.locator(".board .selected").wait_for(state="attached")
    before = page.get_by_text("nodes; win rates of White").inner_text()
    page.wait_for_function("(before) => !document.body.innerText.includes(before)", arg=before)
    assert page.locator(".board .selected").count() == 1
    page.touch("b3", "b1")
    page.see("Move 1 of 1")


@pytest.mark.slow
def test_the_page_asks_for_a_forced_win_and_answers(open_page):
    page = open_page("#/analyse", PHONE)
    page.push("Forced wins of Gomoku")
    page.see("to move wins by force")
    page.fine()
    solve_forced_win(page)
    page.push("Next")
    page.see("Forced win 2 of")
    page.reload()
    page.see("Forced win 2 of")
    page.push("Previous")
    page.get_by_role("heading", name="solved").wait_for()


@pytest.mark.slow
def test_the_win_that_is_shown_is_that_of_its_move(open_page):
    page = open_page("#/analyse?game=gomoku&size=15&variant=freestyle&moves=h8,a1,i8,a15,j8,o1&ply=6")
    rows = page.locator(".candidates li")
    for move in ("k8", "g8"):
        said = page.locator(".lines p", has_text=re.compile(rf"Black wins by\s+{move}"))
        for _ in range(20):  # rows change places while it thinks, also between the look for one and the click
            rows.filter(has_text=f" {move} wins in 2").get_by_role("button", name="Show the win").click()
            page.locator(".lines p", has_text="Black wins by").wait_for()
            page.wait_for_timeout(2000)
            if said.count():
                break
        assert len(said.inner_text().split()) == 3 + 3
    page.push("Think")
    page.get_by_text("off", exact=True).wait_for()
    assert page.locator(".board .over .marker-label", has_text="#").count() == 0


@pytest.mark.slow
def test_a_deeper_analysis_stays_in_the_address(open_page):
    page = open_page("#/analyse?game=gomoku&size=9&variant=freestyle&moves=e5,a1&judge=1")
    page.see("3 of 3 positions, 50 k nodes each")
    page.get_by_role("button", name="Deeper", exact=True).click()
    page.see("3 of 3 positions, 200 k nodes each")
    page.wait_for_url(re.compile("nodes=200000"))
    page.reload()
    page.see("3 of 3 positions, 200 k nodes each")
    page.get_by_role("button", name="Deeper", exact=True).wait_for()
    page.get_by_label("Player", exact=True).select_option("zero")
    budgets = page.get_by_label("Budget a position").locator("option").all_inner_texts()
    assert budgets[0] == "400 simulations"
    assert "200 k simulations" not in budgets
    page.get_by_label("Player", exact=True).select_option("another player …")
    page.get_by_text("zero: ").first.wait_for()
    assert page.get_by_text("?: ").count() == 0


@pytest.mark.slow
def test_a_win_that_takes_longer_is_called_so(open_page):
    page = open_page("#/analyse?puzzle=forced-3")
    page.see("in 3 moves at most")
    page.locator(".board.live [data-cell=a1]").click()
    page.see(re.compile(r"^a1 wins too, but there is a shorter way\. .* holds out longest"))


@pytest.mark.slow
def test_worst_turns_of_own_game_become_puzzles(open_page):
    moves = "h8,i9,h9,i8,h10,a1,h11,a3,h12"
    page = open_page(f"#/analyse?game=gomoku&size=15&moves={moves}&judge=1&nodes=5000&second_name=You", PHONE)
    page.see("10 of 10 positions")
    page.get_by_role("tab", name="Mistakes").click()
    page.push("Find the better moves")
    page.see("White to move. In your game")
    played = re.search(r"In your game (\S+) gave", page.locator("main").inner_text())[1]
    page.locator(f".board.live [data-cell={played}]").click()
    page.see(re.compile(f"^{played} gives away .*, as in your game. Try another move."))
    page.locator(".board.live [data-cell=o1]").click()
    page.see(re.compile("^o1 gives away"))
    page.fine()
    page.push("Show the answer")
    page.see(re.compile(r" is better[:.]$"))
    best = page.locator("p.status").inner_text().split()[0]
    page.locator(f".board.live [data-cell={best}]").click()
    page.see(f"{best} is right. Solved.")
    page.reload()
    page.get_by_role("heading", name="solved").wait_for()


@pytest.mark.slow
def test_best_turn_of_the_amazons_solves_its_puzzle(open_page):
    page = open_page("#/analyse")
    page.push("Turns of the Amazons")
    page.see("Turn 1 of", "One turn is far better than all others")
    page.push("Show the answer")
    page.see(re.compile(r" is better[:.]$"))
    best = page.locator("p.status").inner_text().split()[0]
    page.touch(*re.split("[-/]", best))
    page.see(f"{best} is right. Solved.")
    page.fine(PHONE)
    page.push("Next")
    page.see("Turn 2 of")
