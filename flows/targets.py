"""The targets of the graph as Prefect tasks, one each: retried, limited in time, never cached by Prefect.

The scheduler (`pipeline_src.project.schedule`) decides on their order and concurrency.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.futures import PrefectFuture
from prefect.logging import get_run_logger
from prefect.states import Cancelled
from prefect.tasks import Task, exponential_backoff

from pipeline_src.errors import ZugwerkError
from pipeline_src.project import dvc_run
from pipeline_src.project.dvc_run import Children, EndedError, TimeLimitError, repro
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.project.schedule import Outcome, Scheduler

FIRST_RETRY_S = 10.0  # Seconds before the first retry of a failed target; each further one waits twice as long
ENDED = "It was ended together with the flow."

P = ParamSpec("P")
R = TypeVar("R")


class CrawlFailedError(ZugwerkError):
    """A crawl of the live site failed; the text ends with its last lines."""


def bring_up_to_date(
    targets: list[str],
    system: str | None,
    checkout: Path,
    *,
    jobs: int,
    refresh_crawl: bool,
    limit_s: float,
    retries: int,
) -> list[Outcome]:
    """Run targets and all that they depend on, as tasks that run side by side; call it inside a flow.

    Args:
        targets: stages, members or `foreach` groups; without any, the stages of the system, or all.
        system: prefix of the names of its stages, or None.
        checkout: the folder that holds dvc.yaml.
        jobs: number of places, see `pipeline_src.project.schedule`.
        refresh_crawl: let each crawl among the targets fetch new games, from the live site if that is its
            source. Otherwise no site is asked, and an earlier crawl stays as it is.
        limit_s: time limit of each target in seconds.
        retries: how often a failed target is tried again.

    Returns:
        All targets, in the order in which they were done.

    Raises:
        ZugwerkError: a target failed at its last attempt, see `dvc_run.repro`; the first of several.
    """
    step, ask = tried_again(run_target, retries), tried_again(fetch_new, retries)
    with Children() as children:
        scheduler = Scheduler(
            checkout, children, jobs, targets=targets, system=system or "", refresh_crawl=refresh_crawl
        )
        schedule = scheduler.schedule

        def submit(target: str, workers: int) -> PrefectFuture[Any]:
            forced, before = target in schedule.forced, []
            if forced and refresh_crawl and reads_live(target, checkout):
                before = [ask.submit(target.removesuffix("_crawl"), checkout, limit_s, children)]
            return step.submit(
                target, checkout, limit_s, workers, forced, children, return_state=False, wait_for=before
            )

        for error in scheduler.run(submit).values():
            raise error
    return list(schedule.outcomes.values())


@task(task_run_name="{system}: what is new on the site", cache_policy=NO_CACHE, persist_result=False)
def fetch_new(system: str, checkout: Path, limit_s: float, children: Children) -> State[None] | None:
    """Let `zugwerk crawl` fetch new games; the target that reads them is then out of date."""
    try:
        crawl(system, checkout, get_run_logger().info, children, limit_s=limit_s)
    except EndedError:
        return Cancelled(message=ENDED)
    return None


@task(task_run_name="{target}", cache_policy=NO_CACHE, persist_result=False)
def run_target(
    target: str, checkout: Path, limit_s: float, workers: int, force: bool, children: Children
) -> dvc_run.State | State[None]:
    """Bring one target up to date; a cancel of the flow ends it as cancelled."""
    say = get_run_logger().info
    try:
        return repro(target, checkout, say, children, limit_s=limit_s, force=force, workers=workers)
    except EndedError:
        return Cancelled(message=ENDED)


def tried_again(step: Task[P, R], retries: int) -> Task[P, R]:
    """The task with retries after doubling pauses; none after a time limit."""
    return step.with_options(
        retries=retries, retry_delay_seconds=exponential_backoff(FIRST_RETRY_S), retry_condition_fn=_may_succeed_later
    )


def _may_succeed_later(_task: Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    return not isinstance(state.data, TimeLimitError)


def reads_live(target: str, checkout: Path) -> bool:
    """Whether a target reads the games of `zugwerk crawl`, by its ``source`` in params.yaml."""
    if not target.endswith("_crawl"):
        return False
    source = read_tree(checkout / PARAMS_FILE).get(target, {}).get("source", "")
    return Path(source) == Path(f"artifacts/raw/{target.removesuffix('_crawl')}/live")


def crawl(system: str, checkout: Path, say: Callable[[str], object], children: Children, *, limit_s: float) -> None:
    """Fetch new games from the live site; all answers are kept.

    Args:
        system: the system of the games.
        checkout: the folder that holds params.yaml.
        say: takes each line of the output.
        children: the running commands, to which this one is added.
        limit_s: time limit in seconds.

    Raises:
        CrawlFailedError: the site could not be crawled.
        TimeLimitError: the time limit passed.
        EndedError: it was ended together with the other ``children``.
    """
    command = ["pipeline_src.cli", "crawl", system]
    status, tail = dvc_run.attempt(command, checkout, say, children, time.monotonic() + limit_s, {})
    if status:
        children.check()
        last = "\n".join(tail)
        raise CrawlFailedError(f"`zugwerk crawl {system}` failed with status {status}; its last lines:\n{last}")
