"""Milliseconds until a page of `zugwerk web` is painted, and until a person's move is on the board.

The browser is open and the server warm: caches of files are those of a second start. `web_start_ms` is from the command
to the first contentful paint, and beside it the server's own part; `web_move_ms` is from the click to the next frame,
and beside it to the server's answer. Null where there is no Chromium.
"""

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.measure import row

REPEATS = 7
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
WITHOUT = (
    *("PreloadTopChromeWebUI", "WebUIOmniboxPopup", "WebUIOmniboxFullPopup", "WebUIOmniboxAimPopup"),
    *("AimEnabled", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "MediaRouter"),
    *("NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
)
"""Features of Chromium to leave out. The first four start two more processes with each window, half a second of CPU
time; the others are left out by Playwright too, whose own list this one replaces."""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
CLICK = """(name) => new Promise((done) => {
    const cell = document.querySelector(`[data-cell=${name}]`), board = cell.closest("svg");
    const list = document.querySelector(".moves");
    const stones = board.querySelectorAll(".stone").length, moves = list.querySelectorAll(".move").length;
    let shown = null;
    const began = performance.now();
    const look = () => {
        if (shown === null && board.querySelectorAll(".stone").length > stones) shown = performance.now() - began;
        if (list.querySelectorAll(".move").length > moves) done([shown, performance.now() - began]);
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    cell.firstChild.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, button: 0 }));
})"""


def measure() -> list[dict[str, Any]]:
    """``web_start_ms`` and ``web_move_ms``."""
    with chromium() as browser:
        if browser is None:
            nothing: Any = None
            return [row(name, nothing, None, None, "ms") for name in ("web_start_ms", "web_move_ms")]
        page = browser.new_page()
        starts = [_start(page) for _ in range(REPEATS + 1)][1:]
        moves = _moves(page)
    return [
        row("web_start_ms", *map(statistics.median, zip(*starts, strict=True)), "until the server is ready", "ms"),
        row("web_move_ms", *map(statistics.median, zip(*moves, strict=True)), "the server's answer", "ms"),
    ]


@contextmanager
def chromium() -> Iterator[Any]:
    """The system's Chromium as Playwright's ``Browser``; None where one of the two is not installed."""
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        yield None
        return
    with sync_playwright() as playwright:
        options = ["--no-sandbox", f"--disable-features={','.join(WITHOUT)}"]  # as root it has no sandbox
        browser = playwright.chromium.launch(executable_path=path, args=options)
        try:
            yield browser
        finally:
            browser.close()


def server() -> tuple[subprocess.Popen[str], str]:
    """A server of the pages on any free port, and its address."""
    command = [sys.executable, "-m", "pipeline_src.cli", "web", "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().split()[1]


def _start(page: Any) -> tuple[float, float]:
    """From the command to the first paint, and until the server is ready."""
    began = time.perf_counter()
    process, address = server()
    try:
        ready = 1000 * (time.perf_counter() - began)
        page.goto(address, wait_until="commit")
        page.wait_for_selector(".board")
        while (painted := page.evaluate(PAINTED)) is None:
            time.sleep(0.005)
        return ready + painted, ready
    finally:
        process.terminate()
        process.wait()


def _moves(page: Any) -> list[tuple[float, float]]:
    """From the click to the frame that shows the stone, and to the server's answer; one person plays both sides."""
    process, address = server()
    try:
        page.goto(f"{address}#/play?game=gomoku&size=15&variant=freestyle")
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_selector(".seat.to-move")
        found = []
        for k in range(REPEATS + 1):
            page.wait_for_selector(".board.live")
            found.append(tuple(page.evaluate(CLICK, "abcdefghijklmno"[k] + str(1 + 2 * (k % 3)))))
        return found[1:]
    finally:
        process.terminate()
        process.wait()
