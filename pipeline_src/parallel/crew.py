"""`Crew`, the interface of task runners, and `Batches`, the units of work.

How tasks are batched changes no result: each has its own arguments and seed. The size of a batch follows from the
number of workers and from the time that tasks take, so it is no param.
"""

import importlib.metadata
import os
import platform
import secrets
import socket
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.code import Code

ATTEMPTS = 3  # Number of attempts at a task. A task that ended this many workers is given up.
BATCH_S = 10.0
"""Seconds that a batch should take: long compared with the cost of sending it, and short enough to lose in a kill."""
QUICK_S = 0.1  # Batches shorter than this many seconds are quick: sending the next one takes about as long
SHARES = 4  # Divisor of a worker's share of the waiting tasks, the largest batch, so that all workers end together
Task = tuple[Any, ...]
Function = Callable[[list[Task]], list[Any]]
"""Returns one result for each task of a batch. It can be pickled, and so can the arguments and the results."""
Results = Generator[list[tuple[int, Any]], None, None]
"""Indices and results of the tasks of each batch, in the order in which batches finish."""


class Batches:
    """Tasks that wait, from the first to the last."""

    def __init__(self, tasks: Sequence[Task], together: int) -> None:
        """``together`` tasks are quicker in one batch than in several; with 0 each task is a batch."""
        self.tasks, self.together = tasks, together
        self._waiting, self._again = deque(range(len(tasks))), deque[list[int]]()
        self._seconds = 0.0  # Seconds of a task in the last finished batch; 0 before the first one
        self.quick = False  # Whether the last finished batch took so little time that sending it matters

    def __bool__(self) -> bool:
        return bool(self._waiting or self._again)

    def take(self, workers: int) -> list[int]:
        """Return the indices of the next batch for one of ``workers`` workers."""
        if self._again:
            return self._again.popleft()
        share = -(-len(self._waiting) // workers)
        wanted = max(self.together, int(BATCH_S / self._seconds) if self._seconds else 1)
        size = min(wanted, max(-(-share // SHARES), min(self.together, share))) if self.together else 1
        return [self._waiting.popleft() for _ in range(size)]

    def give_back(self, *batches: list[int]) -> None:
        """Let batches wait again, before all others."""
        self._again.extendleft(reversed(batches))

    def split(self, batch: list[int]) -> bool:
        """Let the tasks of a batch wait again one by one; return whether there are several, else change nothing."""
        if len(batch) > 1:
            self.give_back(*([index] for index in batch))
        return len(batch) > 1

    def done(self, batch: list[int], answer: tuple[float, list[Any]]) -> list[tuple[int, Any]]:
        """Return the index and the result of each task of a batch that `timed` has answered."""
        seconds, results = answer
        self._seconds, self.quick = max(seconds, 1e-6) / len(batch), seconds < QUICK_S
        return list(zip(batch, results, strict=True))


def timed(function: Function, tasks: list[Task]) -> tuple[float, list[Any]]:
    """Return the seconds that a batch took, and the results."""
    begin = time.perf_counter()
    results = function(tasks)
    return time.perf_counter() - begin, results


class Crew(Protocol):
    """Worker processes, kept from one set of tasks to the next."""

    def run(self, function: Function, batches: Batches, at_end: Callable[[], None]) -> Results:
        """Yield index and result of each task, batch by batch; the tasks of a worker that dies are retried.

        A task that was given up has no result. If the generator is closed early, unfinished tasks are given up.
        ``at_end`` is called in the remaining workers.

        Raises:
            ZugwerkError: no worker is admitted, or the connection to the cluster is lost.
            Exception: any error of the function.
        """

    def close(self) -> None:
        """End the workers, or disconnect from a cluster that others started."""


# Admission of workers: the same code, the same libraries, and the same files in the same place as the sender.
#
# Each batch carries a `Ticket`, which its worker checks before it begins, so workers that join late are checked too.


LIBRARIES = ("numpy", "numba", "torch", "onnxruntime", "pyarrow", "dask", "distributed")
"""Libraries with versions that results may depend on, and libraries that carry tasks and results."""
VISIBLE_S = 5.0  # Seconds that a network file system may take to show a new file
SOURCES = Code().digest_of_all()  # Digest of all first-party code as this process loaded it

_ADMITTED: set[str] = set()


class Ticket(NamedTuple):
    """Requirements for a worker."""

    folder: str  # Base folder of the tasks' paths: the working folder of the sender
    token: str  # Name of a file in `token_folder`
    versions: dict[str, str]


def issue() -> Ticket:
    """Return a ticket of this process, and write its file, which `withdraw` removes."""
    ticket = Ticket(str(Path.cwd()), secrets.token_hex(8), versions())
    path = _token_file(ticket)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(ticket.token)
    return ticket


def withdraw(ticket: Ticket) -> None:
    """Remove the file of a ticket."""
    _token_file(ticket).unlink(missing_ok=True)


def admit(ticket: Ticket) -> None:
    """Check this worker on its first sight of the ticket, and change to the ticket's folder.

    Raises:
        ZugwerkError: this worker differs from the sender of the tasks; the message names the difference.
    """
    if ticket.token not in _ADMITTED:
        _look(ticket)
        _ADMITTED.add(ticket.token)
    os.chdir(ticket.folder)


def versions() -> dict[str, str]:
    """Return the versions of Python, of this package's sources and of `LIBRARIES`."""
    found = {"Python": platform.python_version(), "zugwerk": SOURCES[:12]}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "none"
    return found


def _look(ticket: Ticket) -> None:
    here = f"worker {os.getpid()} on {socket.gethostname()}"
    if Code().digest_of_all() != SOURCES:
        raise ZugwerkError(f"{here}: its sources of zugwerk were changed after it started; restart it")
    own = versions()
    for name, version in ticket.versions.items():
        if own[name] != version:
            what = "the sources of zugwerk are" if name == "zugwerk" else f"{name} is"
            raise ZugwerkError(
                f"{here}: {what} {own[name]} there and {version} here; bring its checkout and its packages to the same "
                "commit and requirements.lock, then restart it"
            )
    end = time.monotonic() + VISIBLE_S
    while not _token_file(ticket).exists():
        if time.monotonic() > end:
            raise ZugwerkError(
                f"{here}: it does not see the files in {ticket.folder}; workers need this folder, under the same path, "
                "from a file system that all machines share"
            )
        time.sleep(0.1)


def _token_file(ticket: Ticket) -> Path:
    return Path(ticket.folder) / "work" / f".cluster-{ticket.token}"
