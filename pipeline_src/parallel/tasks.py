"""Run tasks in this process, in processes of this machine, or on a cluster.

A task is a top-level function with its arguments, which include its seed. How tasks are batched changes no result. The
size of a batch follows from the number of workers and from the time that tasks take, so it is no param.

A worker that dies ends the run with an error. Stages keep finished tasks in a journal, so the next run continues there.
"""

import atexit
import contextlib
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import closing
from functools import partial
from operator import itemgetter
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from tqdm import tqdm

from pipeline_src.errors import ZugwerkError
from pipeline_src.processes import end_with_parent
from pipeline_src.project.params import MOST_WORKERS, Count, Params

BATCH_S = 10.0
"""Seconds that a batch should take: long compared with the cost of sending it, and short enough to lose in a kill."""
QUICK_S = 0.1  # Batches shorter than this many seconds are quick: sending the next one takes about as long
SHARES = 4  # Divisor of a worker's share of the waiting tasks, the largest batch, so that all workers end together
IDLE_S = 300  # Seconds after which a worker without a task ends; it is restarted for the next one
END_S = 5  # Seconds in which a worker may release its resources
LOOK_S = 0.5  # Seconds between two checks of a worker that its parent is alive
HELD = signal.SIGHUP, signal.SIGTERM, signal.SIGINT  # Signals that end a program, and may raise where they arrive
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""A worker has one core, as on the clusters."""
R = TypeVar("R")
Task = tuple[Any, ...]
Function = Callable[[list[Task]], list[Any]]
"""Returns one result for each task of a batch. It can be pickled, and so can the arguments and the results."""
Results = Generator[list[tuple[int, Any]], None, None]
"""Indices and results of the tasks of each batch, in the order in which batches finish."""


class Parallel(Params):
    """Workers that run tasks side by side. These params change no result."""

    workers: Count = 2
    """Number of processes on this machine; with 1 the tasks run in the main process."""
    address: str = ""
    """Address of the scheduler of a Dask cluster, all of whose workers run the tasks, instead of processes on this
    machine; e.g. tcp://10.0.0.1:8786."""


def nothing(*_: object) -> None:
    """Do nothing: the default callback."""


def run_tasks(
    function: Callable[[list[Task]], list[R]],
    tasks: Sequence[Task],
    parallel: Parallel,
    description: str,
    at_end: Callable[[], None] = nothing,
    together: int = 1,
) -> list[R]:
    """Return the results of `run_in_batches`, which takes the same arguments, in the order of the tasks."""
    batches = run_in_batches(function, tasks, parallel, description, at_end, together)
    found = [result for some in batches for result in some]
    return [result for _, result in sorted(found, key=itemgetter(0))]


def run_in_batches(
    function: Callable[[list[Task]], list[R]],
    tasks: Sequence[Task],
    parallel: Parallel,
    description: str,
    at_end: Callable[[], None] = nothing,
    together: int = 1,
) -> Generator[list[tuple[int, R]]]:
    """Yield index and result of the tasks of each batch as soon as it has finished; show a progress bar in a terminal.

    Args:
        function: a top-level function, or a partial one, from the arguments of some tasks to one result for each.
        tasks: arguments of each task.
        parallel: the workers.
        description: title of the bar.
        at_end: as for `run_as_they_come`.
        together: number of tasks that are quicker in one batch than in several, as games of a net are.

    Raises:
        ZugwerkError: as `Crew.run`.
        Exception: any error of a task.
    """
    with (
        closing(_run(function, Batches(tasks, together), parallel, at_end)) as found,
        tqdm(total=len(tasks), desc=description, disable=None) as bar,
    ):
        for some in found:
            yield some
            bar.update(len(some))


def run_as_they_come(
    function: Callable[..., Any], tasks: Sequence[Task], parallel: Parallel, at_end: Callable[[], None] = nothing
) -> Generator[tuple[int, Any]]:
    """Yield (index, ``function(*task)``) for each task as soon as it has finished; no task waits for another one.

    ``at_end`` is a top-level function that each worker calls at the end, unless it was killed.

    Raises:
        ZugwerkError: as `Crew.run`.
        Exception: any error of the function.
    """
    with closing(_run(partial(each, function), Batches(tasks, 0), parallel, at_end)) as found:
        for some in found:
            yield from some


def each(function: Callable[..., R], tasks: list[Task]) -> list[R]:
    """Return ``function(*task)`` for each task."""
    return [function(*task) for task in tasks]


class Batches:
    """Tasks that wait, from the first to the last."""

    def __init__(self, tasks: Sequence[Task], together: int) -> None:
        """``together`` tasks are quicker in one batch than in several; with 0 each task is a batch."""
        self.tasks, self.together = tasks, together
        self._waiting = deque(range(len(tasks)))
        self._seconds = 0.0  # Seconds of a task in the last finished batch; 0 before the first one
        self.quick = False  # Whether the last finished batch took so little time that sending it matters

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def take(self, workers: int) -> list[int]:
        """Return the indices of the next batch for one of ``workers`` workers."""
        share = -(-len(self._waiting) // workers)
        wanted = max(self.together, int(BATCH_S / self._seconds) if self._seconds else 1)
        size = min(wanted, max(-(-share // SHARES), min(self.together, share))) if self.together else 1
        return [self._waiting.popleft() for _ in range(size)]

    def done(self, batch: list[int], answer: tuple[float, list[Any]]) -> list[tuple[int, Any]]:
        """Return the index and the result of each task of a batch that `timed` has answered."""
        seconds, results = answer
        self._seconds, self.quick = max(seconds, 1e-6) / len(batch), seconds < QUICK_S
        return list(zip(batch, results, strict=True))

    def died(self, batch: list[int]) -> ZugwerkError:
        """The complaint about a batch whose worker died."""
        which = f"task {batch[0] + 1}" if len(batch) == 1 else f"one of tasks {batch[0] + 1} to {batch[-1] + 1}"
        return ZugwerkError(
            f"a worker died during {which} of {len(self.tasks)}: it was killed, or memory ran out. Run the same "
            "command again, which goes on where a journal is kept; if it happens again, lower parallel.workers "
            "(--workers), or see the log of the system or the cluster"
        )


def timed(function: Function, tasks: list[Task]) -> tuple[float, list[Any]]:
    """Return the seconds that a batch took, and the results."""
    begin = time.perf_counter()
    results = function(tasks)
    return time.perf_counter() - begin, results


class Crew(Protocol):
    """Worker processes, kept from one set of tasks to the next."""

    def run(self, function: Function, batches: Batches, at_end: Callable[[], None]) -> Results:
        """Yield index and result of each task, batch by batch.

        If the generator is closed early, or ends in an error, unfinished tasks are given up. ``at_end`` is called in
        the remaining workers.

        Raises:
            ZugwerkError: a worker died (`Batches.died`), one is not admitted, or the connection to the cluster is lost.
            Exception: any error of the function.
        """

    def close(self) -> None:
        """End the workers, or disconnect from a cluster that others started."""


class LokyCrew:
    """Processes of this machine.

    Each is an executor of one process of joblib's loky, so that ``at_end`` reaches all of them. (`joblib.Parallel` has
    no call for each worker, and does not hold Ctrl-C back.)
    """

    def __init__(self, workers: int) -> None:
        """``workers`` is the largest number of processes; they are started when there are tasks for them."""
        self.workers, self._crew, self._idle = workers, set[Any](), list[Any]()

    def run(self, function: Function, batches: Batches, at_end: Callable[[], None]) -> Results:
        """See `Crew.run`."""
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        folder, running = str(Path.cwd()), dict[Future[Any], tuple[list[int], Any]]()
        done: SimpleQueue[Future[Any]] = SimpleQueue()
        try:
            while batches or running:
                with _uninterrupted():
                    while batches and (self._idle or len(self._crew) < self.workers):
                        worker, batch = self._idle.pop() if self._idle else self._hire(), batches.take(self.workers)
                        future = worker.submit(_work, folder, function, [batches.tasks[index] for index in batch])
                        running[future] = batch, worker
                        future.add_done_callback(done.put)
                future = done.get()
                with _uninterrupted():
                    batch, worker = running.pop(future)
                    if isinstance(future.exception(), TerminatedWorkerError):
                        self._dismiss(worker)
                        raise batches.died(batch)
                    self._idle.append(worker)
                yield batches.done(batch, future.result())
        finally:
            with _uninterrupted():
                for future, (_, worker) in running.items():
                    if future.cancel():
                        self._idle.append(worker)
                    else:
                        self._dismiss(worker)
                ends = [worker.submit(at_end) for worker in self._idle]
                wait(ends, END_S)

    def _hire(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        worker = ProcessPoolExecutor(1, timeout=IDLE_S, initializer=_begin, initargs=(os.getpid(),), env=ONE_THREAD)
        self._crew.add(worker)
        return worker

    def _dismiss(self, worker: Any, kill: bool = True) -> None:
        self._crew.discard(worker)
        worker.shutdown(wait=True, kill_workers=kill)

    def close(self) -> None:
        """See `Crew.close`."""
        with _uninterrupted():
            self._idle.clear()
            for worker in list(self._crew):
                self._dismiss(worker, kill=False)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold back Ctrl-C and other signals with a handler in Python until the end of the block.

    Such a handler may raise between any two calls. Inside loky that leaves a lock taken or a task without a waiter, and
    then the program never ends. New workers start with Ctrl-C blocked: a terminal sends it to them too.
    """
    if threading.current_thread() is not threading.main_thread():  # handlers run in the main thread only
        yield
        return
    came: list[tuple[int, Any]] = []
    before = {int(number): handler for number in HELD if callable(handler := signal.getsignal(number))}
    for number in before:
        signal.signal(number, lambda number, frame: came.append((number, frame)))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)
        for number, frame in came[:1]:
            before[number](number, frame)


def _work(folder: str, function: Function, tasks: list[Task]) -> tuple[float, list[Any]]:
    os.chdir(folder)  # the caller's current folder, not the one at the worker's start
    return timed(function, tasks)


def _begin(parent: int) -> None:
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # it was blocked by `_uninterrupted`
    end_with_parent(parent)

    def follow() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_S)
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()  # for systems without the call above


_CREWS: dict[Parallel, Crew] = {}
"""The last crew in use. It is kept, since starting processes takes seconds and a stage runs many sets of tasks."""


def _run(function: Function, batches: Batches, parallel: Parallel, at_end: Callable[[], None]) -> Results:
    workers = min(parallel.workers, int(os.environ.get(MOST_WORKERS, parallel.workers)))
    if batches and (parallel.address or min(workers, len(batches.tasks)) > 1):
        yield from _crew(Parallel(workers=workers, address=parallel.address)).run(function, batches, at_end)
        return
    try:
        while batches:
            batch = batches.take(1)
            yield batches.done(batch, timed(function, [batches.tasks[index] for index in batch]))
    finally:
        at_end()


def _crew(parallel: Parallel) -> Crew:
    if parallel not in _CREWS:
        dismiss()
        _CREWS[parallel] = _hire(parallel)
        atexit.register(dismiss)  # now, so that it runs before the handlers that the crew has registered
    return _CREWS[parallel]


def _hire(parallel: Parallel) -> Crew:
    if parallel.address:
        from pipeline_src.parallel.cluster import DaskCrew

        return DaskCrew(parallel.address)
    return LokyCrew(parallel.workers)


def dismiss() -> None:
    """End the workers that this process keeps."""
    while _CREWS:
        _CREWS.popitem()[1].close()
