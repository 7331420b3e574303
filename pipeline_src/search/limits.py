"""How long a search may go on, and what it found."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from pipeline_src.jit.needs import Need


@dataclass(frozen=True)
class Limit:
    """Where a search ends; the first limit reached counts. Without any, only `Searcher.stop` ends it."""

    depth: int | None = None
    """Plies of whole turns, at least 1."""
    nodes: int | None = None
    """Positions evaluated (searches with playouts or nets: iterations)."""
    movetime_ms: float | None = None
    """Wall time."""

    def __post_init__(self) -> None:
        for name in ("depth", "nodes", "movetime_ms"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be above 0, not {value}")


@dataclass(frozen=True)
class Clock:
    """Time on the clocks of a game, as the side to move sees them; all in milliseconds."""

    own_ms: float
    other_ms: float
    increment_ms: float = 0.0


@dataclass(frozen=True)
class SearchResult:
    """What a search has found; the last report of a search is its answer."""

    action: int
    """The best action, legal."""
    value: float
    """Its value to the side to move, in the unit of the evaluation (squares; nets: win rate in -1..1)."""
    depth: int
    """Plies searched to the end; for tree searches, of the longest line."""
    nodes: int
    """Positions evaluated, or iterations: what ``Limit.nodes`` counts."""
    pv: tuple[int, ...]
    """Principal variation, from ``action`` on, in actions."""
    seconds: float


OnInfo = Callable[[SearchResult], None]
MARGIN_MS, MARGIN_SHARE, MOST_MARGIN_MS = 4.0, 0.05, 20.0
"""How long before its time is over a search is told to end: what it takes to notice, and to answer. The share of its
time is for the turns of other processes on a busy machine."""


def searching_seconds(movetime_ms: float) -> float:
    """Seconds after which a search that has so many milliseconds is told to end; above 0."""
    margin = max(MARGIN_MS, min(MARGIN_SHARE * movetime_ms, MOST_MARGIN_MS))
    return (movetime_ms - min(margin, movetime_ms / 4)) / 1e3


class Searcher(Protocol):
    """A search that can be limited, watched and stopped. One search at a time."""

    def search(self, state: Any, limit: Limit, seed: int = 0, on_info: OnInfo | None = None) -> SearchResult:
        """Search an unfinished position, which stays as it was.

        Without a time limit, the result depends on the arguments alone.
        """

    def stop(self) -> None:
        """End the search under way, from another thread; it still answers with a legal action."""

    def needs(self, state: Any) -> "list[Need]":
        """All kernels that searches of positions shaped as ``state`` call, so that none is compiled on a clock."""


@dataclass
class StopFlag:
    """A byte that compiled code looks at between two nodes, set by `set` or by a timer."""

    raised: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(1, np.uint8))

    def set(self) -> None:
        """Ask the search to end."""
        self.raised[0] = 1

    def clear(self) -> None:
        """Before a search."""
        self.raised[0] = 0

    @contextmanager
    def after(self, seconds: float | None) -> Iterator[None]:
        """Raise the flag once ``seconds`` have passed within the block; None is never.

        The compiled search must have let go of the interpreter's lock (``nogil=True``) for the timer to run.
        """
        if seconds is None:
            yield
            return
        timer = threading.Timer(max(0.0, seconds), self.set)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
