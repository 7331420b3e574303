"""One conversation with whoever speaks the protocol: commands in, answers out, the search in a thread of its own."""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pipeline_src import __version__
from pipeline_src.arena.uci.commands import GoCommand, Placed, read_go, read_position
from pipeline_src.arena.uci.report import info_line
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.players.player import Player, Position
from pipeline_src.players.registry import make_player
from pipeline_src.players.think import Found, close, searches, stop, think, warm_up
from pipeline_src.players.uci_text import write_move

DEFAULT_PLAYER = "alphabeta"
OVERHEAD_MS = 10
PRESS_S = 0.002
"""Between two askings of a search to stop: one that was just about to begin may miss the first."""

Job = Callable[[], None]


@dataclass
class Search:
    """One ``go``."""

    placed: Placed
    go: GoCommand
    stopped: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Session:
    """Answers `handle`'s lines through ``write``; lines come from one thread, ``write`` is called from two."""

    def __init__(self, game: str, player: str, write: Callable[[str], None], seed: int = 0) -> None:
        """``player`` is a text for `make_player`, read when it is first needed."""
        self._game, self._rules, self._text, self._write, self._seed = game, get_game(game), player, write, seed
        start = self._rules.initial_state()
        self._placed = Placed(start, start)
        self._player: Player | None = None
        self._rng = np.random.default_rng(seed)
        self._overhead_ms = float(OVERHEAD_MS)
        self._searches: list[Search] = []
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()

    def handle(self, line: str) -> bool:
        """Act on one line; False once the conversation is over."""
        words = line.split()
        if not words:
            return True
        if words[0] == "quit":
            return False
        act = self._COMMANDS.get(words[0])
        if act is None:
            self._inform(f"unknown command {words[0][:40]!r}")
            return True
        try:
            act(self, words[1:])
        except OSError:
            raise  # nobody reads the answers any more
        except Exception as error:
            self._inform(_words(error))
        return True

    def finish(self, seconds: float) -> None:
        """Stop what is searched and wait so long at most for the answers."""
        self._stop([])
        self._jobs.put(None)
        self._worker.join(seconds)

    def _inform(self, text: str) -> None:
        self._write("info string " + " ".join(text.split())[:300])

    def _uci(self, _: list[str]) -> None:
        self._write(f"id name Zugwerk {__version__} {self._game}")
        self._write("id author the Zugwerk authors")
        self._write(f"option name Player type string default {self._text}")
        self._write(f"option name Move Overhead type spin default {OVERHEAD_MS} min 0 max 10000")
        self._write("uciok")

    def _isready(self, _: list[str]) -> None:
        if any(not search.done.is_set() for search in self._searches):
            self._write("readyok")  # asked in mid-search, it is a sign of life
        else:
            self._jobs.put(self._ready)

    def _newgame(self, _: list[str]) -> None:
        self._stop([])
        self._jobs.put(self._forget)

    def _setoption(self, words: list[str]) -> None:
        at = words.index("value") if "value" in words else len(words)
        name, value = " ".join(words[1:at]).lower(), " ".join(words[at + 1 :])
        if words[:1] != ["name"] or not value:
            raise ZugwerkError("setoption: expected name NAME value VALUE")
        if name == "player":
            self._stop([])
            self._jobs.put(lambda: self._change_player(value))
        elif name == "move overhead":
            if not (value.isascii() and value.isdigit()) or int(value[:9]) > 10_000:
                raise ZugwerkError(f"Move Overhead must be 0 to 10000 ms, not {value[:40]!r}")
            self._overhead_ms = float(value)
        else:
            raise ZugwerkError(f"no option {name[:40]!r}; there are: Player, Move Overhead")

    def _position(self, words: list[str]) -> None:
        self._placed = read_position(self._rules, words)

    def _go(self, words: list[str]) -> None:
        self._stop([])
        go = read_go(words)
        for complaint in go.complaints:
            self._inform(complaint)
        search = Search(self._placed, go)
        self._searches = [other for other in self._searches if not other.done.is_set()] + [search]
        self._jobs.put(lambda: self._run(search))

    def _stop(self, _: list[str]) -> None:
        for search in self._searches:
            if not search.done.is_set() and not search.stopped.is_set():
                search.stopped.set()
                threading.Thread(target=self._press, args=(search,), daemon=True).start()

    def _ignore(self, _: list[str]) -> None:
        pass

    _COMMANDS = {  # noqa: RUF012 - a table, never changed
        "uci": _uci,
        "isready": _isready,
        "ucinewgame": _newgame,
        "setoption": _setoption,
        "position": _position,
        "go": _go,
        "stop": _stop,
        "ponderhit": _ignore,
        "debug": _ignore,
        "register": _ignore,
    }

    def _press(self, search: Search) -> None:
        """Ask the player to stop until the search is done."""
        while not search.done.is_set():
            with search.lock:
                if self._player is not None and search is self._searching and not search.done.is_set():
                    stop(self._player)
            search.done.wait(PRESS_S)

    # What follows runs in the worker's thread, one job after the other.

    _searching: Search | None = None

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception as error:
                self._inform(_words(error))

    def _make(self) -> Player:
        if self._player is None:
            self._player = make_player(self._game, self._text)
        return self._player

    def _ready(self) -> None:
        try:
            rules = self._rules
            start = rules.initial_state()
            move = write_move(rules, start, int(rules.legal_actions(start)[0]))
            read_position(rules, ["startpos", "moves", move])  # the rules' kernels, before any clock runs
            warm_up(self._make(), Position(start, np.random.default_rng(0), start))
        except ZugwerkError as error:
            self._inform(str(error))
        self._write("readyok")

    def _forget(self) -> None:
        self._rng = np.random.default_rng(self._seed)
        if self._player is not None:
            close(self._player)
        self._player = None  # made anew, without what it remembers of the last game

    def _change_player(self, text: str) -> None:
        player = make_player(self._game, text)  # a wrong text leaves the old player
        if self._player is not None:
            close(self._player)
        self._player, self._text = player, text

    def _run(self, search: Search) -> None:
        best = "(none)"
        try:
            best = self._search(search)
        except Exception as error:
            self._inform(_words(error))
        with search.lock:
            search.done.set()
            self._searching = None
        self._write(f"bestmove {best}")

    def _search(self, search: Search) -> str:
        placed, rules = search.placed, self._rules
        state = placed.state
        if rules.winner(state) is not None:
            self._inform("the game is over")
            return "(none)"
        player = self._make()
        position = search.go.place(placed, rules.to_play(state), self._rng, self._overhead_ms)
        bounds = search.go.bounds(self._overhead_ms)
        self._searching = search
        reported: Found | None = None

        def report(found: Found) -> None:
            nonlocal reported
            reported = found
            self._write(info_line(rules, state, found))

        action, found = think(player, position, bounds, report)
        if found is not None and found != reported:
            report(found)
        if bounds.infinite and searches(player):
            search.stopped.wait()  # an infinite search that has nothing left to look at still owes its answer to a stop
        return write_move(rules, state, action)


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, ZugwerkError) else f"{type(error).__name__}: {error}"
