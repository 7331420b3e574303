"""Tasks on the workers of a Dask cluster, and the admission of workers.

Each worker holds a batch beyond the one that it runs, so that none waits for the scheduler. Dask retries a batch whose
worker died, ``distributed.scheduler.allowed-failures`` times, and suspects all batches of that worker. A batch that it
gives up ends the run. (`distributed.as_completed` would wait for a batch for ever; this looks for workers meanwhile.)

A worker is admitted with the same code, the same libraries, and the same files in the same place as the sender. Each
batch carries a `Ticket`, which its worker checks before it begins, so workers that join late are checked too. One that
is not admitted ends the run, with the difference.
"""

import contextlib
import importlib.metadata
import os
import platform
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel.tasks import Batches, Function, Results, Task, timed
from pipeline_src.project.code import Code

CONNECT_S = 60  # Seconds to find the scheduler, and then a worker
EMPTY_S = 180  # Seconds for which a cluster may be without a worker
LOOK_S = 5  # Seconds between two looks at the cluster
AHEAD, LEAST = 2, 32
"""Batches that are sent for each worker, and the least number for all workers while batches are quick."""
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


class DaskCrew:
    """All workers of a cluster that are admitted; each has to run one task at a time."""

    def __init__(self, address: str) -> None:
        """Connect to the scheduler at ``address``.

        Raises:
            ZugwerkError: dask is not installed, or no scheduler or no worker is found.
        """
        try:
            import distributed
        except ImportError:
            raise ZugwerkError("parallel.address: dask is not installed; pip install 'zugwerk[cluster]'") from None
        self.address = address
        try:
            self.client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ZugwerkError(
                f"parallel.address {address}: no Dask scheduler answers there ({_said(error)}); start one with: dask "
                "scheduler"
            ) from None
        self.ticket, self._admitted = issue(), set[str]()
        try:
            self.client.wait_for_workers(1, timeout=CONNECT_S)
        except TimeoutError:
            self.close()
            raise self._no_worker() from None

    def run(self, function: Function, batches: Batches, at_end: Callable[[], None]) -> Results:
        """See `Crew.run`."""
        running, done = dict[Any, list[int]](), SimpleQueue[Any]()
        try:
            looked = seen = 0.0
            workers = 0
            while batches or running:
                if (now := time.monotonic()) > looked + LOOK_S:
                    workers, looked = self._look(), time.monotonic()
                    seen = looked if workers or not seen else seen
                    if now - seen > EMPTY_S:
                        raise self._no_worker()
                most = max(AHEAD * workers, LEAST if batches.quick else 0) if workers else 0
                some = list[list[int]]()
                while batches and len(running) + len(some) < most:
                    some.append(batches.take(workers))
                if some:
                    sent = [[batches.tasks[index] for index in batch] for batch in some]
                    with self._answering():
                        ticket, each = [self.ticket] * len(some), [function] * len(some)
                        futures = self.client.map(_perform, ticket, each, sent, pure=False, batch_size=None)
                    running.update(zip(futures, some, strict=True))
                    for future in futures:
                        future.add_done_callback(done.put)
                ready = [future for future in _ready(done) if future in running]
                for future, answer in zip(ready, self._answers(ready), strict=True):
                    batch = running.pop(future)
                    if answer is None:
                        raise batches.died(batch)
                    yield batches.done(batch, answer)
        finally:
            self._cancel(running)
            with contextlib.suppress(Exception):
                self.client.run(at_end, on_error="ignore")

    def close(self) -> None:
        """See `Crew.close`."""
        withdraw(self.ticket)
        with contextlib.suppress(Exception):
            self.client.close(timeout=CONNECT_S)

    def _look(self) -> int:
        """Return the number of workers, once new ones are admitted.

        A worker without this package would end when it unpacks a batch, so it gets a call by itself first.

        Raises:
            ZugwerkError: one is not admitted, or runs several tasks at a time; or the scheduler does not answer.
        """
        with self._answering():
            threads: dict[str, int] = self.client.nthreads()
            new = [worker for worker in threads if worker not in self._admitted]
            answers = self.client.run(admit, self.ticket, workers=new, on_error="return") if new else {}
        for worker, count in threads.items():
            if count != 1:
                raise ZugwerkError(
                    f"worker {worker} runs {count} tasks at a time in threads, but players and nets are not "
                    "thread-safe; start it with --nthreads 1, and --nworkers for more"
                )
        died = {worker for worker, answer in answers.items() if isinstance(answer, OSError)}
        for worker in answers.keys() - died:
            if isinstance(answers[worker], BaseException):
                raise _refusal(answers[worker])
            self._admitted.add(worker)
        return len(threads.keys() - died)

    def _answers(self, futures: list[Any]) -> list[tuple[float, list[Any]] | None]:
        """Return the result of `timed`, or None if the worker died each time.

        Raises:
            ZugwerkError: a worker is not admitted, or the scheduler does not answer.
            Exception: any error of the function.
        """
        from distributed import KilledWorker

        found: dict[Any, Any] = {}
        with self._answering(), contextlib.suppress(KilledWorker):  # a result may be lost with its worker
            good = [future for future in futures if future.status == "finished"]
            found.update(zip(good, self.client.gather(good), strict=True))
        for future in futures:
            if future in found:
                continue
            with self._answering():
                if future.status == "cancelled":
                    raise OSError(future.status)
                error = future.exception()
                if error is None:
                    found[future] = self.client.gather(future)
            if error is not None and not isinstance(error, KilledWorker):
                raise _refusal(error)
        return [found.get(future) for future in futures]

    def _cancel(self, futures: dict[Any, list[int]]) -> None:
        with contextlib.suppress(Exception):
            self.client.cancel(list(futures), force=True)

    @contextlib.contextmanager
    def _answering(self) -> Iterator[None]:
        """Turn the errors of a lost connection into one that says what to do."""
        from concurrent.futures import CancelledError

        try:
            yield
        except (OSError, TimeoutError, CancelledError, RuntimeError) as error:
            raise ZugwerkError(
                f"{self.address}: the Dask scheduler does not answer any more ({_said(error)}); restart it and its "
                "workers, then run this again"
            ) from None

    def _no_worker(self) -> ZugwerkError:
        return ZugwerkError(
            f"{self.address}: no Dask worker; start some: dask worker {self.address} --nthreads 1 --nworkers 2"
        )


def _ready(done: "SimpleQueue[Any]") -> Iterator[Any]:
    """Yield the items of the queue; wait for the first up to `LOOK_S`."""
    with contextlib.suppress(Empty):
        yield done.get(timeout=LOOK_S)
        while True:
            yield done.get_nowait()


def _perform(ticket: Ticket, function: Function, tasks: list[Task]) -> tuple[float, list[Any]]:
    """Run a batch on a worker."""
    admit(ticket)
    return timed(function, tasks)


def _refusal(error: BaseException) -> BaseException:
    """Return an error of a worker, in other words if it has not this package."""
    if "No module named 'pipeline_src" not in str(error):
        return error
    return ZugwerkError(
        f"a worker cannot import this version of zugwerk ({_said(error)}); install it there, then restart the worker"
    )


def _said(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0] or type(error).__name__
