"""Tasks in processes of this machine, by loky.

Each worker is a separate executor with one process. An executor that loses a process gives up all its tasks, so each
one has a single batch.
"""

import contextlib
import logging
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from pipeline_src.parallel.crew import ATTEMPTS, Batches, Function, Results, Task, timed
from pipeline_src.processes import end_with_parent

IDLE_S = 300  # Seconds after which a worker without a task ends; it is restarted for the next one
END_S = 5  # Seconds in which a worker may release its resources
LOOK_S = 0.5  # Seconds between two checks of a worker that its parent is alive
HELD = signal.SIGHUP, signal.SIGTERM, signal.SIGINT  # Signals that end a program, and may raise where they arrive
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""A worker has one core, as on the clusters."""
log = logging.getLogger(__name__)


class LokyCrew:
    """Processes of this machine."""

    def __init__(self, workers: int) -> None:
        """``workers`` is the largest number of processes; they are started when there are tasks for them."""
        self.workers, self._crew, self._idle = workers, set[Any](), list[Any]()

    def run(self, function: Function, batches: Batches, at_end: Callable[[], None]) -> Results:
        """See `Crew.run`."""
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        attempts, folder = Counter[int](), str(Path.cwd())
        running: dict[Future[Any], tuple[list[int], Any]] = {}
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
                    try:
                        answer = future.result()
                    except TerminatedWorkerError:
                        self._dismiss(worker)
                        if batches.split(batch):
                            log.warning("a worker died during tasks %s; again, one by one", _span(batch))
                            continue
                        attempts[batch[0]] += 1
                        again = attempts[batch[0]] < ATTEMPTS
                        log.warning("a worker died during task %s; %s", _span(batch), "again" if again else "given up")
                        if again:
                            batches.give_back(batch)
                        continue
                    except BaseException:
                        self._idle.append(worker)
                        raise
                    self._idle.append(worker)
                yield batches.done(batch, answer)
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


def _span(batch: list[int]) -> str:
    return str(batch[0] + 1) if len(batch) == 1 else f"{batch[0] + 1} to {batch[-1] + 1}"


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
