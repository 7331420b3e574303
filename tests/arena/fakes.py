"""Searches that take as long as they like, as player ``fake`` of each game; run as a module, the command ``zugwerk``.

Options of that of the Amazons: ``early`` ends a search without limits by itself; ``first_ms`` is slept before the
search clears its stop flag, as real ones do while they set up; ``deaf`` never hears a stop; ``fail`` raises; ``held``
is a file: until it is there, a kernel that the search needs is being compiled. Options of that of Gomoku: ``value`` is
what it finds; ``fail`` raises.
"""

import threading
import time
from pathlib import Path

from numba.core.compiler_lock import global_compiler_lock

from pipeline_src.games import amazons, gomoku
from pipeline_src.jit import Need, njit
from pipeline_src.players import AMAZONS, GOMOKU
from pipeline_src.players.searching import Limits, SearchPlayer
from pipeline_src.search.limits import Limit, SearchResult

AMAZONS["fake"] = "tests.arena.fakes:fake_player"
GOMOKU["fake"] = "tests.arena.fakes:gomoku_player"


class FakeSearcher:
    """Counts nodes, ten a millisecond, and plays the first legal turn."""

    def __init__(self, options):
        self.options = options
        self.stopped = threading.Event()
        self.running = 0

    def needs(self, state):
        return [Need(held_kernel(Path(self.options.held)), (0,))] if self.options.held else []

    def search(self, state, limit, seed=0, on_info=None):
        assert not self.running, "two searches at once"
        self.running = 1
        if self.options.fail:
            self.running = 0
            raise RuntimeError("the search failed")
        time.sleep(self.options.first_ms / 1000)
        self.stopped.clear()
        begin, depth = time.perf_counter(), 0
        action = int(amazons.legal_actions(state)[0])
        while True:
            depth += 1
            seconds = time.perf_counter() - begin
            found = SearchResult(action, 1.25, depth, int(10_000 * seconds) + 1, (action,), seconds)
            if on_info is not None and depth in (1, 2):
                on_info(found)
            if (
                (self.stopped.is_set() and not self.options.deaf)
                or (limit.nodes is not None and found.nodes >= limit.nodes)
                or (limit.depth is not None and depth >= limit.depth)
                or (limit.movetime_ms is not None and seconds * 1000 >= limit.movetime_ms)
                or (self.options.early and depth == 3)
            ):
                self.running = 0
                return found
            time.sleep(0.001)

    def stop(self):
        self.stopped.set()


def held_kernel(file):
    """Whoever calls a kernel meanwhile waits too, since numba compiles and loads one at a time."""
    kernel = njit(lambda number: number)
    compile_it = kernel.compile

    def compile_then(signature):
        with global_compiler_lock:
            while not file.exists():
                time.sleep(0.01)
            return compile_it(signature)

    kernel.compile = compile_then
    return kernel


class FakeOptions(Limits):
    DEFAULT = Limit(nodes=50)

    early: bool = False
    first_ms: float = 0.0
    deaf: bool = False
    fail: bool = False
    held: str = ""


def fake_player(options: FakeOptions):
    return SearchPlayer(FakeSearcher(options), options.limit)


class GomokuSearcher:
    """Plays the first empty cell after as long as it may take; remembers the limits that it was given."""

    def __init__(self, options):
        self.options, self.stopped, self.limits = options, threading.Event(), []

    def needs(self, state):
        return []

    def search(self, state, limit, seed=0, on_info=None):
        if self.options.fail:
            raise RuntimeError("the search failed")
        self.limits.append(limit)
        self.stopped.clear()
        begin = time.perf_counter()
        if limit.nodes is None:
            self.stopped.wait(None if limit.movetime_ms is None else limit.movetime_ms / 1000)
        seconds = time.perf_counter() - begin
        action = int(gomoku.legal_actions(state)[0])
        return SearchResult(action, self.options.value, 1, 1, (action,), seconds)

    def stop(self):
        self.stopped.set()


class GomokuOptions(Limits):
    DEFAULT = Limit(nodes=1)

    value: float = 0.0
    fail: bool = False


def gomoku_player(options: GomokuOptions):
    return SearchPlayer(GomokuSearcher(options), options.limit)


if __name__ == "__main__":
    from pipeline_src.cli import main

    main()
