"""CPU time to find a position in 10,000 games of Go, and to read a game into the index; both use one core.

The games are made from textbook joseki, turned, and continued by one another from a random ply: no records are needed.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.measure import Row, row
from bench.strength.joseki import varied
from pipeline_src.games.go import initial_state, replay
from pipeline_src.records.go_find import find
from pipeline_src.records.go_games import write_sgf
from pipeline_src.records.go_index import update
from pipeline_src.records.record import write_records
from pipeline_src.systems.joseki.params import MadeGames
from pipeline_src.systems.joseki.records import make_games

GAMES, MADE, READ, PLIES, REPEATS = 10_000, 400, 200, 260, 3
AT = (4, 8, 16, 32, 64, 128)


def measure() -> list[Row]:
    """``go_find_ms``: median over positions of a whole board; ``go_index_ms``: a game of an SGF file."""
    made = make_games(MadeGames(games=MADE, plies=PLIES, tenuki=0.3, transposed=0.1, mistakes=0.05), 1, 0, MADE)
    games = [varied(made, number) for number in range(GAMES)]
    with tempfile.TemporaryDirectory(prefix="zugwerk-bench-") as name:
        folder = Path(name)
        write_records(games, folder / "games.parquet")
        index = update(folder / "index", folder / "games.parquet")
        for game in games[:READ]:
            (folder / f"{game.gid}.sgf").write_bytes(write_sgf(game))
        (folder / "games.parquet").unlink()
        read = cpu_ms(lambda: update(folder / "index of files", folder)) / READ
    boards = [replay(initial_state(19), games[number].actions) for number in range(REPEATS)]
    positions = [board[min(ply, len(board) - 1)] for board in boards for ply in AT]
    find(index, positions[0])
    times = [cpu_ms(partial(find, index, position)) for position in positions]
    return [
        row("go_find_ms", statistics.median(times), None, None, "ms"),
        row("go_index_ms", read, None, None, "ms"),
    ]


def cpu_ms(function: Callable[[], Any]) -> float:
    """Return the CPU time of one call in milliseconds, which a busy machine changes less than wall time."""
    start = time.process_time()
    function()
    return 1000 * (time.process_time() - start)
