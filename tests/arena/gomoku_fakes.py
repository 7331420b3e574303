"""A search of Gomoku that takes as long as it may, as player ``fake``; run as a module, it is the command ``zugwerk``.

Options: ``value`` is what it finds; ``fail`` raises; ``late_ms`` is how long it overruns.
"""

import threading
import time

from pipeline_src.games import gomoku
from pipeline_src.players import GOMOKU as PLAYERS
from pipeline_src.players.searching import Limits, SearchPlayer
from pipeline_src.search.limits import Limit, SearchResult

PLAYERS["fake"] = "tests.arena.gomoku_fakes:fake_player"


class FakeSearcher:
    """Plays the first empty cell; remembers the limits that it was given."""

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


class FakeOptions(Limits):
    DEFAULT = Limit(nodes=1)

    value: float = 0.0
    fail: bool = False


def fake_player(options: FakeOptions):
    return SearchPlayer(FakeSearcher(options), options.limit)


if __name__ == "__main__":
    from pipeline_src.cli import main

    main()
