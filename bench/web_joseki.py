"""Milliseconds of an answer of the joseki page, as a browser sees it, on a library of 10,000 made games.

The positions are those after each of the first moves of some of the games. The reference is the least answer that the
same server gives over the same connection, a file of a few bytes.
"""

import http.client
import itertools
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.measure import medians, row, seconds
from pipeline_src.games.go import format_move
from pipeline_src.systems.joseki.build import Builder
from pipeline_src.systems.joseki.library_file import save
from pipeline_src.systems.joseki.made import make_games
from pipeline_src.systems.joseki.params import MadeGames

GAMES, ASKED, PLIES = 10_000, 10, 12
SEED = 2007
REPEATS = 60
MADE = MadeGames(games=GAMES, plies=120, tenuki=0.15, transposed=0.1, mistakes=0.04)


def measure() -> list[dict[str, Any]]:
    """``web_joseki_ms``."""
    records = make_games(MADE, SEED, 0, GAMES)
    builder = Builder()
    builder.add(records)
    with TemporaryDirectory() as folder:
        save(builder.library(), Path(folder) / "models/joseki/library.joseki")
        command = [sys.executable, "-m", "pipeline_src.cli", "web", "--no-browser", "--port", "0", "--folder", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                host = server.stdout.readline().split()[1].split("/")[2]
                times = _times(host, [record.actions[:PLIES] for record in records[:ASKED]])
            finally:
                server.terminate()
    return [row("web_joseki_ms", *times, "a small file of the same server", "ms")]


def _times(host: str, games: list[tuple[int, ...]]) -> tuple[float, float]:
    connection = http.client.HTTPConnection(host)
    lists = [[format_move(a) for a in actions[:ply]] for actions in games for ply in range(1, len(actions) + 1)]
    paths = itertools.cycle([f"/api/joseki/position?moves={','.join(moves)}" for moves in lists])

    def ask(path: str) -> float:
        def once() -> None:
            connection.request("GET", path)
            answer = connection.getresponse()
            assert answer.read()
            assert answer.status == 200, path

        return 1000 * seconds(once)

    return medians(lambda: ask(next(paths)), lambda: ask("/theme.js"), REPEATS)
