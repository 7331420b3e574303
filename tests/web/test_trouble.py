"""What can go wrong on a page, every player that it offers, and a whole game against each net of the package."""

import json
import re

import pytest

from tests.web.conftest import SIX, THREE, alive, middle, moves, set_up, turn
from tests.web.test_analyse_browser import choose_player

TABS = 20


@pytest.mark.slow
def test_twenty_tabs_at_once_all_get_their_moves(open_page, server):
    """Each tab has a game of its own, against a player; there are four processes for all of them."""
    pages = [open_page() for _ in range(TABS)]
    for page in pages:
        set_up(page, **SIX, side=1, player="alphabeta:movetime=100")
    for page in pages:
        page.see("Your turn.")
        assert len(moves(page)) == 1
    assert alive(server)


def test_game_in_too_many_tabs_keeps_the_others(open_page):
    page = open_page()
    set_up(page, **THREE)
    address = page.url.split("/", 3)[3]
    others = [open_page(address) for _ in range(7)]
    for other in others:
        other.see("Black to move.")
    late = open_page(address)
    late.see("This game is open in 8 tabs already.")
    page.touch("a1")
    for other in others:
        other.see("White to move.")
    others[0].close()
    late.push("Reload")
    late.see("White to move.")


def test_flood_of_messages_is_stopped_and_reload_resumes(open_page):
    page, other = open_page(), open_page()
    set_up(other, **THREE)
    page.add_init_script(
        """const Own = WebSocket, all = window.wires = [];
        window.WebSocket = class extends Own { constructor(...words) { super(...words); all.push(this); } };"""
    )
    set_up(page, **THREE)
    page.touch("a1")
    page.see("White to move.")
    flood = json.dumps({"do": "pause"})
    page.evaluate("(text) => { for (let k = 0; k < 500; k++) wires.at(-1).send(text); }", flood)
    page.see("This page sent too many messages; reload it.")
    other.touch("c3")
    other.see("White to move.")
    page.push("Reload")
    page.get_by_role("gridcell", name="a1, black stone, last move").wait_for()


def test_missing_model_is_reported_before_and_in_the_game(open_page, web_folder):
    path = web_folder / "models/amazons/gone/nets.pt"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no net")
    page = open_page()

    def turn():
        page.touch("d1", "d7", "g7")

    page.expected = ["400"]
    page.get_by_label("Opponent").select_option("nets")
    page.get_by_label("Model").select_option(str(path))
    problem = page.locator(".bad-text", has_text=str(path))
    problem.wait_for()
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url("**id=*")
    page.see("Your turn.")
    assert page.get_by_role("button", name="Undo").is_disabled()
    turn()
    page.get_by_role("alert").get_by_text(str(path)).wait_for()
    page.push("Undo")
    page.see("Your turn.")
    path.unlink()
    turn()
    page.get_by_role("alert").get_by_text("no such model").wait_for()


@pytest.mark.slow
def test_waiting_for_a_busy_engine_is_reported(open_page, server):
    busy = [open_page() for _ in range(4)]
    for page in busy:
        set_up(page, **SIX, side=1, player="alphabeta:movetime=600000")
    for page in busy:
        page.locator(".thinking .line").wait_for()
    late = open_page()
    set_up(late, **SIX, side=1, player="random")
    late.see("waits for a free engine; 0 before it.")
    nets = open_page()
    nets.expected = ["400"]
    nets.evaluate("location.hash = '#/nets?model=package:gomoku_zero-15x15-freestyle'")
    nets.see("all processes of this server are thinking for other tabs")
    busy[0].close()
    late.see("Your turn.")
    assert len(moves(late)) == 1


def test_analysis_by_unknown_player_is_refused_and_another_works(open_page):
    page = open_page("#/analyse")
    page.set_input_files(
        "input[type=file]",
        {"name": "a.psq", "mimeType": "text/plain", "buffer": b"Piskvorky 5x5, 1:1, 0\n3,3,0\n1,1,0\n2,3,0\n"},
    )
    page.push("Think")
    choose_player(page, "nobody")
    page.push("Analyse game")
    page.see(re.compile("no player 'nobody'"))
    page.get_by_label("Player", exact=True).select_option("alphabeta")
    page.push("Analyse game")
    page.see("4 of 4 positions")


SMALL = {"movetime": "50", "nodes": "20", "depth": "1"}
"""The first of these options that a player has is given, so that its move comes soon."""


def hinted(page):
    """The turn that a hint suggests, as a text."""
    page.push("Hint")
    page.see("suggests:")
    return page.locator(".thinking .line").inner_text().split()[0]


def play_hint(page):
    """A hint of the game's strongest player, followed by mouse."""
    before, move = len(moves(page)), hinted(page)
    for square in re.split("[-/]", move):
        page.touch(square)
    page.locator(".moves .move").nth(before).wait_for()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("game", "size", "player"), [("amazons", 10, "puct:simulations=32"), ("gomoku", 9, "zero:simulations=64")]
)
def test_full_game_against_each_packaged_net(open_page, game, size, player):
    """A person plays the legal move that comes first on the board, or a hint every ninth turn."""
    page = open_page()
    variant = "standard" if game == "amazons" else "freestyle"
    set_up(page, game=game, size=size, variant=variant, player=player)
    for k in range(size * size):
        turn(page).wait_for()
        if page.locator(".status.over").count():
            break
        before = len(moves(page))
        if k % 9 == 0:
            play_hint(page)
        elif game == "gomoku":
            page.locator(".board.live .cell.legal").first.click()
        else:
            page.locator(".board.live .cell.legal").first.click()
            page.mouse.click(*middle(page, "circle.target"))
            page.mouse.click(*middle(page, "path.target"))
        page.locator(".moves .move").nth(before).wait_for()
    assert re.search("has won|is drawn", page.locator(".status").inner_text())
    assert page.get_by_role("link", name="Save .parquet").count() == 1


def offered(page, game):
    """Names in the list of players."""
    page.get_by_role("radio", name=game).check(force=True)
    return page.get_by_label("Opponent").locator("option").all_inner_texts()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("game", ["Amazons", "Gomoku"])
def test_every_listed_player_moves_with_options_from_its_form(open_page, game):
    page = open_page()
    page.get_by_label("Opponent").wait_for()
    names = offered(page, game)
    assert len(names) >= 5
    for name in names:
        page.evaluate("location.hash = '#/play'")
        page.get_by_label("Opponent").wait_for()
        offered(page, game)
        page.get_by_role("radio", name=re.compile("second")).check(force=True)
        page.get_by_label("Opponent").select_option(name)
        options = page.locator("details", has_text=f"All options of {name}")
        if options.count():
            options.locator("summary").click()
        given = ""
        for option, value in SMALL.items():
            label = "Milliseconds a move" if option == "movetime" else option
            box = page.locator(".picker input").and_(page.get_by_label(label, exact=True))
            if box.count() and not given and not box.input_value().isalpha():
                box.fill(value)
                given = option
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_url("**id=*")
        page.get_by_text("Your turn.").wait_for(timeout=90_000)
        assert len(moves(page)) == 1, name
        seat = f"Level {name[0]}" if name[0].isdigit() else name.partition(" with ")[0]
        assert page.locator(".seat", has_text=seat).count() == 1, name


@pytest.mark.slow
def test_two_listed_players_finish_a_game_of_each_kind(open_page):
    page = open_page()
    for game, size, variant in (("amazons", 6, "standard"), ("gomoku", 5, "freestyle-3")):
        players = {f"first {game}": "alphabeta:movetime=20", f"second {game}": "random"}
        set_up(page, **{"game": game, "size": size, "variant": variant, "mode": "players", **players})
        page.locator(".status.over").wait_for(timeout=90_000)
        assert re.search("has won|is drawn", page.locator(".status").inner_text())
        page.goto(page.url.partition("#")[0])
