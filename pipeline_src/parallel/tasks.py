"""Run tasks by the crew that the params name.

A task is a top-level function and its arguments; it seeds itself from them.
"""

import atexit
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, TypeVar

from tqdm import tqdm

from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel.crew import Crew, Results
from pipeline_src.parallel.setting import Parallel

R = TypeVar("R")

MOST_WORKERS = "ZUGWERK_WORKERS"
"""Environment variable with the largest number of processes on this machine, whatever the params say. `zugwerk repro`
divides the cores among the stages that run side by side."""

_CREWS: dict[Parallel, Crew] = {}
"""The last crew in use, kept because starting processes costs seconds and a stage runs many sets of tasks."""


def nothing(*_: object) -> None:
    """Do nothing: the default callback."""


def run_tasks(
    function: Callable[..., R],
    tasks: Sequence[tuple[Any, ...]],
    parallel: Parallel,
    description: str,
    at_end: Callable[[], None] = nothing,
    on_result: Callable[[int, R], None] = nothing,
) -> list[R]:
    """``function(*task)`` for every task, in the tasks' order; a progress bar in a terminal.

    Args:
        function: a top-level function.
        tasks: its arguments.
        parallel: where they run.
        description: title of the bar.
        at_end: see `run_as_they_come`.
        on_result: called here with a task's index and result as soon as it has finished.

    Raises:
        ZugwerkError: a task that ended its worker each time it was tried, once all others are done; as `Crew.run`.
        Exception: whatever a task raised.
    """
    results: dict[int, R] = {}
    with (
        closing(run_as_they_come(function, tasks, parallel, at_end)) as found,
        tqdm(total=len(tasks), desc=description, disable=None) as bar,
    ):
        for index, result in found:
            results[index] = result
            on_result(index, result)
            bar.update()
    for index in range(len(tasks)):
        if index not in results:
            name = f"{function.__module__}.{function.__name__}"
            raise ZugwerkError(
                f"{description}: task {index + 1} of {len(tasks)} ({name}) ended its worker each time it was tried, "
                "perhaps for want of memory: lower parallel.workers, or see the log of the cluster. The others are done"
            )
    return [results[index] for index in range(len(tasks))]


def run_as_they_come(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    parallel: Parallel,
    at_end: Callable[[], None] = nothing,
) -> Results:
    """(index, ``function(*task)``) of each task, in the order in which they finish.

    Args:
        function: a top-level function.
        tasks: its arguments.
        parallel: where they run.
        at_end: a top-level function that is called in each worker in the end, unless it was killed.

    Yields:
        Index and result; none for a task whose worker died each time it was tried.

    Raises:
        ZugwerkError: as `Crew.run`.
        Exception: whatever the function raised.
    """
    workers = min(parallel.workers, int(os.environ.get(MOST_WORKERS, parallel.workers)))
    if parallel.address or min(workers, len(tasks)) > 1:
        hired = Parallel(backend=parallel.backend, workers=workers, address=parallel.address)
        yield from _crew(hired).run(function, tasks, at_end)
        return
    try:
        for index, task in enumerate(tasks):
            yield index, function(*task)
    finally:
        at_end()


def _crew(parallel: Parallel) -> Crew:
    if parallel not in _CREWS:
        dismiss()
        _CREWS[parallel] = _hire(parallel)
        atexit.register(dismiss)  # now, so that it comes before what the backend has registered for itself
    return _CREWS[parallel]


def _hire(parallel: Parallel) -> Crew:
    if parallel.backend == "dask":
        from pipeline_src.parallel.dask_crew import DaskCrew

        return DaskCrew(parallel.address, parallel.workers)
    if parallel.backend == "ray":
        from pipeline_src.parallel.ray_crew import RayCrew

        return RayCrew(parallel.address, parallel.workers)
    from pipeline_src.parallel.loky_crew import LokyCrew

    return LokyCrew(parallel.workers)


def dismiss() -> None:
    """End the workers that this process keeps."""
    while _CREWS:
        _CREWS.popitem()[1].close()
