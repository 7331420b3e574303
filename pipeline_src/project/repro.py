"""Brings the graph up to date here and now: the scheduler, with a thread and a log file for each target that runs."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from pipeline_src.errors import ZugwerkError, line_of
from pipeline_src.project import dvc_run
from pipeline_src.project.children import Children
from pipeline_src.project.schedule import Outcome, Schedule
from pipeline_src.project.scheduler import WORK, Future, Scheduler, Watch


class TargetsFailedError(ZugwerkError):
    """Targets failed; the text has the last lines of each and names the logs of all that ran at that time."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def repro(
    checkout: Path,
    jobs: int,
    show: Callable[[Schedule], AbstractContextManager[Watch]],
    *,
    targets: Sequence[str] = (),
    force: bool = False,
) -> list[Outcome]:
    """Bring targets and all that they depend on up to date, as many at a time as there are places for.

    The output of a target goes to `log_file`. However this function is left, nothing that it started stays.

    Args:
        checkout: the folder that holds dvc.yaml.
        jobs: how many places there are, at least 1.
        show: makes what tells of the progress; it lasts as long as the targets run.
        targets: as `Scheduler` takes them.
        force: run them also where nothing has changed.

    Returns:
        All targets, in the order in which they were done.

    Raises:
        TargetsFailedError: at least one failed.
        ZugwerkError: see `Scheduler`.
    """
    with Children() as children:
        scheduler = Scheduler(checkout, children, jobs, targets=targets, force=force)
        schedule = scheduler.schedule

        def bring(target: str, workers: int) -> dvc_run.State:
            with _log(checkout / log_file(target)) as say:
                forced = target in schedule.forced
                return dvc_run.repro(target, checkout, say, children, force=forced, workers=workers)

        def submit(target: str, workers: int) -> Future:
            return children.submit(bring, target, workers)

        with show(schedule) as watch:
            failed = scheduler.run(submit, watch)
    if failed:
        raise TargetsFailedError("\n".join(_told(failed, scheduler.beside)))
    return list(schedule.outcomes.values())


def log_file(target: str) -> Path:
    """Where a target's output goes, below the checkout."""
    return WORK / f"{target.replace('/', '_')}.log"


@contextmanager
def _log(path: Path) -> Iterator[Callable[[str], object]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb", buffering=0) as file:

        def say(line: str) -> None:
            with suppress(OSError):  # the stage reports a full disk
                file.write(f"{line}\n".encode(errors="replace"))

        yield say


def _told(failed: dict[str, Exception], beside: Sequence[str]) -> Iterator[str]:
    for target, error in failed.items():
        yield f"{target}: {line_of(error) if isinstance(error, OSError) else error}\n  log: {log_file(target)}"
    for target in beside:
        if target not in failed:
            yield f"{target}, which ran beside it, came to its end\n  log: {log_file(target)}"
    yield "no other target was begun; the same command goes on from here"
