"""A search that takes as long as it likes, as player ``fake``; run as a module, it is the command ``zugwerk`` with it.

Options: ``early`` ends a search without limits by itself; ``first_ms`` is slept before the search clears its stop flag,
as real ones do while they set up; ``deaf`` never hears a stop; ``fail`` raises.
"""

import threading
import time

from pipeline_src.games import amazons
from pipeline_src.players.registry import PLAYERS
from pipeline_src.players.searching import LIMITS, SearchPlayer, read_limit
from pipeline_src.search.limits import Limit, SearchResult

PLAYERS["amazons"] |= {
    "fake": "tests.arena.fakes:fake_player",
    "uci": "pipeline_src.players.engines.uci:uci_player",
}


class FakeSearcher:
    """Counts nodes, ten a millisecond, and plays the first legal turn."""

    def __init__(self, options):
        self.options = options
        self.stopped = threading.Event()
        self.running = 0

    def search(self, state, limit, seed=0, on_info=None):
        assert not self.running, "two searches at once"
        self.running = 1
        if self.options["fail"]:
            self.running = 0
            raise RuntimeError("the search failed")
        time.sleep(self.options["first_ms"] / 1000)
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
                (self.stopped.is_set() and not self.options["deaf"])
                or (limit.nodes is not None and found.nodes >= limit.nodes)
                or (limit.depth is not None and depth >= limit.depth)
                or (limit.movetime_ms is not None and seconds * 1000 >= limit.movetime_ms)
                or (self.options["early"] and depth == 3)
            ):
                self.running = 0
                return found
            time.sleep(0.001)

    def stop(self):
        self.stopped.set()


def fake_player(text):
    limits = dict.fromkeys(LIMITS, float("nan"))
    options = text.numbers(early=0, first_ms=0, deaf=0, fail=0, **limits)
    return SearchPlayer(FakeSearcher(options), read_limit(text, options, Limit(nodes=50)))


if __name__ == "__main__":
    from pipeline_src.cli import main

    main()
