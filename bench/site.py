"""Speed, size and memory of the exported page in the system's Chromium, and those of one native core.

``python -m bench.site FOLDER`` prints JSON, where ``zugwerk export --web FOLDER`` (or ``make site``) wrote the page.
Searches of the page and native ones take turns; rates are medians. Sizes are those of all files that a first move asks
for, with gzip. Memory is that of the process which draws the page and searches, less that of an empty page.
"""

import argparse
import functools
import gzip
import http.server
import json
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

import zugwerk
from bench.pictures import chromium
from pipeline_src.errors import ZugwerkError, run_main

PLAYERS = {
    "zero": ("gomoku", 15, "freestyle"),
    "alphabeta": ("amazons", 10, "standard"),
    "puct": ("amazons", 10, "standard"),
}
MOVES = {"gomoku": ["h8", "i9", "g8", "h9"], "amazons": ["d1-d7/g7", "d10-d8/f8"]}
SEARCH = """async ([game, size, variant, moves, kind, movetime]) => {
  const { Engine, taskOf } = await import(new URL("local/engine.js", document.baseURI));
  const place = { game, size, variant, moves }, engine = globalThis.measured ??= new Engine();
  const { thought } = await engine.search(place, await taskOf(`${kind}:movetime=${movetime}`, place));
  return [thought.nodes, thought.seconds];
}"""


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder's files; yield the address, which ends in a slash."""
    handler = functools.partial(_Files, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the page")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--movetime", type=int, default=1000, help="milliseconds of a search")
    options = parser.parse_args()
    if not (options.folder / "index.html").exists():
        raise ZugwerkError(f"{options.folder}: no page; zugwerk export --web {options.folder} writes one")
    with chromium() as browser, served(options.folder) as address:
        if browser is None:
            raise ZugwerkError("no Chromium, or no playwright (pip, extra dev)")
        found = {name: _rates(browser, address, name, options) for name in PLAYERS}
        first = {game: _first_move(browser, address, options.folder, game) for game in MOVES}
    print(json.dumps({"players": found, "first_move": first}, indent=1))


def _rates(browser: Any, address: str, name: str, options: argparse.Namespace) -> dict[str, float]:
    """Nodes or simulations a second of a player in the page and natively, and the page's memory."""
    game, size, variant = PLAYERS[name]
    page = browser.new_page(service_workers="block")
    page.goto(address)
    before, shares = _memory(), list[tuple[float, float]]()
    position = zugwerk.game(game, size, variant).play(*MOVES[game])
    for k in range(1 + options.rounds):  # the first one compiles and loads
        nodes, seconds = page.evaluate(SEARCH, [game, size, variant, MOVES[game], name, options.movetime])
        with zugwerk.player(name, game) as native:  # the page begins each search with an empty tree
            native.think(position, nodes=1)
            began = time.perf_counter()
            own = native.think(position, movetime=options.movetime).nodes or 0
            if k:
                shares.append((nodes / seconds, own / (time.perf_counter() - began)))
    memory = _memory() - before
    page.close()
    ours, theirs = (statistics.median(side) for side in zip(*shares, strict=True))
    ratio = statistics.median(one / other for one, other in shares)
    return {"page_per_s": ours, "native_per_s": theirs, "ratio": ratio, "memory_mib": memory / 2**20}


def _memory() -> int:
    """Resident bytes of all processes below this one that draw pages."""
    children = psutil.Process().children(recursive=True)
    return sum(one.memory_info().rss for one in children if "--type=renderer" in one.cmdline())


def _first_move(browser: Any, address: str, folder: Path, game: str) -> dict[str, float]:
    """Seconds from the address to the first answer of 100 ms in a new browser context, and MiB of what was loaded."""
    page, asked = browser.new_context(service_workers="block").new_page(), set[str]()
    page.context.on("request", lambda one: asked.add(one.url))
    name = {"gomoku": "zero", "amazons": "puct"}[game]
    _, size, variant = PLAYERS[name]
    began = time.perf_counter()
    page.goto(f"{address}#/play")
    page.evaluate(SEARCH, [game, size, variant, [], name, 100])
    seconds = time.perf_counter() - began
    page.context.close()
    files = {folder / url.removeprefix(address).partition("#")[0].partition("?")[0] for url in asked}
    sizes = [len(gzip.compress(path.read_bytes())) for path in files if path.is_file()]
    return {"seconds": seconds, "gzipped_mib": sum(sizes) / 2**20, "files": len(sizes)}


if __name__ == "__main__":
    run_main(main)
