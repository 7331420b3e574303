"""Run tasks in this process, in processes of this machine, or on a cluster.

A task is a top-level function with its arguments, which include its seed.
"""

import atexit
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from operator import itemgetter
from typing import Any, TypeVar

from tqdm import tqdm

from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel.crew import Batches, Crew, Function, Results, Task, timed
from pipeline_src.project.params import MOST_WORKERS, Count, Params


class Parallel(Params):
    """Workers that run tasks side by side. These params change no result."""

    workers: Count = 2
    """Number of processes on this machine; with 1 the tasks run in the main process."""
    address: str = ""
    """Address of the scheduler of a Dask cluster, all of whose workers run the tasks, instead of processes on this
    machine; e.g. tcp://10.0.0.1:8786."""


R = TypeVar("R")

_CREWS: dict[Parallel, Crew] = {}
"""The last crew in use. It is kept, since starting processes takes seconds and a stage runs many sets of tasks."""


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
        at_end: see `run_as_they_come`.
        together: number of tasks that are quicker in one batch than in several, as games of a net are.

    Raises:
        ZugwerkError: a task ended its worker at every attempt (raised after all other tasks); as `Crew.run`.
        Exception: any error of a task.
    """
    missing = bytearray(b"\1") * len(tasks)
    with (
        closing(_run(function, Batches(tasks, together), parallel, at_end)) as found,
        tqdm(total=len(tasks), desc=description, disable=None) as bar,
    ):
        for some in found:
            yield some
            bar.update(len(some))
            for index, _ in some:
                missing[index] = 0
    if (index := missing.find(1)) >= 0:
        raise ZugwerkError(
            f"{description}: task {index + 1} of {len(tasks)} ({_name(function)}) ended its worker at every "
            "attempt, perhaps out of memory: lower parallel.workers, or see the log of the cluster. The others are "
            "done"
        )


def run_as_they_come(
    function: Callable[..., Any],
    tasks: Sequence[Task],
    parallel: Parallel,
    at_end: Callable[[], None] = nothing,
) -> Generator[tuple[int, Any]]:
    """Yield (index, ``function(*task)``) for each task as soon as it has finished; no task waits for another one.

    Args:
        function: a top-level function.
        tasks: arguments of each task.
        parallel: the workers.
        at_end: a top-level function that each worker calls at the end, unless it was killed.

    Yields:
        Index and result; nothing for a task whose worker died at every attempt.

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


def _name(function: Any) -> str:
    while isinstance(function, partial):
        function = function.args[0] if function.func is each else function.func
    return f"{function.__module__}.{function.__name__}"


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
        from pipeline_src.parallel.dask_crew import DaskCrew

        return DaskCrew(parallel.address)
    from pipeline_src.parallel.loky_crew import LokyCrew

    return LokyCrew(parallel.workers)


def dismiss() -> None:
    """End the workers that this process keeps."""
    while _CREWS:
        _CREWS.popitem()[1].close()
