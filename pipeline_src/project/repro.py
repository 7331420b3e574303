"""Bring the graph up to date on this machine: the scheduler, with a thread and a log file for each running target."""

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
    """Targets failed; the text has the last lines of each, and the names of the logs of all targets that ran then."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def repro(
    checkout: Path,
    jobs: int,
    show: Callable[[Schedule], AbstractContextManager[Watch]],
    *,
    targets: Sequence[str] = (),
    force: bool = False,
) -> list[Outcome]:
    """Bring targets and their dependencies up to date, as many at a time as there are places for.

    The output of a target goes to `log_file`. No process that this function started outlives it.

    Args:
        checkout: the folder that holds dvc.yaml.
        jobs: number of places, at least 1.
        show: returns the display of the progress, which lasts as long as the targets run.
        targets: as `Scheduler` takes them.
        force: run targets even if nothing has changed.

    Returns:
        All targets, in the order in which they finished.

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
    """Return the file below the checkout for a target's output."""
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
            yield f"{target}, which ran at the same time, has finished\n  log: {log_file(target)}"
    yield "no other target was started; run the same command again to continue"
