"""A player that serves another program: lines in, lines out on two byte streams, such as stdin and stdout.

`Conversation` is what the protocols have in common, `converse` the loop that reads lines for it.
"""

import math
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

import numpy as np

from pipeline_src.errors import ZugwerkError, missing_extra
from pipeline_src.games.game import Game, get_game
from pipeline_src.games.kernels import rules_need
from pipeline_src.jit import Need, plainly, ready
from pipeline_src.players.player import Bounds, Player, Position, Thought
from pipeline_src.players.registry import build_player
from pipeline_src.search.limits import OnInfo, expected_plies, movetime_ms

Write = Callable[[str], None]

MANY = 1 << 20  # Number of legal actions assumed for a position in which they are not counted
SHARE = 0.5  # Share of a move's time to wait for the kernels. The rest is for the search.


class Preparation:
    """Compiles or loads the kernels of the rules and of a search, in a thread of its own."""

    def __init__(self, needs: Callable[[Any], list[Need]], start: Any) -> None:
        """Start the thread. ``needs`` returns the kernels of the search from a start, as `Player.needs` does."""
        self._needs, self._start = needs, start
        self._done, self._stopped = threading.Event(), threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            ready([*rules_need(self._start), *self._needs(self._start)], self._stopped)
        finally:  # a kernel that could not be compiled raises its error at the call
            self._done.set()

    def stop(self) -> None:
        """Compile no further kernels, because another player is wanted."""
        self._stopped.set()

    def wait(self, milliseconds: float | None = None, given_up: threading.Event | None = None) -> bool:
        """Wait for a share of a move's ``milliseconds``, None without a limit; return whether all kernels are ready.

        The event ``given_up`` ends the wait.
        """
        end = math.inf if milliseconds is None else time.monotonic() + SHARE * milliseconds / 1000
        while not self._done.wait(max(0.0, min(0.05, end - time.monotonic()))):
            if time.monotonic() >= end or (given_up is not None and given_up.is_set()):
                return False
        return True


def any_move(rules: Game, state: Any) -> int:
    """Return a legal action of an unfinished position without calling kernels: the middle one."""
    with plainly():
        actions = rules.legal_actions(state)
    return int(actions[len(actions) // 2])


def time_of(position: Position, bounds: Bounds) -> float | None:
    """Return the milliseconds for a move; None if neither the bounds nor a clock limit it."""
    if bounds.infinite:
        return None
    if bounds.movetime_ms is not None or position.clock is None:
        return bounds.movetime_ms
    played = len(position.actions)
    return movetime_ms(position.clock, played, expected_plies(played, MANY))


def less_time(position: Position, bounds: Bounds, spent_ms: float) -> tuple[Position, Bounds]:
    """Return the position and the bounds with ``spent_ms`` less time."""
    if bounds.movetime_ms is not None:
        bounds = replace(bounds, movetime_ms=max(1.0, bounds.movetime_ms - spent_ms))
    if position.clock is not None:
        clock = position.clock
        position = replace(position, clock=replace(clock, own_ms=max(1.0, clock.own_ms - spent_ms)))
    return position, bounds


PRESS_S = 0.002  # Seconds between repeated requests to stop: a search that is about to begin may miss the first one
Job = Callable[[], object]


@dataclass
class Search:
    """One search, from the moment of its request."""

    stopped: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    hit: threading.Event = field(default_factory=threading.Event)
    """Set by ``ponderhit`` and by a stop: the time of a ponder begins, or it ends."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _player: Player | None = None

    def begin(self, player: Player) -> None:
        """Note the player that searches, until `end` notes that the search has ended."""
        self._player = player

    def end(self) -> None:
        """See `begin`."""
        with self._lock:
            self.done.set()
            self.hit.set()
            self._player = None

    def stop(self) -> None:
        """Ask the player to stop, repeatedly until the search has ended."""
        if not self.done.is_set() and not self.stopped.is_set():
            self.stopped.set()
            self.hit.set()
            threading.Thread(target=self._press, daemon=True).start()

    def _press(self) -> None:
        while not self.done.is_set():
            with self._lock:
                if self._player is not None:
                    self._player.stop()
            self.done.wait(PRESS_S)


class SearchThread:
    """Runs jobs one after the other, while another thread reads commands. Searches can be stopped from outside."""

    def __init__(self, inform: Callable[[str], None]) -> None:
        """``inform`` receives the errors of jobs."""
        self._inform = inform
        self._searches: list[Search] = []
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()

    @property
    def busy(self) -> bool:
        """Whether a search has not ended yet."""
        return any(not search.done.is_set() for search in self._searches)

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._jobs.put(job)

    def search(self, job: Callable[[Search], None]) -> None:
        """Queue a job that searches. It calls `Search.end` before it answers."""
        search = Search()
        self._searches = [other for other in self._searches if not other.done.is_set()] + [search]
        self._jobs.put(lambda: job(search))

    def stop(self) -> None:
        """Stop all searches, including queued ones. They answer with their best move so far."""
        for search in self._searches:
            search.stop()

    def hit(self) -> None:
        """Begin the time of the searches that ponder."""
        for search in self._searches:
            search.hit.set()

    def finish(self, seconds: float) -> None:
        """Stop, and wait ``seconds`` at most for the answers."""
        self.stop()
        self._jobs.put(None)
        self._worker.join(seconds)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception as error:
                self._inform(error_text(error))


def error_text(error: Exception) -> str:
    """Return the text of an expected error, or the type and text of any other."""
    return str(error) if isinstance(error, ZugwerkError) else missing_extra(error) or f"{type(error).__name__}: {error}"


COMPILING = "kernels are still being compiled: any legal move"


class Conversation:
    """A player, its kernels and its searches, from the first line of a conversation to the last.

    The session of a protocol reads commands in `handle`, in one thread, and lets the player think in another one, which
    does one job after the other. So ``write`` is called from two threads.
    """

    TOO_LONG: str  # Answer to a line that is too long

    def __init__(self, game: str, player: str, write: Write, seed: int = 0) -> None:
        """``player`` is a text for `build_player`, which is called when the player is first needed."""
        self._game, self._rules, self._text, self._out = game, get_game(game), player, write
        self._seed, self._rng = seed, np.random.default_rng(seed)
        self._seated = ""  # Text of the player that was made last
        self._player: Player | None = None
        self._preparation: Preparation | None = None
        self._thread = SearchThread(self._complain)

    def handle(self, line: str) -> bool:
        """Handle one line; return False once the conversation is over."""
        raise NotImplementedError

    def finish(self, seconds: float) -> None:
        """Stop the searches and wait ``seconds`` at most for their answers."""
        self._thread.finish(seconds)

    def _complain(self, text: str) -> None:
        """Answer that something failed."""
        raise NotImplementedError

    def _note(self, text: str) -> None:
        """Say something before the next answer."""
        raise NotImplementedError

    # The methods below run in the search thread.

    def _seat(self, text: str, start: Any) -> Player:
        """Return the player of a text, the present one if it has this text; a text that names none changes nothing."""
        if self._player is None or text != self._seated:
            player = build_player(self._game, text)
            if self._preparation is not None:
                self._preparation.stop()
            if self._player is not None:
                self._player.close()
            self._player, self._seated = player, text
            self._made(player)
            self._preparation = Preparation(player.needs, start)
        return self._player

    def _made(self, player: Player) -> None:
        """Set up a player that has just been made."""

    def _ready(self, start: Any, milliseconds: float | None, given_up: threading.Event | None = None) -> bool:
        """Whether the player becomes ready for a game from ``start`` within a share of the time of a move."""
        assert self._player is not None
        assert self._preparation is not None
        if not self._preparation.wait(milliseconds, given_up):
            return False
        self._player.ready(start)
        return True

    def _think(
        self, search: Search, received: float, position: Position, bounds: Bounds, on_info: OnInfo | None = None
    ) -> Thought:
        """Let the player think, with the time since ``received`` taken off; any move while kernels are compiled."""
        time_ms = time_of(*less_time(position, bounds, ms_since(received)))
        if not self._ready(position.start, time_ms, search.stopped):
            self._note(COMPILING)
            return Thought(bounds.actions[0] if bounds.actions else any_move(self._rules, position.state))
        assert self._player is not None
        search.begin(self._player)
        return self._player.think(*less_time(position, bounds, ms_since(received)), on_info)


def ms_since(begin: float) -> float:
    """Return the milliseconds since a time of `time.perf_counter`."""
    return (time.perf_counter() - begin) * 1000


def one_line(text: str) -> str:
    """Return a text without line breaks and of limited length, as protocols need it."""
    return " ".join(text.split())[:300]


LONGEST = 1 << 16  # Longest line in bytes; a game of a hundred moves takes a thousand
LAST_ANSWER_S = 10.0


def converse(
    begin: Callable[[Write], Conversation],
    source: BinaryIO,
    sink: BinaryIO,
    deaf: Callable[[], None] = lambda: None,
) -> None:
    """Answer the lines of ``source`` until the conversation or the input ends.

    At the end of the input, a running search is stopped and still answers. The thread of a search may still run when
    this function returns, so the process should end.

    ``begin`` makes the conversation from a function that writes a line to ``sink``, from any thread. When the reader of
    the answers is gone, ``deaf`` is called, from any thread, and the write then fails.
    """
    lock = threading.Lock()

    def write(line: str) -> None:
        with lock:
            try:
                sink.write(line.encode() + b"\n")
                sink.flush()
            except OSError:
                deaf()
                raise

    conversation = begin(write)
    while line := source.readline(LONGEST):
        if len(line) == LONGEST and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = source.readline(LONGEST)
            write(conversation.TOO_LONG)
        elif not conversation.handle(line.decode("utf-8-sig", "replace")):
            return
    conversation.finish(LAST_ANSWER_S)
