"""Every player that the page offers, by its form; and a whole game against each net that comes with the package."""

import re

import pytest

from tests.web.test_play_browser import middle, moves, set_up, turn

SMALL = {"movetime": "50", "nodes": "20", "depth": "1"}
"""The first of these options that a player has is given, so that its move comes soon."""


def hinted(page):
    """The turn that a hint suggests, as a text."""
    page.get_by_role("button", name="Hint").click()
    page.get_by_text("suggests:").wait_for()
    return page.locator(".thinking .line").inner_text().split()[0]


def play_hint(page):
    """A hint of the game's strongest player, followed by mouse."""
    before, move = len(moves(page)), hinted(page)
    for square in re.split("[-/]", move):
        page.locator(f"[data-cell={square}]").click()
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
    set_up(page, **{"game": game, "size": size, "variant": variant, "mode": "player", f"player {game}": player})
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
