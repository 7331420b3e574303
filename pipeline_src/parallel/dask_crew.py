"""Tasks on the workers of a Dask cluster.

Each worker holds a batch beyond the one that it runs, so that none waits for the scheduler. Dask retries a batch whose
worker died, ``distributed.scheduler.allowed-failures`` times, and suspects all batches of that worker. A batch that it
gave up is tried again task by task, and then each of these once more while nothing else runs.
"""

import contextlib
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel.crew import Batches, Function, Results, Task, Ticket, admit, issue, timed, withdraw

CONNECT_S = 60  # Seconds to find the scheduler, and then a worker
EMPTY_S = 180  # Seconds for which a cluster may be without a worker
LOOK_S = 5  # Seconds between two looks at the cluster
AHEAD, LEAST = 2, 32
"""Batches that are sent for each worker, and the least number for all workers while batches are quick."""
TURNS = 10  # Times that a batch may come to a worker that is not admitted, such as one that has just joined
log = logging.getLogger(__name__)


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
        self.ticket, self._workers, self._refused = issue(), list[str](), dict[str, str]()
        self._had_workers = False
        try:
            self.client.wait_for_workers(1, timeout=CONNECT_S)
        except TimeoutError:
            self.close()
            raise self._no_worker() from None

    def run(self, function: Function, batches: Batches, at_end: Callable[[], None]) -> Results:
        """See `Crew.run`."""
        suspects, alone = deque[list[int]](), list[list[int]]()
        running, turned = dict[Any, list[int]](), Counter[int]()
        done: SimpleQueue[Any] = SimpleQueue()

        def send(some: list[list[int]]) -> None:
            sent = [[batches.tasks[index] for index in batch] for batch in some]
            # A long list costs time. Without the last part, batches of a lost worker would wait for ever.
            where = {"workers": self._workers, "allow_other_workers": True} if self._refused else {}
            count = len(some)
            with self._answering():
                futures = self.client.map(
                    _perform, [self.ticket] * count, [function] * count, sent, pure=False, batch_size=None, **where
                )
            running.update(zip(futures, some, strict=True))
            for future in futures:
                future.add_done_callback(done.put)

        try:
            looked = seen = 0.0
            while batches or suspects or running:
                if (now := time.monotonic()) > looked + LOOK_S:
                    self._look()
                    looked = time.monotonic()
                    seen = looked if self._workers or not seen else seen
                    if now - seen > EMPTY_S:
                        raise self._no_worker()
                most = max(AHEAD * len(self._workers), LEAST if batches.quick else 0)
                room = most - len(running) if self._workers else 0
                some = list[list[int]]()
                while batches and len(some) < room:
                    some.append(batches.take(len(self._workers)))
                if room and suspects and not (some or running):
                    some = [suspects.popleft()]
                    alone += some
                if some:
                    send(some)
                ready = [future for future in _ready(done) if future in running]
                for future, answer in zip(ready, self._answers(ready), strict=True):
                    batch = running.pop(future)
                    if isinstance(answer, tuple):
                        yield batches.done(batch, answer)
                    elif answer is None and not batches.split(batch):
                        log.warning("task %d ended its workers%s", batch[0] + 1, "; given up" if batch in alone else "")
                        if batch not in alone:
                            suspects.append(batch)
                    elif answer is not None:
                        batches.give_back(batch)
                        turned[batch[0]] += 1
                        if turned[batch[0]] > TURNS:
                            raise ZugwerkError(f"{self.address}: {answer}")
                        looked = 0.0  # and so look for the worker that is not admitted
        finally:
            self._cancel(running)
            with contextlib.suppress(Exception):
                self.client.run(at_end, on_error="ignore")

    def close(self) -> None:
        """See `Crew.close`."""
        withdraw(self.ticket)
        with contextlib.suppress(Exception):
            self.client.close(timeout=CONNECT_S)

    def _look(self) -> None:
        """Find the workers, and admit or refuse new ones.

        Raises:
            ZugwerkError: there are workers, all are refused, and there have been no others.
        """
        with self._answering():
            threads = self.client.nthreads()
            new = [one for one in threads if one not in self._workers and one not in self._refused]
            answers = self.client.run(admit, self.ticket, workers=new, on_error="return") if new else {}
        threads = {one: count for one, count in threads.items() if not isinstance(answers.get(one), OSError)}  # died
        for address, answer in answers.items():
            if threads.get(address, 1) != 1:
                answer = ZugwerkError(
                    f"worker {address} runs {threads[address]} tasks at a time in threads, but players and nets are "
                    "not thread-safe; start it with --nthreads 1, and --nworkers for more"
                )
            if isinstance(answer, BaseException) and address in threads:
                self._refused[address] = _refusal(address, answer)
                log.warning("%s; it is left out", self._refused[address])
        good = [one for one in threads if one not in self._refused]
        if threads and not (good or self._had_workers):
            reasons = "; ".join(dict.fromkeys(self._refused[one] for one in threads))
            raise ZugwerkError(f"{self.address}: no worker of the cluster can be used: {reasons}")
        self._workers, self._had_workers = good, self._had_workers or bool(good)

    def _answers(self, futures: list[Any]) -> list[tuple[float, list[Any]] | str | None]:
        """Return the result of `timed`, a text if the worker was refused, or None if it died each time.

        Raises:
            ZugwerkError: the scheduler does not answer.
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
            if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("pipeline_src"):
                found[future] = _said(error)
            elif error is not None and not isinstance(error, KilledWorker):
                raise error
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


def _perform(ticket: Ticket, function: Function, tasks: list[Task]) -> tuple[float, list[Any]] | str:
    """Run a batch on a worker; return a text if the worker is not admitted."""
    try:
        admit(ticket)
    except ZugwerkError as error:
        return str(error)
    return timed(function, tasks)


def _refusal(address: str, error: BaseException) -> str:
    if isinstance(error, ZugwerkError):
        return str(error)
    if "No module named 'pipeline_src" in str(error):  # while the worker unpacks the batch
        return f"worker {address} cannot import this version of zugwerk; install it there, then restart the worker"
    return f"worker {address}: {_said(error)}"


def _said(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0] or type(error).__name__
