"""The thread in which an engine's player searches while another thread reads commands."""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from pipeline_src.errors import ZugwerkError, missing_extra
from pipeline_src.players.player import Player

PRESS_S = 0.002
"""Seconds between repeated requests to stop: a search that is about to begin may miss the first one."""
Job = Callable[[], None]


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
        """Note the player that searches until `end`."""
        self._player = player

    def end(self) -> None:
        """Note that the search has ended."""
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
    """Runs jobs one after the other. Searches can be stopped from outside."""

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
