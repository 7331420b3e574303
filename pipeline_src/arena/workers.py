"""Tasks in worker processes, results as they come; a worker that dies costs its task alone.

joblib and the standard library's pools give up all that is under way when one worker dies; so this is neither.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from pipeline_src.errors import ZugwerkError

ATTEMPTS = 2
"""At a task; one that twice cost its worker is left out."""


@dataclass
class _Worker:
    process: SpawnProcess
    connection: "Connection[Any, Any]"
    task: int | None = None


def run_as_they_come(
    function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], workers: int, at_end: Callable[[], None]
) -> Generator[tuple[int, Any], None, None]:
    """(index, ``function(*task)``) of each task, in the order in which they finish.

    Args:
        function: a top-level function.
        tasks: its arguments.
        workers: processes; 1 runs the tasks in this one.
        at_end: called in each worker before it ends, unless it is killed.

    Yields:
        Index and result; none for a task during which its worker died `ATTEMPTS` times.

    Raises:
        ZugwerkError: the function raised it.
        RuntimeError: it raised anything else in a worker; with its traceback.
    """
    if workers == 1:
        try:
            for index, task in enumerate(tasks):
                yield index, function(*task)
        finally:
            at_end()
        return
    waiting, attempts, crew = deque(range(len(tasks))), [0] * len(tasks), list[_Worker]()
    try:
        while waiting or any(worker.task is not None for worker in crew):
            for worker in crew:
                if worker.task is None and waiting:
                    _give(worker, waiting.popleft(), tasks)
            while waiting and len(crew) < workers:
                crew.append(_hire(function, at_end))
                _give(crew[-1], waiting.popleft(), tasks)
            busy = {worker.connection: worker for worker in crew if worker.task is not None}
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]
                assert worker.task is not None
                index, worker.task = worker.task, None
                try:
                    result, trouble = worker.connection.recv()
                except (EOFError, OSError):
                    crew.remove(worker)
                    _dismiss(worker)
                    attempts[index] += 1
                    if attempts[index] < ATTEMPTS:
                        waiting.appendleft(index)
                    continue
                if isinstance(trouble, ZugwerkError):
                    raise trouble
                if trouble:
                    raise RuntimeError(f"a worker failed:\n{trouble}")
                yield index, result
    finally:
        for worker in crew:
            _dismiss(worker, kindly=worker.task is None)


def _give(worker: _Worker, index: int, tasks: Sequence[tuple[Any, ...]]) -> None:
    worker.task = index
    with contextlib.suppress(OSError):  # a worker that is gone is found out when its answer is read
        worker.connection.send(tasks[index])


def _hire(function: Callable[..., Any], at_end: Callable[[], None]) -> _Worker:
    context = multiprocessing.get_context("spawn")  # a fork would copy threads' locks
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, function, at_end), daemon=False)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _dismiss(worker: _Worker, kindly: bool = False) -> None:
    """End a worker: ``kindly`` lets it end what it keeps."""
    if kindly:
        with contextlib.suppress(OSError):
            worker.connection.send(None)
        worker.process.join(5)
    worker.process.kill()
    worker.process.join()
    worker.process.close()
    worker.connection.close()


def _work(connection: "Connection[Any, Any]", function: Callable[..., Any], at_end: Callable[[], None]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while (task := connection.recv()) is not None:
            try:
                answer: tuple[Any, ZugwerkError | str] = (function(*task), "")
            except ZugwerkError as error:
                answer = (None, error)
            except Exception:
                answer = (None, traceback.format_exc())
            connection.send(answer)
    at_end()
