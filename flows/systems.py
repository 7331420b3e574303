"""A flow for the whole graph, and one for each published system.

Each brings targets up to date, side by side if possible, pushes the outputs, and publishes the headline figures. The
targets are Prefect tasks, one each: retried, limited in time, never cached by Prefect. The scheduler
(`pipeline_src.project.schedule`) decides on their order and concurrency. `python -m flows NAME` runs a flow here and
now, without a server.
"""

import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar

from prefect import Flow, flow, task
from prefect.artifacts import create_link_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.futures import PrefectFuture
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.states import Cancelled
from prefect.tasks import Task, exponential_backoff
from pydantic import Field

from flows import CHECKOUT
from flows.runs import after_crash, left_out
from pipeline_src.errors import ZugwerkError
from pipeline_src.project import dvc_run
from pipeline_src.project.dvc_run import LOCK, Children, EndedError, TimeLimitError, ask_dvc, push, repro
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.project.schedule import Outcome, Scheduler, cores
from pipeline_src.project.systems import systems
from pipeline_src.report.figures import figures
from pipeline_src.report.page import line

LIMIT_MINUTES = 720.0
RETRIES = 1
FIRST_RETRY_S = 10.0  # Seconds before the first retry of a failed target; each further one waits twice as long
ENDED = "It was ended together with the flow."
PAGE = Path("artifacts/reports/index.html")
REPORTS_URL = "ZUGWERK_REPORTS_URL"  # Environment variable with the address of the page's folder under `make serve`
COLUMNS = ("published", "ours", "interval", "ratio", "unit", "profile", "player", "where", "command")
"""Cells of a line of the report's tables."""

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
    """Run targets and all that they depend on as tasks, side by side; return them in the order in which they were done.

    Call it inside a flow. Without targets, they are the stages whose names begin with ``system``, or all stages. With
    ``refresh_crawl`` each crawl among them fetches new games, from the live site if that is its source; otherwise no
    site is asked.

    Raises:
        ZugwerkError: a target failed at its last attempt, see `dvc_run.repro`; the first of several.
    """
    step, ask = tried_again(run_target, retries), tried_again(fetch_new, retries)
    with Children() as children:
        scheduler = Scheduler(
            checkout, children, jobs, targets=targets, system=system or "", refresh_crawl=refresh_crawl
        )
        schedule = scheduler.schedule
        if refresh_crawl and not schedule.forced:
            get_run_logger().info("refresh_crawl: no target is a crawl, so nothing is fetched")

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
    """Fetch new games of a system from the live site; all answers are kept.

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


# Steps after a run.


@task(task_run_name="push", cache_policy=NO_CACHE, persist_result=False)
def push_outputs(targets: list[str], checkout: Path, limit_s: float) -> None:
    """Push the outputs of the targets and of their dependencies; without targets, of the whole graph.

    Without a default remote nothing is pushed, and the log says so.

    Raises:
        ZugwerkError: see `ask_dvc` and `push`.
    """
    log = get_run_logger()
    remote = ask_dvc(checkout, "config", "core.remote").strip()
    if not remote:
        log.info("nothing is pushed: DVC has no default remote here; `dvc remote add --default NAME URL` sets one")
        return
    push(targets, checkout, log.info, limit_s=limit_s)
    log.info("the remote '%s' is up to date", remote)


@task(task_run_name="commit", cache_policy=NO_CACHE, persist_result=False)
def push_commit(checkout: Path, run: str) -> None:
    """Commit dvc.lock and the outputs that git keeps, nothing else, and push to `origin` as the branch ``runs/<run>``.

    Raises:
        ZugwerkError: dvc.lock cannot be read, or git fails; the message ends with git's output.
    """
    machine = socket.gethostname()
    author = ["-c", "user.name=Zugwerk", "-c", f"user.email=zugwerk@{machine}"]
    branch = f"runs/{run}"
    outs = [out["path"] for stage in read_tree(checkout / LOCK)["stages"].values() for out in stage.get("outs", ())]
    files = _git(checkout, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", LOCK, *outs)
    paths = sorted(set(files.split("\0")) - {""})
    message = f"Results of {run} on {machine}"
    _git(checkout, "add", "--", *paths)
    _git(checkout, *author, "commit", "--quiet", "--allow-empty", "--message", message, "--only", "--", *paths)
    _git(checkout, "push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")
    get_run_logger().info("dvc.lock and the reports are in the branch '%s' of origin", branch)


def _git(checkout: Path, *words: str) -> str:
    command = ["git", "--literal-pathspecs", *words]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise ZugwerkError(f"`git {' '.join(words)}` failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


@task(task_run_name="publish results", cache_policy=NO_CACHE, persist_result=False, retries=1)
def publish_results(checkout: Path, system: str | None = None) -> None:
    """Publish the results of one system or of all, and a link to the report page if there is one.

    Raises:
        ZugwerkError: metrics or params.yaml cannot be read.
    """
    log = get_run_logger()
    rows = results_table(checkout, system)
    create_table_artifact(
        key=f"{system}-results" if system else "results",
        table=rows,
        description=f"Published and ours, {system or 'all systems'}; interval: 95 %; ratio: ours / published",
    )
    log.info("published %d results, %d of them measured", len(rows), sum(row["profile"] != "-" for row in rows))
    if link := page_link(checkout):
        create_link_artifact(key="report", link=link, link_text="Report", description="The report page of the last run")
        log.info("the report page: %s", link)


def results_table(checkout: Path, system: str | None = None) -> list[dict[str, str]]:
    """Return a row for each figure of the registry, or of one system, as in the report."""
    return [
        {"system": name, "figure": figure, **{column: getattr(line(row), column) for column in COLUMNS}}
        for name, rows in figures(checkout).items()
        if system in (None, systems()[name].word or name.split("_")[0])
        for figure, row in rows.items()
    ]


def page_link(checkout: Path) -> str | None:
    """Address of the report page; None if it has not been made."""
    page = (checkout / PAGE).resolve()
    if not page.is_file():
        return None
    served = os.environ.get(REPORTS_URL)
    return f"{served}/{PAGE.name}" if served and page == (CHECKOUT / PAGE).resolve() else page.as_uri()


def system_flow(name: str, system: str | None, summary: str) -> Flow[..., State[Any] | None]:
    """A flow over the stages of a system or, with None, over the whole graph; ``summary`` stands above its form."""

    @flow(name=name, description=f"{summary}; push and publish.", on_crashed=[after_crash])
    def bring_and_publish(
        targets: tuple[str, ...] = (),
        jobs: Annotated[int, Field(gt=0)] = cores(),
        refresh_crawl: bool = False,
        limit_minutes: Annotated[float, Field(gt=0)] = LIMIT_MINUTES,
        retries: Annotated[int, Field(ge=0)] = RETRIES,
        push: bool = True,
        commit: bool = False,
        checkout: Path = CHECKOUT,
    ) -> State[Any] | None:
        """See ``summary``; Prefect shows the lines below in the form.

        Args:
            targets: stages or groups of dvc.yaml, with all that they depend on; all of them when none is given.
            jobs: busy processes and threads at a time, of all targets.
            refresh_crawl: let the crawl among the targets fetch what is new; otherwise it stays as it is.
            limit_minutes: time limit of each target, and of the push.
            retries: how often a failed target, or a failed push, is tried again; it resumes where it was.
            push: copy what was made to DVC's default remote, where the checkout has one.
            commit: commit dvc.lock and the reports, and push them to the branch runs/NAME of the git remote origin,
                NAME being the run's; for checkouts on other machines.
            checkout: the folder that holds dvc.yaml.
        """
        if out := left_out():
            return out
        limit_s = 60 * limit_minutes
        outcomes = bring_up_to_date(
            list(targets), system, checkout, jobs=jobs, refresh_crawl=refresh_crawl, limit_s=limit_s, retries=retries
        )
        if push:
            pushed = [one.target for one in outcomes] if targets or system else []
            tried_again(push_outputs, retries)(pushed, checkout, limit_s)
        if commit:
            tried_again(push_commit, retries)(checkout, flow_run.get_name() or "unnamed")
        publish_results(checkout, system)
        return None

    return bring_and_publish


# The flows; prefect.yaml has a deployment of each. Other systems run as targets of `reproduce`, or get a line here.
reproduce = system_flow("reproduce", None, "Bring the whole graph up to date, target by target")
amazons_net = system_flow("amazons-net", "amazons", "Bring Amazons-Net up to date, from the crawl to the matches")
gomoku_zero = system_flow(
    "gomoku-zero", "gomoku", "Bring Gomoku's generations up to date, one after another, then the tables and ratings"
)
growing_boards = system_flow(
    "growing-boards", "growing", "Bring the boards up to date, from the smallest to the largest, then their evaluation"
)
joseki = system_flow("joseki", "joseki", "Bring the games, the joseki library and its evaluation up to date")
search_depth = system_flow(
    "search-depth", "depth", "Bring the search depth's labels, models, evaluation and matches up to date"
)
FLOWS = {name: value for name, value in globals().items() if isinstance(value, Flow)}
