"""The page Play in a browser: whole games, by mouse, by keyboard and by finger, and what can go wrong."""

import json
import os
import re
import signal
from pathlib import Path

import pytest

from pipeline_src.players.packaged import ladders
from tests.web.conftest import (
    PHONE,
    SETUP,
    WIDE,
    alive,
    fits,
    moves,
    play_amazons_by_mouse,
    push_play,
    put_stones,
    set_up,
    turn,
    violations,
)
from tests.web.test_game import SETTLED


def test_a_whole_game_of_gomoku_by_mouse(begin_game):
    page = begin_game(game="gomoku", size=5, variant="freestyle-3")
    put_stones(page, "a1", "a5", "b1", "b5", "c1")
    page.see("Black has won.")
    assert page.locator(".thought-card").is_hidden(), "nobody thinks"
    assert moves(page) == ["a1", "a5", "b1", "b5", "c1"]
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save .psq").click()
    assert saved.value.path().read_text().startswith("Piskvorky 5x5")
    page.push("Undo")
    page.see("Black to move.")
    assert moves(page) == ["a1", "a5", "b1", "b5"]


def test_a_game_that_is_over_is_analysed_with_one_click(begin_game):
    page = begin_game(game="gomoku", size=5, variant="freestyle-3")
    put_stones(page, "a1", "a5", "b1")
    page.push("Resign", "Yes, resign")
    page.see("Black has won.")
    page.set_viewport_size(PHONE)
    link = page.get_by_role("link", name="Analyse this game")
    assert link.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    link.click()
    page.see("3 moves, Black won by resignation", "4 of 4 positions")
    page.reload()
    page.see("3 moves, Black won by resignation")


def test_a_whole_game_of_gomoku_against_a_player_by_keyboard(begin_game):
    """The board has the keyboard, at its centre; then the whole board in order, until somebody has won."""
    page = begin_game(game="gomoku", size=5, variant="freestyle-3", player="random")
    page.wait_for_function("document.activeElement.dataset.cell === 'c3'")
    for key in ("ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.cell") == "a1"
    ways = ["ArrowRight"] * 4 + ["ArrowUp"] + ["ArrowLeft"] * 4 + ["ArrowUp"]
    for k in range(25):
        turn(page).wait_for()
        if page.locator(".status.over").count():
            break
        free, before = page.locator(".board.live .cell.legal:focus").count(), len(moves(page))
        page.keyboard.press("Enter")
        if free:  # else the player has its stone there
            page.locator(".moves .move").nth(before).wait_for()
        page.keyboard.press(ways[k % 10])
    assert re.search("has won|is drawn", page.locator(".status").inner_text())
    assert len(moves(page)) >= 5


def test_a_whole_game_of_the_amazons_by_mouse(begin_game):
    page = begin_game(game="amazons", size=6, variant="standard", player="random")
    play_amazons_by_mouse(page)
    assert len(moves(page)) >= 8


def test_a_turn_of_the_amazons_by_drag_and_by_keyboard(begin_game):
    page = begin_game(game="amazons", size=6, variant="standard")
    page.locator("[data-cell=b1]").hover()
    page.mouse.down()
    page.locator("[data-cell=b3]").hover()
    page.mouse.up()
    page.see("b1 to b3: choose the arrow's square")
    page.touch("b1")
    page.see("Black to move.")
    assert moves(page) == ["b1-b3/b1"]
    page.locator("[data-cell=a5]").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")  # she goes elsewhere
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.see("White to move.")
    assert moves(page) == ["b1-b3/b1", "a5-c5/b5"]
    assert page.locator("[role=gridcell][aria-label='c5, black amazon, moved last']").count() == 1


def test_a_game_in_one_file_is_chosen_and_begun(open_page):
    page = open_page("#/play")
    page.get_by_label("Others").check(force=True)
    page.get_by_label("Which").select_option(label="Connect Four")
    page.see("Connect Four: a stone falls to the lowest empty cell", "zugwerk learn connect_four --size 7 makes one")
    page.fine()
    push_play(page)
    page.touch("d1")
    page.locator(".moves .move").nth(1).wait_for()
    assert moves(page)[0] == "d"
    page.push("Hint")
    page.see("Hint: ")
    page.reload()
    page.see("Your turn.")
    page.fine(PHONE)


def test_a_game_in_one_file_is_analysed(begin_game):
    page = begin_game(game="connect_four", size=7, variant="standard")
    for cell in ("d1", "a1", "e1", "a2", "f1", "a3", "g1"):
        page.see(f"{'White' if cell[0] == 'a' else 'Black'} to move.")
        page.touch(cell)
    page.see("Black has won.")
    page.get_by_role("link", name="Analyse this game").click()
    page.see("7 moves, Black won", "8 of 8 positions")
    page.get_by_role("button", name="Previous move").click()
    page.see("Move 6 of 7")
    page.touch("b1")
    page.see("Move 7 of 7, a variation")
    page.get_by_role("tab", name="Tools").click()
    assert page.get_by_role("button", name=re.compile("SGF|sgf|Edit")).count() == 0
    page.fine(PHONE)
    page.get_by_role("button", name="Play from here").click()
    page.see("A position of Connect Four, after 7 moves.")
    page.push("Play")
    page.see("Your turn.")


def test_a_piece_is_moved_by_touch_drag_and_keyboard(begin_game):
    page = begin_game(game="breakthrough", size=6, variant="standard")
    page.touch("b2")
    assert page.locator(".target").count() == 3
    page.keyboard.press("Escape")
    assert page.locator(".target").count() == 0
    page.touch("b2", "c3")
    page.see("White to move.")
    page.locator("[data-cell=e5]").hover()
    page.mouse.down()
    page.locator("[data-cell=e4]").hover()
    page.mouse.up()
    page.see("Black to move.")
    page.locator("[data-cell=a2]").focus()
    for key in ("Enter", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    page.see("White to move.")
    assert moves(page) == ["b2-c3", "e5-e4", "a2-a3"]
    assert page.get_by_role("gridcell", name="a3, black stone, last move").count() == 1
    page.fine()


def test_hex_has_hexagons_and_othello_a_pass(open_page):
    page = open_page("#/play?game=hex&size=7&variant=standard&first=person&second=person")
    push_play(page)
    page.touch("d4")
    page.see("White to move.")
    assert page.locator(".hexagon").count() == 49
    page.fine(PHONE)
    played = "e3,e4,c5,b4,a3,d2,f4,b3,d1,e1,b2,c1"
    page = open_page(f"#/play?game=othello&size=6&variant=standard&moves={played}&first=person&second=person")
    page.push("Play", "Pass")
    page.see("White to move.")
    assert moves(page)[12:] == ["pass"]
    page.push("Undo")
    page.get_by_role("button", name="Pass").wait_for()


def test_reload_finds_the_game_and_link_shares_it(open_page):
    page = open_page()
    set_up(page, game="gomoku", size=7, variant="freestyle")
    page.touch("d4")
    page.see("White to move.")
    page.reload()
    page.see("White to move.")
    assert moves(page) == ["d4"]
    link = page.evaluate(
        "JSON.parse(Object.entries(localStorage).find(([k]) => k.startsWith('zugwerk.game.'))[1]).link"
    )
    other = open_page(link.split("/", 3)[3])
    other.see("A shared position of Gomoku, after 1 moves.")
    other.get_by_role("gridcell", name="d4, black stone, last move").wait_for()
    other.get_by_role("button", name="Play", exact=True).click()
    other.see("White to move.")


def go_on_without_the_server(page):
    """Continue the page's game as one that the server has lost, and whose setting is not kept."""
    page.evaluate(
        """() => { const key = Object.keys(localStorage).find((one) => one.startsWith("zugwerk.game."));
            localStorage.setItem("zugwerk.game.gone", localStorage.getItem(key));
            localStorage.removeItem("zugwerk.play.setup"); location.hash = "#/play?id=gone"; }"""
    )
    page.see("The server has no such game.")
    page.get_by_role("link", name="Go on from where it stood").click()


def test_game_lost_by_the_server_resumes_from_the_page(begin_game):
    page = begin_game(game="gomoku", size=7, variant="freestyle")
    page.touch("d4")
    page.see("White to move.")
    go_on_without_the_server(page)
    page.get_by_role("gridcell", name="d4, black stone, last move").wait_for()


def test_players_and_options_survive_a_lost_game(open_page):
    page = open_page()
    player = "alphabeta:movetime=50,width=3"
    set_up(page, game="gomoku", size=7, variant="freestyle", side=1, player=player)
    turn(page).wait_for()
    go_on_without_the_server(page)
    page.see("A shared position of Gomoku, after 1 moves.")
    assert page.get_by_label("White (second)").is_checked()
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url("**id=*")
    turn(page).wait_for()
    page.get_by_text("You", exact=True).wait_for()
    page.get_by_role("link", name="Other players").click()
    page.wait_for_url(lambda url: f"first={player.replace(':', '%3A').replace('=', '%3D').replace(',', '%2C')}" in url)
    page.get_by_label("Two people").check(force=True)
    page.get_by_role("button", name="Play", exact=True).click()
    page.see("White to move.")


def test_an_earlier_position_says_that_it_is_one(begin_game):
    page = begin_game(game="gomoku", size=7, variant="freestyle")
    put_stones(page, "d4", "e5")
    page.get_by_role("button", name="d4", exact=True).click()
    page.see("Looking at move 1 of 2.")
    page.push("Back to the game")
    page.see("Black to move.")


def test_a_server_that_does_not_answer_shows_as_waiting(open_page):
    page = open_page()
    held = []

    def route(wire):
        server = wire.connect_to_server()
        wire.on_message(lambda message: held.append(lambda: server.send(message)))

    page.route_web_socket(re.compile("/socket$"), route)
    set_up(page, game="gomoku", size=7, variant="freestyle")
    page.touch("d4")
    page.see("Waiting for the server …")
    held[0]()
    page.see("White to move.")


@pytest.mark.parametrize("kept", ["{", "null", "[1]", '{"game": "chess"}', '{"size": "x"}', '{"player gomoku": 7}'])
def test_a_damaged_setting_is_dropped(open_page, kept):
    page = open_page()
    page.evaluate("([key, value]) => localStorage.setItem(key, value)", [SETUP, kept])
    page.reload()
    page.get_by_role("button", name="Play", exact=True).wait_for()
    assert page.evaluate("(key) => localStorage.getItem(key)", SETUP) in (None, "null")


def test_dropped_connection_is_reported_and_restored(open_page):
    page = open_page()
    wires = []
    page.route_web_socket(re.compile("/socket$"), lambda wire: wires.append((wire, wire.connect_to_server())))
    set_up(page, game="gomoku", size=7, variant="freestyle")
    legal = page.locator(".cell.legal")
    legal.nth(48).wait_for()
    wires[-1][0].close(code=1001)
    page.see("The connection to the server is lost")
    page.get_by_text("The connection to the server is lost").wait_for(state="detached")
    legal.nth(48).wait_for()
    page.touch("d4")
    page.see("White to move.")
    assert len(wires) == 2


@pytest.mark.slow
def test_clock_stops_while_the_connection_is_lost(open_page):
    page = open_page("#/play?game=gomoku&size=9&variant=freestyle&moves=e5,a1")
    wires = []
    page.route_web_socket(re.compile("/socket$"), lambda wire: wires.append((wire, wire.connect_to_server())))
    page.get_by_text("Clock").click()
    page.get_by_label("Minutes a side").fill("5")
    push_play(page)
    page.touch("f5")
    page.see("White to move.")
    page.route_web_socket(re.compile("/socket$"), lambda _: None)  # nobody answers
    wires[-1][0].close(code=1001)
    page.see("The connection to the server is lost")
    clock = page.locator(".seat.to-move .clock")
    before = clock.inner_text()
    page.wait_for_timeout(2100)
    assert clock.inner_text() == before


def test_thoughts_are_drawn_and_killed_engine_is_asked_again(open_page, server):
    page = open_page()
    set_up(page, game="amazons", size=6, variant="standard", side=1, player="alphabeta:movetime=600000")
    page.locator(".thinking .line").wait_for()
    page.locator(".board .over line").first.wait_for()
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    for child in children:
        os.kill(int(child), signal.SIGKILL)
    page.see("killed by SIGKILL")
    assert alive(server)
    page.push("Ask it again")
    page.locator(".thinking .line").wait_for()
    page.push("Move now")
    page.see("Your turn.")
    assert len(moves(page)) == 1
    page.get_by_text("thought:").wait_for()  # it stays to be read
    assert int(page.locator(".figures dd").first.inner_text()) >= 1


def test_undo_takes_the_thought_back_too(begin_game):
    page = begin_game(game="gomoku", size=9, variant="freestyle", player="alphabeta:depth=2")
    put_stones(page, "e5")
    page.see("thought:")
    page.push("Undo")
    page.see("What a player thinks is shown here.")
    assert moves(page) == []


def test_move_is_drawn_before_the_server_answers(begin_game):
    page = begin_game(game="gomoku", size=9, variant="freestyle", player="random")
    drawn = page.evaluate(
        """() => {
            const cell = document.querySelector("[data-cell=e5]"), board = cell.closest("svg");
            const before = board.querySelectorAll(".stone").length;
            cell.firstChild.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, button: 0 }));
            return board.querySelectorAll(".stone").length - before;
        }"""
    )
    assert drawn == 1


def test_names_are_escaped(open_page):
    page = open_page("#/play?game=gomoku&size=5&variant=freestyle-3&moves=a1,<img src=x>")
    page.expected = ["400"]
    page.see("<img src=x>")
    assert page.locator("img[src=x]").count() == 0


def test_page_fits_a_phone_and_is_accessible(open_page):
    for scheme in ("light", "dark"):
        page = open_page("", PHONE, color_scheme=scheme)
        page.get_by_role("button", name="Play", exact=True).wait_for()
        page.fine()
        page.get_by_label("Opponent").select_option("alphabeta")
        page.get_by_text("All options of alphabeta").click()
        assert fits(page)
        set_up(page, game="gomoku", size=15, variant="freestyle", minutes="5")
        page.touch("h8")
        page.see("White to move.")
        page.fine()


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("game=amazons&size=7", "There is no board of size 7 for amazons, standard. Sizes: 10, 8, 6."),
        ("game=amazons&size=40", "There is no board of size 40 for amazons, standard. Sizes: 10, 8, 6."),
        ("game=amazons&size=99", "There is no board of size 99 for amazons"),
        ("size=99", "There is no board of size 99 for amazons"),
        ("game=amazons&size=8&variant=cross", "There is no board of size 8 for amazons, cross. Sizes: 10."),
        ("game=gomoku&size=99", "There is no board of size 99 for gomoku, freestyle. Sizes: 3 to 25."),
        ("game=gomoku&size=1e9", "There is no board of size 1e9 for gomoku"),
        ("game=gomoku&size=-3", "There is no board of size -3 for gomoku"),
        ("game=gomoku&size=7.5", "There is no board of size 7.5 for gomoku"),
        ("game=gomoku&size=7abc", "There is no board of size 7abc for gomoku"),
        ("game=gomoku&variant=chess", "There is no variant chess of gomoku. Variants: freestyle, exact, renju, caro."),
        ("game=gomoku&size=5&variant=exact-6", "There is no variant exact-6 of gomoku on a board of size 5."),
        ("game=gomoku&variant=renju-4", "There is no variant renju-4 of gomoku"),
        (
            "game=constructor",
            "There is no game constructor to play here. Games: amazons, gomoku, breakthrough, connect6,",
        ),
        ("game=go&size=9", "There is no game go to play here."),
    ],
)
def test_link_to_an_unknown_board_lists_known_ones(open_page, query, said):
    page = open_page(f"#/play?{query}")
    page.get_by_text(said).wait_for()
    assert page.locator(".board").count() == 0
    page.get_by_role("link", name="Begin from the start").click()
    page.wait_for_selector(".board")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("game=gomoku&size=7&moves=d4,z9", "This position cannot be shown: not a move: 'z9'"),
        ("game=amazons&size=99&fen=x", "This position cannot be shown: bad FEN 'x'"),
    ],
)
def test_link_to_a_bad_position_explains_why(open_page, query, said):
    page = open_page()
    page.expected = ["400"]
    page.goto(page.url.partition("#")[0] + f"#/play?{query}")
    page.get_by_text(said).wait_for()
    page.get_by_role("link", name="Begin from the start").click()
    page.wait_for_selector(".board")


def test_a_link_may_name_the_game_alone_or_a_position(open_page):
    page = open_page("#/play?game=gomoku&size=25&variant=exact-4")
    page.locator("[data-cell=y25]").wait_for()
    page = open_page("#/play?game=amazons&fen=3Q/4/4/q3%20w%20-%20-%200%201")
    page.get_by_role("gridcell", name="d4, white amazon").wait_for()
    assert page.locator("[role=gridcell]").count() == 16


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_levels_come_first_among_opponents_with_their_strength(open_page, size):
    page = open_page("#/play?game=gomoku", size)
    opponent = page.get_by_label("Opponent")
    opponent.wait_for()
    (ladder,) = [one for one in ladders("gomoku") if (one.size, one.variant) == (15, "freestyle")]
    options = opponent.locator("optgroup").first.locator("option").all_inner_texts()
    assert len(options) == len(ladder.levels)
    assert re.fullmatch(r"1, beginner, about -?[\d,]+", options[0])
    assert opponent.input_value() == "level:4", "one in the middle, until somebody chooses"
    opponent.select_option("level:2")
    page.see(f"from {ladder.levels[1].games} games")
    assert opponent.evaluate("(one) => one === document.activeElement"), "it keeps the focus for the arrow keys"
    page.fine()
    page.get_by_label("Board", exact=True).select_option("11")
    groups = page.get_by_label("Opponent").locator("optgroup")
    assert groups.first.get_attribute("label").startswith("Levels, Elo on 20")
    page.see("20, not measured on this board")
    page.get_by_label("Board", exact=True).select_option("8")
    assert groups.count() == 1, "a board without levels has players alone"
    page.see("There are no levels on this board. Strength is measured on 15")
    page.get_by_label("Board", exact=True).select_option("15")
    page.get_by_label("Opponent").select_option("level:2")
    push_play(page)
    page.see("Level 2, novice, about")
    page.touch("h8")
    page.locator(".moves .move").nth(1).wait_for()
    page.see("Level 2 moves without a search.")


@pytest.mark.slow
def test_a_move_leaves_the_page_where_it_is(open_page):
    """The list of moves is below the window of a phone. It scrolls by itself, and the board stays."""
    cells = [f"{column}{row}" for row in range(1, 8) for column in "abcdefg"]
    page = open_page(f"#/play?game=gomoku&size=7&variant=freestyle-7&moves={','.join(cells[:36])}", PHONE)
    page.get_by_role("button", name="Play", exact=True).click()
    page.see("Black to move.")
    page.evaluate("scrollTo(0, 0)")
    page.locator(f"[data-cell={cells[36]}]").click()
    page.see("White to move.")
    page.locator(".moves .move").nth(36).wait_for()
    assert page.evaluate("scrollY") == 0
    assert page.locator(".moves").evaluate("(one) => one.scrollTop") > 0


@pytest.mark.slow
def test_a_forced_win_has_a_word_for_its_value(open_page):
    page = open_page("#/play?game=gomoku&size=9&variant=freestyle&moves=e5,a1,f5,a3,g5,b8")
    page.get_by_role("button", name="Play", exact=True).click()
    page.push("Hint")
    page.see("The hint's player suggests:")
    assert page.locator(".figures dd").last.inner_text() == "won"


@pytest.mark.slow
def test_two_candidates_with_the_same_destination_have_a_number_each(open_page):
    page = open_page("#/play")
    places = page.evaluate(
        """async () => {
            const { GameBoard, startFen } = await import("./play/board.js"), root = document.createElement("div");
            document.body.append(root);
            const board = new GameBoard(root, { game: "amazons", height: 10, width: 10 });
            board.show({ fen: startFen("amazons", 10, "standard"), turns: {} });
            const moves = ["d1-d8/b6", "d1-d8/c8", "g1-g2/g5"];
            board.candidates(moves.map((move, k) => ({ move, text: String(k + 1) })));
            const circles = [...root.querySelectorAll(".over circle")];
            return circles.map((one) => one.getAttribute("cx") + " " + one.getAttribute("cy"));
        }"""
    )
    assert len(set(places)) == 3, places


@pytest.mark.slow
def test_teach_me_warns_before_a_blunder_and_takes_it_back(open_page):
    page = open_page("#/play?game=gomoku&size=9&variant=freestyle&first=person&second=random&moves=e3,b8,e4,c8,e5,d8")
    page.get_by_label("Teach me").check()
    push_play(page)
    assert page.get_by_label("Teach me").is_checked()
    page.touch("i1")
    warning = page.get_by_role("alert")
    warning.wait_for()
    assert re.search(r"i1 looks like a blunder: your chances fall from \d+\s% to \d+\s%", warning.inner_text())
    assert not violations(page)
    page.push("Show a better move")
    page.see(re.compile("Better: e[26]"))
    page.keyboard.press("Enter")  # on Take it back
    warning.wait_for(state="detached")
    assert len(moves(page)) == 6, "nothing was played"
    page.touch("i1")
    page.push("Play it anyway")
    page.locator(".moves .move").nth(7).wait_for()
    assert moves(page)[6] == "i1"
    page.push("Undo")
    turn(page).wait_for()
    page.touch("e6")
    page.locator(".moves .move").nth(7).wait_for()
    assert moves(page)[6] == "e6", "a good move is played at once"


@pytest.mark.slow
def test_the_page_leads_through_swap2(begin_game):
    page = begin_game(window=PHONE, game="gomoku", size=9, variant="freestyle", opening="swap2")
    page.see("First person: 3 stones to place, black and white in turn.")
    page.touch("e5")
    page.see("First person: 2 stones to place")
    page.push("Balanced stones")
    page.see("Second person: choose a colour; White moves next.")
    page.fine()
    page.push("Place two more stones", "Balanced stones")
    page.see("First person: choose a colour")
    assert page.get_by_role("button", name="Place two more stones").count() == 0
    page.push("Play White")
    page.see("White to move.")
    page.get_by_role("link", name="New game").or_(page.get_by_role("link", name="Zugwerk")).first.click()
    assert page.get_by_label("Opening").input_value() == "swap2"
    page.get_by_label("In a row").fill("4")
    page.get_by_label("In a row").blur()
    page.get_by_label("Opening").wait_for(state="detached")


RENJU = "#/analyse?game=gomoku&size=15&variant=renju&moves=h8,a1,h9,c1,g7,e1,f7,g1"


def begun(page, **wanted):
    """Begin a game of people, and show it."""
    ask = """async (body) => (await (await fetch("/api/play/games", { method: "POST",
        headers: { "content-type": "application/json" }, body })).json()).id"""
    page.evaluate("(id) => { location.hash = `#/play?id=${id}`; }", page.evaluate(ask, json.dumps(wanted)))
    page.wait_for_selector(".seat")


@pytest.mark.slow
def test_a_point_that_renju_forbids_is_marked_and_says_why(open_page):
    page = open_page(RENJU, PHONE)
    cell = page.get_by_role("gridcell", name="h7, forbidden: two threes")
    cell.wait_for()
    assert page.locator(".board .forbidden").count() == 1
    cell.focus()
    page.keyboard.press("Enter")
    page.see("h7 is forbidden to Black: two threes.")
    assert page.locator(".turns button").count() == 8
    page.fine()


@pytest.mark.slow
def test_threats_of_both_sides_are_marked_and_named(open_page):
    page = open_page("#/analyse?game=gomoku&size=9&variant=freestyle&moves=c5,e4,d5,f4")
    page.push("Threats")
    page.get_by_role("gridcell", name="g4, white makes an open three").wait_for()
    page.touch("e5")
    page.get_by_role("gridcell", name="b5, black makes a four that nothing stops").wait_for()  # and White may move
    page.touch("g4")
    page.get_by_role("gridcell", name="h4, white makes a four that nothing stops").wait_for()
    assert sorted(page.locator(".board .threat .marker-label").all_text_contents()) == ["4"] * 4
    page.touch("b5")
    page.get_by_role("gridcell", name="f5, black makes five").wait_for()
    page.push("Threats")
    page.get_by_role("gridcell", name="f5", exact=True).wait_for()
    page.fine()


@pytest.mark.slow
def test_stones_have_numbers_while_the_button_is_pressed(open_page):
    page = open_page(RENJU)
    page.get_by_role("gridcell", name="h7, forbidden: two threes").wait_for()
    assert page.locator(".board .number").count() == 0
    page.push("Numbers")
    assert sorted(page.locator(".board .number").all_text_contents()) == [str(k) for k in range(1, 9)]
    page.push("Previous move")
    page.get_by_role("gridcell", name="f7, black stone, last move, move 7").wait_for()
    assert page.locator(".board .number").count() == 7
    page.reload()
    page.get_by_role("gridcell", name="f7, black stone, last move, move 7").wait_for()
    page.push("Numbers")
    assert page.locator(".board .number").count() == 0


@pytest.mark.slow
def test_the_line_that_has_won_is_ringed(open_page):
    page = open_page()
    place = {"game": "gomoku", "size": 7, "variant": "freestyle-3", "moves": ["a1", "a7", "b1", "b7"]}
    begun(page, place=place)
    page.locator(".board.live [data-cell=c1]").click()
    page.get_by_role("gridcell", name="c1, black stone, last move, in the line that won").wait_for()
    assert page.locator(".board .won").count() == 3
    page.get_by_role("button", name="b7", exact=True).click()
    page.see("Looking at move 4 of 5.")
    page.wait_for_selector(".board .won", state="detached")


@pytest.mark.slow
def test_territory_is_coloured_counted_and_agreed(open_page):
    page = open_page("", PHONE)
    begun(page, place={"game": "amazons", "size": 6, "variant": "", "fen": SETTLED})
    page.see("White to move. All is settled: Black wins with 6 turns to spare.")
    page.push("Territory")
    page.get_by_role("gridcell", name="a2, settled for White").wait_for()
    page.see("White: 11 settled, 0 nearer. Black: 17 settled, 0 nearer.")
    assert page.locator(".board .owned.settled").count() == 28
    page.fine()
    page.push("Agree")
    page.see("Black has won. All is settled, and the result was agreed on.")
    page.push("Undo")
    page.locator(".board.live").wait_for()
    for cell in ("a1", "b2", "a1"):
        page.locator(f".board.live [data-cell={cell}]").click()
    page.see("White: 10 settled")
    assert moves(page) == ["a1-b2/a1"]


@pytest.mark.slow
def test_territory_follows_the_position_that_is_looked_at(open_page):
    page = open_page("#/analyse?game=amazons&size=6&variant=standard&moves=b1-b3/b1,a5-c5/b5")
    page.push("Territory")
    text = page.locator(".squares")
    page.wait_for_function("() => document.querySelector('.squares').textContent.startsWith('White: 0 settled')")
    before = text.inner_text()
    page.push("Previous move")
    page.wait_for_function("(before) => document.querySelector('.squares').textContent !== before", arg=before)
    page.push("Territory")
    page.wait_for_selector(".board .owned", state="detached")
    assert violations(page) == []


@pytest.mark.slow
def test_boards_end_above_the_fold_of_a_laptop(open_page):
    laptop = {"width": 1366, "height": 768}
    page = open_page("#/play", laptop)

    def fold():
        box = page.locator(".board").first.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= laptop["height"], page.url
        assert page.evaluate("scrollY") == 0

    fold()
    push_play(page)
    fold()
    for path, text in (("#/analyse?game=gomoku&size=15&moves=h8", "Move 1 of 1"), ("#/nets", "What the net sees")):
        page.goto(page.url.split("#")[0] + path)
        page.see(text)
        page.locator(".board").first.wait_for()
        fold()
    for puzzles in ("Forced wins of Gomoku", "Turns of the Amazons"):
        page.goto(page.url.split("#")[0] + "#/analyse")
        page.push(puzzles)
        page.get_by_role("button", name="Show the answer").wait_for()
        fold()
