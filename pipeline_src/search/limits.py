"""`Limit`, `SearchResult` and `Searcher`: the interface that all searches share."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import isqrt
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from pipeline_src.processes import STOPPABLE

if TYPE_CHECKING:
    from pipeline_src.jit import Need


@dataclass(frozen=True)
class Limit:
    """Limits of a search. The first one reached ends it; without any, only `Searcher.stop` does.

    ``Limit(depth=4)`` or ``Limit(nodes=10_000, movetime_ms=500)``.
    """

    depth: int | None = None  # Plies of whole turns, at least 1
    nodes: int | None = None  # Positions evaluated; for tree searches, iterations
    movetime_ms: float | None = None  # Milliseconds of wall time
    lines: int = 1
    """Number of best actions that reports have lines for (`SearchResult.lines`); searches without lines ignore it."""
    actions: tuple[int, ...] = ()  # Actions of the root that may be chosen, empty for all; only `AlphaBeta` heeds it

    def __post_init__(self) -> None:
        for name in ("depth", "nodes", "movetime_ms", "lines"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be above 0, not {value}")

    @property
    def endless(self) -> bool:
        """Whether only `Searcher.stop` ends the search, as for a person who looks at a position."""
        return self.depth is None and self.nodes is None and self.movetime_ms is None


@dataclass(frozen=True)
class Clock:
    """Time on the clocks of a game in milliseconds, from the point of view of the side to move."""

    own_ms: float
    other_ms: float
    increment_ms: float = 0.0
    moves: int | None = None
    """Own moves, this one included, after which new time is added; None: the time is for the whole game."""


@dataclass(frozen=True)
class Line:
    """One of the best actions of a position, with its expected continuation."""

    pv: tuple[int, ...]  # The action, and the best line after it
    value: float  # Its value to the side to move, in the unit of the evaluation
    depth: int  # Depth in plies of the iteration that found it; for tree searches, length of the line
    visits: int | None = None  # Simulations of a tree search that began with the action


@dataclass(frozen=True)
class SearchResult:
    """A report of a search. The last report is its answer."""

    action: int  # The best action, legal
    value: float  # Its value to the side to move, in the unit of the evaluation (squares; nets: win rate in -1..1)
    depth: int  # Depth in plies of the last finished iteration; for tree searches, length of the longest line
    nodes: int  # Positions evaluated, or iterations: what `Limit.nodes` counts
    pv: tuple[int, ...]  # Principal variation as actions, beginning with `action`
    seconds: float
    lines: tuple[Line, ...] = ()
    """The best actions, ``action`` first, if `Limit.lines` asks for more than one and the search has them."""


OnInfo = Callable[[SearchResult], None]
FOREVER = (1 << 31) - 1  # More nodes than any search visits
REPORT_S = 0.08  # Seconds between two reports to a person, ten a second
MARGIN_MS, MARGIN_SHARE, MOST_MARGIN_MS = 4.0, 0.05, 20.0
"""Reserve before the end of a search's time, for noticing the stop and answering. The share of the time is for other
processes on a busy machine."""


def searching_seconds(movetime_ms: float) -> float:
    """Return the seconds, above 0, after which a search with ``movetime_ms`` milliseconds is stopped."""
    margin = max(MARGIN_MS, min(MARGIN_SHARE * movetime_ms, MOST_MARGIN_MS))
    return (movetime_ms - min(margin, movetime_ms / 4)) / 1e3


class Slices:
    """How far a tree search runs until its next report, `upto`: twice as far each time, or for `REPORT_S` seconds."""

    def __init__(self, first: int, timed: bool) -> None:
        """Report first after ``first`` iterations."""
        self.upto = self._step = self._first = first
        self._timed, self._since = timed, time.perf_counter()

    def extend(self) -> None:
        """Go on after a report."""
        now = time.perf_counter()
        growth = min(2.0, REPORT_S / max(1e-6, now - self._since))
        self._step = max(self._first, int(self._step * growth)) if self._timed else self.upto
        self.upto, self._since = self.upto + self._step, now


@contextmanager
def repeated(on_info: OnInfo | None, limit: Limit, nodes: Callable[[], int]) -> Iterator[OnInfo | None]:
    """Yield what takes the reports within the block, and in an endless search repeats the last with new ``nodes``.

    The iterations of a deepening take longer and longer; the repetitions come every `REPORT_S` seconds, from a thread.
    """
    if on_info is None or not limit.endless:
        yield on_info
        return
    tell, latest = on_info, list[tuple[SearchResult, float]]()
    over, one_by_one = threading.Event(), threading.Lock()

    def report(found: SearchResult) -> None:
        with one_by_one:
            latest[:] = [(found, time.perf_counter())]
            tell(found)

    def repeat() -> None:
        while not over.wait(REPORT_S):
            with one_by_one:
                for found, then in latest:
                    tell(replace(found, nodes=nodes(), seconds=found.seconds + time.perf_counter() - then))

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield report
    finally:
        over.set()
        thread.join()


class Searcher(Protocol):
    """A search that can be limited, observed and stopped. One search at a time."""

    def search(self, state: Any, limit: Limit, seed: int = 0, on_info: OnInfo | None = None) -> SearchResult:
        """Search an unfinished position, which is not changed.

        Without a time limit, the result depends on the arguments alone. ``on_info`` may be called from another thread.
        """

    def stop(self) -> None:
        """End the running search, from another thread. It still answers with a legal action."""

    def needs(self, state: Any) -> "list[Need]":
        """Return all kernels that searches of positions like ``state`` call, so that none is compiled on a clock."""


LEAST_WAIT_S = 5e-4  # CPU time that is not waited for any more
_on_cpu_time = threading.Event()


@contextmanager
def on_cpu_time(wanted: bool) -> Iterator[None]:
    """Within the block, if ``wanted``, the time of searches is the CPU time of this process."""
    if not wanted:
        yield
        return
    _on_cpu_time.set()
    try:
        yield
    finally:
        _on_cpu_time.clear()


@dataclass(eq=False)
class StopFlag:
    """A byte that compiled code checks between two nodes, set by `set`, by a timer or by Ctrl-C."""

    raised: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(1, np.uint8))

    def __post_init__(self) -> None:
        STOPPABLE.add(self)

    def set(self) -> None:
        """Ask the search to end."""
        self.raised[0] = 1

    def clear(self) -> None:
        """Reset the flag before a search."""
        self.raised[0] = 0

    @contextmanager
    def after(self, seconds: float | None) -> Iterator[None]:
        """Set the flag once ``seconds`` have passed within the block, see `on_cpu_time`; None is never.

        The compiled search must release the interpreter's lock (``nogil=True``) for the timer to run.
        """
        if seconds is None:
            yield
            return
        seconds, watch = min(max(0.0, seconds), threading.TIMEOUT_MAX), self.set
        over, by_cpu = threading.Event(), _on_cpu_time.is_set()
        if by_cpu:
            end = time.process_time() + seconds

            def watch() -> None:
                while (left := end - time.process_time()) > LEAST_WAIT_S:
                    if over.wait(left / 2):  # the times of several threads add up
                        return
                self.set()

        timer = threading.Timer(0.0 if by_cpu else seconds, watch)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            over.set()
            timer.cancel()


# Time management: the time for a move of a game on a clock.
#
# The time left is divided over the expected moves, with weights that rise towards the middle of the game and then fall:
# openings are repeated often, and late positions have few choices.


GAME_PLIES = 80
"""Default number of plies of a whole game: the length of games of the Amazons on 10x10 between good players."""
AT_LEAST = 16  # Expected number of further plies of a game that is longer than `GAME_PLIES`
SHARE = 0.2  # Largest share of the time left for one move
LAST_SHARE = 0.8  # `SHARE` of the last move before new time is added; half of it of the last but one
LAG_MS = 10.0
"""Milliseconds that a move costs besides its search: transfer of the answer, and delay of the search's end."""
LEAST_MS = 1.0


def expected_plies(played: int, legal: int, game_plies: int = GAME_PLIES) -> int:
    """Return the expected number of plies left in a game, of both sides.

    Args:
        played: plies so far.
        legal: number of legal actions; a side with few of them has few moves left.
        game_plies: plies of a whole game.
    """
    return max(2, min(max(game_plies - played, AT_LEAST), 2 * legal))


def movetime_ms(clock: Clock, played: int, expected: int, lag_ms: float = LAG_MS, even: bool = False) -> float:
    """Return the milliseconds to search for this move: above 0, and never more than the time left unless that is 0.

    Args:
        clock: the clock, as the side to move sees it.
        played: plies so far.
        expected: plies left in the game, see `expected_plies`.
        lag_ms: milliseconds that each move costs besides its search.
        even: whether all moves have the same weight.
    """
    length = played + expected
    weights = [1.0 if even else _weight(ply / length) for ply in range(played, length, 2)][: clock.moves]
    moves = len(weights)
    share = SHARE if clock.moves is None else max(SHARE, LAST_SHARE / clock.moves)
    # The increment comes after each move, so the last one is useless.
    usable = clock.own_ms + (moves - 1) * clock.increment_ms - moves * lag_ms
    planned = usable * weights[0] / sum(weights)
    most = min(share * clock.own_ms + clock.increment_ms, max(share, 0.5) * clock.own_ms, clock.own_ms - lag_ms)
    return max(min(planned, most), min(LEAST_MS, max(clock.own_ms / 2, 1e-3)))


def _weight(elapsed: float) -> float:
    """Return the weight of a move when the share ``elapsed`` of the game is over; highest at 0.37."""
    return 0.3 + math.sin(math.pi * elapsed**0.7)


# Time management for Gomoku: the smaller of the turn's and the match's time, less the cost of an answer.


AT_ONCE_MS = 20.0  # Milliseconds for a move if the manager wants it as fast as possible
PLIES_A_ROW, TURN_AT_LEAST = 3, 16
"""Expected plies of a whole game for each row of the board; expected further plies of a game that lasts longer."""
ANSWER_MS = 10.0
"""Milliseconds reserved for each answer until the board is full; at most three quarters of the time left."""
LAGS = 200  # Number of moves for whose margins the time of a whole match suffices, if nothing is searched


def thinking_ms(
    timeout_turn: float | None,
    left: float | None,
    used: float,
    margin: float,
    played: int,
    cells: int,
    match: float | None = None,
) -> float | None:
    """Return the milliseconds to search; None if no time is set.

    Args:
        timeout_turn: time for this move; 0 is as fast as possible, None is no limit.
        left: time left for the whole game; None is no limit.
        used: time since the manager asked for the move.
        margin: reserve for delays of the answer and of the search; at most half of a shorter time.
        played: plies so far.
        cells: number of cells of the board.
        match: time of the whole game at its start, if known. With a short one, less is reserved for each move.
    """
    times = []
    if timeout_turn is not None:
        times.append(AT_ONCE_MS if timeout_turn == 0 else max(timeout_turn / 2, timeout_turn - margin))
    if left is not None:
        own = max(left - margin, left / 2, LEAST_MS)
        own -= min(0.75 * own, ANSWER_MS * (cells - played) / 2)
        clock = Clock(own, own)
        lag = margin if match is None else min(margin, match / LAGS)
        times.append(movetime_ms(clock, played, expected_stones(played, cells), lag, even=True))
    return max(LEAST_MS, min(times) - used) if times else None


def expected_stones(played: int, cells: int) -> int:
    """Return the expected number of plies left in a game, of both sides. Every ply takes a cell."""
    return max(2, min(max(PLIES_A_ROW * isqrt(cells) - played, TURN_AT_LEAST), cells - played))
