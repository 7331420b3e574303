"""Tasks of a stage side by side, with results that do not depend on how many run at once.

A task is a top-level function and its arguments; it seeds itself from them. joblib runs the tasks: its loky
backend on one machine, dask or ray on a cluster.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pipeline_src.orphans import end_with_parent

R = TypeVar("R")


@dataclass(frozen=True)
class Parallel:
    """How tasks run; nothing here changes a result, so no stage lists this section among its params."""

    backend: Literal["loky", "dask", "ray"] = "loky"
    """joblib's backend."""
    workers: int = 2
    """Tasks at a time; 1 runs them in this process."""

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise ValueError(f"workers must be at least 1, not {self.workers}")


def run_tasks(
    function: Callable[..., R], tasks: Sequence[tuple[Any, ...]], parallel: Parallel, description: str
) -> list[R]:
    """``function(*task)`` for every task, in the tasks' order; a progress bar in a terminal."""
    from joblib import Parallel as Jobs
    from joblib import delayed
    from tqdm import tqdm

    workers = min(parallel.workers, len(tasks)) or 1
    backend = "sequential" if workers == 1 else parallel.backend
    jobs = Jobs(n_jobs=workers, backend=backend, return_as="generator", batch_size=1)
    if backend == "loky":
        results = jobs(delayed(_task)(os.getpid(), function, *task) for task in tasks)
    else:
        results = jobs(delayed(function)(*task) for task in tasks)
    return list(tqdm(results, total=len(tasks), desc=description, disable=None))


def _task(parent: int, function: Callable[..., R], *task: Any) -> R:
    """In a worker of this machine, which is not to run on when its stage is killed."""
    end_with_parent(parent)
    return function(*task)
