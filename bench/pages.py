"""Waiting times of a person on the page Analyse, measured in the system's Chromium, on a server that has been idle.

Times run from the click, or from the change of the address, until the browser has painted the result.
"""

import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.measure import Row, row
from bench.pictures import chromium, server
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import GomokuState

if TYPE_CHECKING:
    from playwright.sync_api import Page

LOADED_MS = 15_000  # Milliseconds in which the server loads the usual players after its first page
OPENINGS = [
    (game, moves)
    for both in zip(("h8,i9,g8,h9", "h8,h9,j7,i8", "h8,i7,g7,h10"), ("d1-d7/g7", "g1-g7/d7", "d1-d5/d8"), strict=True)
    for game, moves in zip(("gomoku", "amazons"), both, strict=True)
]
PLACES = {"gomoku": "size=15&variant=freestyle", "amazons": "size=10&variant=standard"}
ANALYSTS, UPDATES_S = ("engine", "alphabeta", "zero", "puct"), 5.0
"""Players whose reports are counted, and for how long; the one with the fewest has the row."""
SIZE, MAIN, BRANCHES, LENGTH = 25, 600, 4, 100
"""The tree of 1,000 moves: side of the board, plies of the main line, variations and their plies."""
CLICKS = 40
PAINTED = "await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));"
OPEN = f"""(hash) => new Promise((settle) => {{
  const began = performance.now(), seen = new MutationObserver(async () => {{
    if (!document.querySelector(".board .over circle")) return;
    seen.disconnect(); {PAINTED} settle(performance.now() - began);
  }});
  seen.observe(document.body, {{ childList: true, subtree: true }});
  location.hash = hash;
}})"""
CLICK = f"""async (k) => {{
  const buttons = document.querySelectorAll(".turns button"), one = buttons[k % buttons.length];
  const began = performance.now();
  one.click(); {PAINTED}
  if (!one.hasAttribute("aria-current")) throw new Error("the move was not shown");
  return performance.now() - began;
}}"""
COUNT = """(seconds) => new Promise((settle) => {
  let count = 0;
  const list = document.querySelector(".candidates");
  const seen = new MutationObserver(() => { count += list.children.length === 3; });
  seen.observe(list, { childList: true, subtree: true, characterData: true });
  setTimeout(() => { seen.disconnect(); settle(count / seconds); }, 1000 * seconds);
})"""


def measure() -> list[Row]:
    """``analyse_first_candidates_ms``, ``analyse_updates_per_s`` (three lines), ``analyse_click_ms`` (1,000 moves)."""
    names = {"analyse_first_candidates_ms": "ms", "analyse_updates_per_s": "1/s", "analyse_click_ms": "ms"}
    with chromium() as browser:
        found = _measured(browser) if browser else dict.fromkeys(names)
    return [row(name, found[name], None, None, unit) for name, unit in names.items()]


def _measured(browser: Any) -> dict[str, float]:
    process, address = server()
    try:
        page = browser.new_page(viewport={"width": 1300, "height": 900})
        page.goto(address)
        page.wait_for_timeout(LOADED_MS)
        return {
            "analyse_first_candidates_ms": statistics.median(_first(page, *one) for one in OPENINGS),
            "analyse_updates_per_s": min(_updates(page, analyst) for analyst in ANALYSTS),
            "analyse_click_ms": _click(page),
        }
    finally:
        process.terminate()
        process.wait()


def _first(page: "Page", game: str, moves: str) -> float:
    page.evaluate("location.hash = '#/joseki'")
    page.locator(".page.joseki h1").first.wait_for()
    page.wait_for_timeout(500)  # the search of the position before has ended
    return float(page.evaluate(OPEN, f"#/analyse?game={game}&{PLACES[game]}&moves={moves}"))


def _updates(page: "Page", analyst: str) -> float:
    game, moves = OPENINGS[analyst == "puct"]
    page.evaluate(f"location.hash = '#/joseki'; location.hash = '#/analyse?game={game}&{PLACES[game]}&moves={moves}'")
    page.get_by_label("Player").fill(analyst)
    page.get_by_label("Player").blur()
    page.get_by_text(f"{analyst}: ").wait_for(timeout=120_000)
    return float(page.evaluate(COUNT, UPDATES_S))


def _click(page: "Page") -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.sgf"
        path.write_text(tree_text())
        page.evaluate("location.hash = '#/analyse'")
        page.set_input_files("input[type=file]", path)
        page.wait_for_function(
            "(count) => document.querySelectorAll('.turns button').length === count", arg=MAIN + BRANCHES * LENGTH
        )
    return float(statistics.median(page.evaluate(CLICK, 37 * k) for k in range(1, CLICKS + 1)))


def tree_text() -> str:
    """Return a game of Gomoku with variations after half of its moves, as SGF: random moves, lines of nine."""
    rng, start = np.random.default_rng(0), gomoku.initial_state(SIZE, "freestyle-9")

    def grown(state: GomokuState, plies: int) -> tuple[str, GomokuState]:
        words = list[str]()
        while len(words) < plies:
            after = gomoku.play(state, int(rng.choice(gomoku.legal_actions(state))))
            if gomoku.winner(after) is None:
                r, c = np.argwhere(after.board != state.board)[0].tolist()
                words.append(f";{'BW'[gomoku.to_play(state)]}[{chr(97 + c)}{chr(97 + r)}]")
                state = after
        return "".join(words), state

    half, state = grown(start, MAIN // 2)
    lines = [grown(state, plies)[0] for plies in (MAIN // 2, *[LENGTH] * BRANCHES)]
    return f"(;GM[4]SZ[{SIZE}]RU[freestyle-9]{half}({')('.join(lines)}))"
