"""One server and one browser for all tests of the pages; each test has a browser context of its own.

Tests that need no browser ask for `client`, the application within this process.
"""

import asyncio
import contextlib
import re
import subprocess
import sys
import time
import urllib.request
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from bench.pictures import CHROMIUM, chromium
from pipeline_src.web.app import Guard, create_app
from pipeline_src.web.engine import Engines
from pipeline_src.web.settings import Settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it would rather have httpx2
    from fastapi.testclient import TestClient

BASE = "http://127.0.0.1:4210"
WIDE, PHONE = {"width": 1300, "height": 900}, {"width": 400, "height": 800}
SETUP = "zugwerk.play.setup"
THREE = {"game": "gomoku", "size": 5, "variant": "freestyle-3"}
SIX = {"game": "amazons", "size": 6, "variant": "standard"}
PATIENCE_MS = 180_000
"""Until a page shows something: a process that thinks imports torch first, and is nicer than the other tests."""


class Address(str):
    """Of the server, which also knows its process."""

    pid = 0


@pytest.fixture(scope="session")
def web_folder(tmp_path_factory):
    """The one folder that pages may read; tests may put files there before they ask for them."""
    return tmp_path_factory.mktemp("folder").resolve()


@pytest.fixture(scope="session")
def application(web_folder):
    """What `client` asks; its processes take a second to start, and serve all tests."""
    with TestClient(Guard(create_app(Settings(folders=(web_folder,), engines=2)), "127.0.0.1"), base_url=BASE) as one:
        yield one


@pytest.fixture
def client(application):
    """Asks the application as a program would, with a Host that it answers to; ``client.app.app`` is what answers.

    The games of a test are closed at its end, and its searches are over.
    """
    yield application
    games = application.app.app.state.games
    for game in list(games._sessions.values()):
        application.portal.call(game.close)
    games._sessions.clear()
    wait(lambda: games.engines._free == 2)


def serving(folder, **pipes):
    """A server in a process of its own."""
    command = [sys.executable, "-m", "pipeline_src.cli", "web", "--no-browser", "--port", "0", "--folder", folder]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **pipes)


@pytest.fixture(scope="session")
def server(web_folder):
    """Its address."""
    with serving(web_folder) as process:
        try:
            line = process.stdout.readline()
            assert line.startswith("ready: http"), line
            address = Address(line.split()[1].rstrip("/"))
            address.pid = process.pid
            yield address
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def browser():
    """The system's Chromium. It ends with a module's tests: while it is open, Playwright's event loop runs in this
    thread, and other modules' tests could run none."""
    with chromium() as one:
        if one is None:
            pytest.skip(f"no browser: none of {', '.join(CHROMIUM)} is installed, or playwright is not")
        yield one


@pytest.fixture
def open_page(browser, server):
    """Opens a page, ``open_page("#/play")``; at the end of the test none may have complained or asked elsewhere.

    ``page.expected`` lists words of complaints that the test provokes; `fine`, `push`, `see` and `touch` are methods.
    """
    contexts, complaints, pages = [], [], []

    def begin(path="", size=WIDE, **options):
        context = browser.new_context(viewport=size, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.expected = []
        for own in (fine, push, see, touch):
            setattr(page, own.__name__, partial(own, page))
        pages.append(page)
        page.on("console", lambda m: m.type in ("error", "warning") and complaints.append((page, m.text)))
        page.on("pageerror", lambda e: complaints.append((page, str(e))))
        page.on("request", lambda r: r.url.startswith((server, "data:", "blob:")) or complaints.append((page, r.url)))
        page.goto(f"{server}/{path}")
        return page

    yield begin
    for context in contexts:
        context.close()
    left = [text for page, text in complaints if not any(word in text for word in page.expected)]
    assert not left, left


@pytest.fixture
def begin_game(open_page):
    """Opens a page, in which a game has begun."""

    def begun(window=WIDE, **setup):
        page = open_page("", window)
        set_up(page, **setup)
        return page

    return begun


def ask(client, path, status=200, **query):
    """The JSON of ``GET /api/PATH``, whose status is tested."""
    answer = client.get(f"/api/{path}", params=query)
    assert answer.status_code == status, answer.text
    return answer.json()


def post(client, path, body, status=200):
    """The JSON of ``POST /api/PATH``, whose status is tested."""
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


@contextlib.asynccontextmanager
async def pool(count=1):
    """Processes that end with the block."""
    engines = Engines(count)
    try:
        yield engines
    finally:
        await engines.close()


def wait(until, seconds=60):
    """Wait until ``until()`` holds, ``seconds`` at most."""
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.01)


def run(work):
    """The result of a coroutine, from a thread: Playwright has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def fits(page):
    """Whether nothing is wider than the window, once boards and charts have taken its size."""
    for _ in range(50):
        if page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"):
            return True
        page.wait_for_timeout(100)
    return False


def violations(page):
    """What axe-core finds, a line each: the rule, and the first elements."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    return [f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]}" for one in found]


def fine(page, size=None):
    """Nothing is inaccessible, and nothing is wider than the window, in the end in one of ``size``."""
    assert violations(page) == []
    if size:
        page.set_viewport_size(size)
    assert fits(page)


def push(page, *names):
    """Click on these buttons, one after the other."""
    for name in names:
        page.get_by_role("button", name=name).click()


def touch(page, *cells):
    for cell in cells:
        page.locator(f"[data-cell={cell}]").click()


def see(page, *texts):
    """Wait until the page shows these texts."""
    for text in texts:
        page.get_by_text(text).first.wait_for()


def alive(server):
    """Whether the server still answers."""
    with urllib.request.urlopen(f"{server}/", timeout=60) as answer:
        return answer.status == 200


def begin(client, place, first="person", second="person", **more):
    return post(client, "play/games", {"place": place, "first": first, "second": second, **more}, 201)["id"]


def joined(client, name):
    return client.websocket_connect(f"ws://127.0.0.1:4210/api/play/games/{name}/socket")


def until(wire, kind, wanted=lambda _: True):
    """The next message of a kind for which ``wanted`` holds."""
    for _ in range(1000):
        message = wire.receive_json()
        if message["kind"] == kind and wanted(message):
            return message
    raise AssertionError(kind)


def act(wire, do, kind="game", **more):
    """What the server answers to an action: the game, or a problem's text."""
    wire.send_json({"do": do, **more})
    found = until(wire, kind)
    return found["text"] if kind == "problem" else found


def move(wire, text, **more):
    return act(wire, "move", move=text, **more)


def set_up(page, player=None, **setup):
    """Make the page offer a game of people or against a player, and begin it."""
    mode = {"mode": "player", f"player {setup['game']}": player} if player else {"mode": "people"}
    page.evaluate("([key, value]) => localStorage.setItem(key, JSON.stringify(value))", [SETUP, mode | setup])
    page.reload()
    push_play(page)


def push_play(page):
    """Push *Play* and wait for the game, since the board shown before it takes no move."""
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url("**id=*")
    page.wait_for_selector(".seat.to-move")


def put_stones(page, *cells):
    for cell in cells:
        page.locator(f"[data-cell={cell}]").click()
        page.get_by_role("gridcell", name=re.compile(f"^{cell}, .* stone, last move")).wait_for()


def moves(page):
    return page.locator(".moves .move").all_inner_texts()


def turn(page):
    """What says that a person may move, or that nobody may."""
    return page.locator(".status", has_text=re.compile("Your turn|has won|is drawn"))


def middle(page, mark):
    """Of the first mark on the board."""
    box = page.locator(f".board .under {mark}").first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def play_amazons_by_mouse(page):
    """Play a game of the Amazons to its end by the first amazon, square and arrow that are shown."""
    for _ in range(40):
        turn(page).wait_for()
        if page.locator(".status.over").count():
            break
        page.locator(".board.live .cell.legal").first.click()
        page.mouse.click(*middle(page, "circle.target"))
        before = len(moves(page))
        page.mouse.click(*middle(page, "path.target"))
        page.locator(".moves .move").nth(before).wait_for()
    assert "has won" in page.locator(".status").inner_text()


def watching(client, path="watch"):
    """The WebSocket of an analysis."""
    return client.websocket_connect(f"/api/analyse/{path}", headers={"host": "127.0.0.1"})


def solve_forced_win(page):
    """Try a1, which does not win, and solve the puzzle by the answers that the page shows."""
    page.locator(".board.live [data-cell=a1]").click()
    page.see(re.compile("a1 does not win: .* answers it. Try another move."))
    for _ in range(20):
        before = page.locator(".board .stone:not(.ghost)").count()
        page.push("Show the answer")
        page.see(re.compile(r"^\S+ wins[:.]$"))
        move = page.locator("p.status").inner_text().split()[0]
        page.locator(f".board.live [data-cell={move}]").click()
        page.see(re.compile(f"^{move} (is right|wins)"))
        assert page.locator(".board .stone:not(.ghost)").count() > before
        if page.get_by_text("Solved.").count():
            break
    page.see("Solved.")
