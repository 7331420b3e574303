"""The exported page in a browser: games, analysis, a reload, no connection, one file from disk, and troubles."""

import json
import re
import shutil
import subprocess
import time
from typing import Any

import pytest
from websockets.sync.client import connect

from bench.site import served
from pipeline_src.web.records import read_games
from pipeline_src.web.site import joined
from pipeline_src.web.trees import tree_of
from tests.web.conftest import PHONE, fits, moves, play_amazons_by_mouse, set_up, solve_forced_win, turn
from tests.web.test_analyse import VARIED

pytest.importorskip("ziglang")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
PATIENCE_S = 180  # of Firefox


@pytest.fixture(scope="module")
def server(exported):
    """The address of a plain server of files, not at its root: it takes the place of Zugwerk's own."""
    with served(exported.parent) as address:
        yield f"{address}page"


def test_a_game_of_gomoku_survives_reload_and_analysis(open_page):
    page = open_page("", PHONE)
    set_up(page, "level:2", game="gomoku", size=9, variant="freestyle")
    page.touch("e5")
    turn(page).wait_for()
    page.locator(".moves .move").nth(1).wait_for()
    played = moves(page)
    assert played[0] == "e5"
    assert fits(page)
    page.reload()
    turn(page).wait_for()
    assert moves(page) == played
    page.push("Hint")
    page.see("Hint: ")
    page.push("Undo")
    page.see("No moves yet.")
    page.touch("e5")
    page.locator(".moves .move").nth(1).wait_for()
    turn(page).wait_for()
    page.push("Resign", "Yes, resign")
    page.see("White has won.")
    page.get_by_role("link", name="Analyse this game").click()
    page.see("3 of 3 positions")
    page.locator(".candidates li").nth(2).wait_for()
    page.locator(".chart svg, .chart canvas").first.wait_for()
    page.reload()  # the address holds the game; its analysis is begun once
    page.see("2 moves, White won by resignation")


def test_a_whole_game_of_the_amazons(open_page):
    page = open_page()
    set_up(page, "random", game="amazons", size=6, variant="standard")
    play_amazons_by_mouse(page)


@pytest.mark.parametrize("player", ["alphabeta:movetime=600000", "puct:movetime=600000"])
def test_the_search_of_the_amazons_thinks_and_moves_at_once(open_page, player):
    page = open_page()
    set_up(page, player, game="amazons", size=10, variant="standard", side=1)
    page.locator(".figures").wait_for()
    page.push("Move now")
    page.see("Your turn.")
    assert re.fullmatch(r"[a-j]\d+-[a-j]\d+/[a-j]\d+", moves(page)[0])
    page.push("Hint")
    page.see("Hint: ")


READ = """async (text) => {
  const [records, { replay }] = await Promise.all(["records", "analyse"].map((name) => import(`./local/${name}.js`)));
  const found = await records.upload("a.sgf", new Blob([text]));
  const one = await records.game({ source: found.source, number: 1 }, replay);
  return [one, await records.written({ ...one.head, ...one, winner: one.head.winner })];
}"""
TURNS = b"(;GM[18]SZ[10]PW[ann]PB[bob]RE[W+R];W[djddgd];B[gadacd]C[a \\ sign](;W[jdidjd])(;W[zzzzzz]))"


@pytest.mark.parametrize("text", [VARIED, TURNS, b"(;GM[4]SZ[9]RU[freestyle]AB[aa][bb]AW[cc];W[dd];B[zz])"])
def test_records_are_read_and_written_as_by_the_server(open_page, text):
    read, saved = open_page("#/analyse").evaluate(READ, text.decode())
    (record,) = read_games(text, "a.sgf").games
    tree, left_out = tree_of(record, text)
    assert [[node[key] for key in ("parent", "move", "name", "comment")] for node in read["nodes"]] == [
        [node.parent, node.move, node.name, node.comment] for node in tree.nodes
    ]
    assert (read["place"]["fen"], read["comment"]) == (tree.place.fen, tree.comment)
    assert [said.split(",")[0] for said in read["left_out"]] == [said.split(",")[0] for said in left_out]
    about = ("first_name", "second_name", "winner", "resigned")
    assert [read["head"][key] for key in about] == [getattr(tree, key) for key in about]
    (again,) = read_games(saved.encode(), "b.sgf").games
    assert tree_of(again, saved.encode())[0] == tree


def test_a_file_is_opened_and_saved(open_page):
    page = open_page("#/analyse")
    page.locator("#file").set_input_files({"name": "game.sgf", "mimeType": "text/plain", "buffer": VARIED})
    page.see("ann", "game.sgf, game 1: 4 moves", "Move 4, h8, is not legal: left out with what follows")
    page.reload()  # the browser keeps the file
    page.see("game.sgf, game 1: 4 moves")
    page.get_by_role("tab", name="Tools").click()
    with page.expect_download() as saved:
        page.push("Export .sgf")
    assert "N[side]" in saved.value.path().read_text()
    page.push("Open another")
    page.locator("#file").set_input_files({"name": "x.sgf", "mimeType": "text/plain", "buffer": b"hello"})
    page.see("x.sgf: not a record")


def test_puzzles_of_the_amazons_need_no_server(open_page):
    page = open_page("#/analyse?puzzle=amazons-1")
    page.see("One turn is far better than all others")
    page.push("Show the answer")
    page.see(re.compile(r" is better[:.]$"))
    page.touch(*re.split("[-/]", page.locator("p.status").inner_text().split()[0]))
    page.see(re.compile(r"is right\. Solved\.$"))


def test_forced_wins_need_no_server(open_page):
    page = open_page("#/analyse?puzzle=forced-1")
    page.see("to move wins by force")
    solve_forced_win(page)


def test_a_set_up_position_stays_in_the_address(open_page):
    page = open_page("#/analyse?game=gomoku&size=15&variant=freestyle&moves=h8,i9,j10&ply=3")
    page.locator(".candidates li").nth(2).wait_for()
    page.touch("g7")
    page.push("Previous move")
    page.touch("g8")
    page.locator(".variation").wait_for()
    page.get_by_role("tab", name="Tools").click()
    page.push("Edit this position")
    page.push("Analyse this position")
    page.locator(".candidates li").first.wait_for()
    assert "fen=" in page.url
    page.goto(page.url.replace("fen=", "fen=x"))
    page.reload()
    page.see("is no position of gomoku on a square board")


def test_the_page_works_offline(open_page):
    page = open_page("#/play")
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    page.reload()
    set_up(page, "level:2", game="gomoku", size=9, variant="freestyle")
    page.touch("e5")
    page.locator(".moves .move").nth(1).wait_for()
    page.context.set_offline(True)
    page.reload()
    turn(page).wait_for()
    page.touch("a1")
    page.locator(".moves .move").nth(3).wait_for()


def test_one_file_plays_from_disk(browser, exported, tmp_path):
    file = tmp_path / "zugwerk.html"
    file.write_text(joined(exported), encoding="utf-8")
    page = browser.new_page(reduced_motion="reduce")
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(file.as_uri())
    page.get_by_role("radio", name="Gomoku").check()
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_selector(".seat.to-move")
    page.locator("[data-cell=h8]").click()
    page.locator(".moves .move").nth(1).wait_for()
    page.reload()
    page.locator(".moves .move").nth(1).wait_for()
    page.goto(f"{file.as_uri()}#/analyse?game=amazons&size=6&variant=standard")
    page.locator(".candidates li").nth(2).wait_for()
    page.close()
    assert not complaints


DYING = (
    "globalThis.Worker = class { postMessage() { setTimeout(() => this.onerror(new Event('error'))); } terminate() {} }"
)


class Firefox:
    """A window of Debian's Firefox without a screen, by WebDriver BiDi. Use it in a ``with`` statement."""

    def __init__(self, profile) -> None:
        if not (path := shutil.which("firefox-esr") or shutil.which("firefox")):
            pytest.skip("no Firefox is installed")
        command = [path, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        listening = (re.search(r"WebDriver BiDi listening on (ws://\S+)", line) for line in self.process.stderr)
        self.wire = connect(next(filter(None, listening))[1] + "/session", max_size=None, open_timeout=PATIENCE_S)
        self.asked = 0
        self.ask("session.new", capabilities={})
        self.window = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def __enter__(self) -> "Firefox":
        return self

    def __exit__(self, *_: object) -> None:
        self.wire.close()
        self.process.terminate()
        self.process.communicate()

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a command."""
        self.asked += 1
        self.wire.send(json.dumps({"id": self.asked, "method": method, "params": params}))
        while (answer := json.loads(self.wire.recv(timeout=PATIENCE_S))).get("id") != self.asked:
            pass  # events
        assert answer["type"] == "success", answer
        return answer["result"]

    def open(self, address: str) -> None:
        """Load a page, also where only its fragment is another one."""
        self.ask("browsingContext.navigate", context=self.window, url="about:blank", wait="complete")
        self.ask("browsingContext.navigate", context=self.window, url=address, wait="complete")

    def look(self, expression: str) -> Any:
        """The value of an expression, once it is one that counts as true."""
        end = time.monotonic() + PATIENCE_S
        while True:
            target = {"context": self.window}
            found = self.ask("script.evaluate", expression=expression, target=target, awaitPromise=True)
            if found["type"] == "success" and (value := found["result"].get("value")):
                return value
            assert time.monotonic() < end, expression
            time.sleep(0.1)

    def click(self, element: str) -> None:
        """Click on the middle of an element, given as an expression."""
        x, y = json.loads(
            self.look(f"""(() => {{
                const one = {element};
                one?.scrollIntoView({{ block: "center" }});
                const box = one?.getBoundingClientRect();
                return one && JSON.stringify([box.x + box.width / 2, box.y + box.height / 2]);
            }})()""")
        )
        steps = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self.ask(
            "input.performActions", context=self.window, actions=[{"type": "pointer", "id": "hand", "actions": steps}]
        )


def test_firefox_plays_reloads_and_analyses(server, tmp_path):
    button = "[...document.querySelectorAll('button')].find((one) => one.textContent === 'Play')"
    moves = "[...document.querySelectorAll('.moves .move')].map((one) => one.textContent).join(' ')"
    with Firefox(tmp_path) as firefox:
        for place, cells, move in (
            ("gomoku&size=9&variant=freestyle&second=level:2", ["e5"], "e5 "),
            ("amazons&size=6&second=puct", ["b1", "b4", "c4"], "b1-b4/c4 "),
        ):
            firefox.open(f"{server}/#/play?game={place}&first=person")
            firefox.click(button)
            firefox.look("document.querySelector('.seat.to-move') && true")
            for cell in cells:
                firefox.click(f"document.querySelector('[data-cell={cell}]')")
            played = firefox.look(f"document.querySelectorAll('.moves .move').length === 2 && {moves}")
            assert played.startswith(move)
            firefox.ask("browsingContext.reload", context=firefox.window)
            assert firefox.look(moves) == played
        firefox.open(f"{server}/#/analyse?game=gomoku&size=9&variant=freestyle&moves=e5,a1,e6,a2&judge=1")
        firefox.look("document.body.innerText.includes('5 of 5 positions')")


@pytest.mark.parametrize(
    ("script", "said"),
    [("delete globalThis.WebAssembly", "no WebAssembly with SIMD"), (DYING, "The engine's worker died")],
)
def test_missing_parts_are_named(open_page, script, said):
    page = open_page("#/nets")
    page.see("The page nets needs the server: zugwerk web.")
    page.expected = ["could not"]
    page.context.add_init_script(script)
    page.goto(
        page.url.replace("#/nets", "?#/play?game=gomoku&size=15&variant=freestyle&moves=h8&first=person&second=zero")
    )
    if "Worker" in script:
        page.get_by_role("button", name="Play", exact=True).click()
    page.see(said)


def test_a_link_of_another_version_says_what_is_not_there(open_page):
    page = open_page("#/play?id=abc")
    page.see("This browser keeps no such game.")
    page.goto(page.url.replace("id=abc", "game=go&size=19"))
    page.see("There is no game go to play here.")
