"""Pictures of the pages for the README: ``make pictures``, where Chromium is installed.

``docs/images/play.png`` shows the page Play of `zugwerk web` while a player thinks, ``docs/images/report.png`` the page
of the report, if there is one.
"""

import argparse
import json
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import written_aside

if TYPE_CHECKING:
    from playwright.sync_api import Page

IMAGES, REPORT = Path("docs/images"), Path("artifacts/reports/index.html")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
WITHOUT = (
    *("PreloadTopChromeWebUI", "WebUIOmniboxPopup", "WebUIOmniboxFullPopup", "WebUIOmniboxAimPopup"),
    *("AimEnabled", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "MediaRouter"),
    *("NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
)
"""Features of Chromium to leave out. The first four start two more processes with each window, half a second of CPU
time; the others are left out by Playwright too, whose own list this one replaces."""
SIZE = {"width": 1040, "height": 720}
REPORT_SIZE = {"width": 1200, "height": 1300}  # With all verdicts
MOST_BYTES, REPORT_BYTES = 150 << 10, 350 << 10
THINKS_MS = 3000  # Milliseconds for which the player has thought when the picture is taken
MOVES = "d1-d8/b6,g10-g3/i5,j4-g4/f4,a7-d7/c8,g4-g7/i7,j7-h9/h1,g1-g2/d5,g3-c3/a5,g2-h3/e6"
GAME = {
    "place": {"game": "amazons", "size": 10, "variant": "standard", "moves": MOVES.split(",")},
    "first": "person",
    "second": "alphabeta:movetime=600000",
}


def main() -> None:
    """Make the pictures."""
    parser = argparse.ArgumentParser(prog="python -m bench.pictures", description=__doc__)
    parser.add_argument("--out", type=Path, default=IMAGES, help="folder of the pictures")
    parser.add_argument("--report", type=Path, default=REPORT, help="page of the report")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        if browser is None:
            raise ZugwerkError(
                f"no browser to take pictures with: install {CHROMIUM[0]}, and playwright (pip, extra dev)"
            )
        process, address = server()
        try:
            _play(browser.new_page(viewport=SIZE), address, options.out / "play.png")
        finally:
            process.terminate()
            process.wait()
        if options.report.is_file():
            page = browser.new_page(viewport=REPORT_SIZE)
            page.goto(options.report.resolve().as_uri())
            _take(page, options.out / "report.png", REPORT_BYTES)


@contextmanager
def chromium() -> Iterator[Any]:
    """Start the system's Chromium and yield it as Playwright's ``Browser``; None where either is not installed."""
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
    """Start `zugwerk web` on a free port; return the process and its address."""
    command = [sys.executable, "-m", "pipeline_src.cli", "web", "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().split()[1]


def _play(page: "Page", address: str, out: Path) -> None:
    """Take a picture of a game while the player thinks."""
    headers = {"content-type": "application/json"}
    wanted = urllib.request.Request(f"{address}api/play/games", json.dumps(GAME).encode(), headers)  # noqa: S310
    with urllib.request.urlopen(wanted) as answer:  # noqa: S310
        game = json.load(answer)["id"]
    page.goto(f"{address}#/play?id={game}")
    page.locator(".thinking .line").wait_for(timeout=120_000)
    page.wait_for_timeout(THINKS_MS)
    _take(page, out)


def _take(page: "Page", out: Path, most: int = MOST_BYTES) -> None:
    picture = page.screenshot()
    if len(picture) > most:
        size = page.viewport_size
        raise ZugwerkError(f"{out}: {len(picture) >> 10} KiB, more than {most >> 10}; make {size} smaller")
    with written_aside(out) as aside:
        aside.write_bytes(picture)
    print(f"{out}: {len(picture) >> 10} KiB")


if __name__ == "__main__":
    run_main(main)
