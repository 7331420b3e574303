"""Tasks in processes of this machine, by loky.

Each worker is an executor of its own with one process: an executor that loses a process gives up all its tasks, and so
it has no more than the one that cost it the process.
"""

import contextlib
import logging
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

from pipeline_src.orphans import end_with_parent
from pipeline_src.parallel.crew import ATTEMPTS, Results, Tasks

IDLE_S = 300
"""A worker without a task leaves after so long, and is started anew when there is one."""
END_S = 5
"""What a worker may take to end what it keeps."""
LOOK_S = 0.5
"""How often a worker looks whether its parent still lives."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""A worker has one core, as on the clusters."""
log = logging.getLogger(__name__)


class LokyCrew:
    """Processes of this machine."""

    def __init__(self, workers: int) -> None:
        """At most so many, started when there are tasks for them."""
        self.workers, self._crew, self._idle = workers, set[Any](), list[Any]()

    def run(self, function: Callable[..., Any], tasks: Tasks, at_end: Callable[[], None]) -> Results:
        """See `Crew.run`."""
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        waiting, attempts, folder = deque(range(len(tasks))), [0] * len(tasks), str(Path.cwd())
        running: dict[Future[Any], tuple[int, Any]] = {}
        try:
            while waiting or running:
                while waiting and (self._idle or len(self._crew) < self.workers):
                    worker, index = self._idle.pop() if self._idle else self._hire(), waiting.popleft()
                    running[worker.submit(_work, folder, function, tasks[index])] = index, worker
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    index, worker = running.pop(future)
                    try:
                        result = future.result()
                    except TerminatedWorkerError:
                        self._dismiss(worker)
                        attempts[index] += 1
                        again = attempts[index] < ATTEMPTS
                        log.warning("a worker died during task %d; %s", index + 1, "again" if again else "given up")
                        if again:
                            waiting.appendleft(index)
                        continue
                    except BaseException:
                        self._idle.append(worker)
                        raise
                    self._idle.append(worker)
                    yield index, result
        finally:
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
        self._idle.clear()
        for worker in list(self._crew):
            self._dismiss(worker, kill=False)


def _work(folder: str, function: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    os.chdir(folder)  # the caller's present folder, not that at the worker's start
    return function(*task)


def _begin(parent: int) -> None:
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    end_with_parent(parent)

    def follow() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_S)
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()  # for systems on which the line above does nothing
