"""`Crew`, the interface of backends that run tasks. Each backend is a module."""

from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol

ATTEMPTS = 3
"""Number of attempts at a task. A task that ended this many workers is given up."""
Tasks = Sequence[tuple[Any, ...]]
"""Arguments of each task."""
Results = Generator[tuple[int, Any], None, None]
"""Index of a task and its result, in the order in which tasks finish; none of a task that was given up."""


class Crew(Protocol):
    """Worker processes, kept from one set of tasks to the next."""

    def run(self, function: Callable[..., Any], tasks: Tasks, at_end: Callable[[], None]) -> Results:
        """``function(*task)`` of each; a worker that dies costs its task alone, which is tried again.

        Closed early, it gives up what has not finished. ``at_end`` is called in the workers that are left.

        Raises:
            ZugwerkError: a worker that has no business here, or a cluster that went away.
            Exception: whatever the function raised.
        """

    def close(self) -> None:
        """End the workers, or let go of a cluster that others started."""
