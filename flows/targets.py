"""The targets of the graph as Prefect tasks, one each: retried, limited in time, never cached by Prefect.

Their names and their order are read from dvc.yaml. The order is a convenience only: whatever a target depends on, DVC
runs first.
"""

import time
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

import yaml
from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.logging import get_run_logger
from prefect.tasks import Task, exponential_backoff

from flows.dvc_run import TimeLimitError, crawl, repro
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import PARAMS_FILE, read_tree

FIRST_RETRY_S = 10.0
"""Seconds before the first retry of a failed target; each further one waits twice as long."""

P = ParamSpec("P")
R = TypeVar("R")


class Outcome(NamedTuple):
    """What bringing one target up to date took."""

    target: str
    ran: list[str]
    """The stages whose command ran; empty where all was up to date."""
    seconds: float


def read_targets(checkout: Path, system: str | None = None) -> list[str]:
    """The stages of dvc.yaml in the order of the file, each member of a `foreach` group by itself.

    Args:
        checkout: the folder that holds dvc.yaml and params.yaml.
        system: keep only those whose name starts with ``<system>_``.

    Raises:
        ZugwerkError: no dvc.yaml there, or no such stage in it; or what a group goes through is not in params.yaml.
    """
    path = checkout / "dvc.yaml"
    try:
        stages = yaml.safe_load(path.read_text(encoding="utf-8"))["stages"]
    except OSError as error:
        raise ZugwerkError(f"{path}: {error.strerror}; give the folder that holds dvc.yaml") from None
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise ZugwerkError(f"{path}: cannot read the stages: {error}") from None
    names = [str(name) for name in stages if system is None or str(name).startswith(f"{system}_")]
    if not names:
        raise ZugwerkError(f"{path}: no stage whose name starts with '{system}_'" if system else f"{path}: no stage")
    return [target for name in names for target in _members(name, stages[name], checkout / PARAMS_FILE)]


def _members(name: str, stage: Any, params: Path) -> list[str]:
    """A stage's name, or those of the members of a group."""
    items = stage.get("foreach") if isinstance(stage, dict) else None
    if items is None:
        return [name]
    if isinstance(items, str):
        key, items = items.strip("${} "), read_tree(params)
        for part in key.split("."):
            items = items.get(part) if isinstance(items, dict) else None
        if not isinstance(items, list | dict):
            raise ZugwerkError(f"{params}: {key}: '{name}' of dvc.yaml goes through it, but it is no list or section")
    return [f"{name}@{item}" for item in items]


def bring_up_to_date(
    targets: list[str], checkout: Path, *, refresh_crawl: bool, limit_s: float, retries: int
) -> list[Outcome]:
    """Run the targets one after another; call it inside a flow.

    Args:
        targets: stages or `foreach` groups.
        checkout: the folder that holds dvc.yaml.
        refresh_crawl: let each crawl among the targets fetch what is new: from the live site, where that is its
            source. Otherwise no site is asked, and a crawl that has run once stays as it is.
        limit_s: time limit of each target in seconds.
        retries: how often a failed target is tried again.

    Raises:
        ZugwerkError: a target failed for the last time, see `flows.dvc_run.repro`.
    """
    step, ask = tried_again(run_target, retries), tried_again(fetch_new, retries)
    outcomes = []
    for target in targets:
        begin = time.monotonic()
        if live := refresh_crawl and reads_live(target, checkout):
            ask(target.removesuffix("_crawl"), checkout, limit_s)
        ran = step(target, checkout, limit_s)
        if refresh_crawl and not live and target.endswith("_crawl") and target not in ran:
            ran += step.with_options(task_run_name="{target}: what is new")(target, checkout, limit_s, refresh=True)
        outcomes.append(Outcome(target, ran, time.monotonic() - begin))
    return outcomes


def reads_live(target: str, checkout: Path) -> bool:
    """Whether a target reads what `zugwerk crawl` fetches: by its ``source`` in params.yaml."""
    if not target.endswith("_crawl"):
        return False
    section = read_tree(checkout / PARAMS_FILE).get(target)
    source = section.get("source") if isinstance(section, dict) else None
    return source is not None and Path(source) == Path(f"artifacts/raw/{target.removesuffix('_crawl')}/live")


@task(task_run_name="{system}: what is new on the site", cache_policy=NO_CACHE, persist_result=False)
def fetch_new(system: str, checkout: Path, limit_s: float) -> None:
    """Let `zugwerk crawl` fetch what is new; the target after it, which reads that, is then out of date."""
    crawl(system, checkout, get_run_logger(), limit_s=limit_s)


@task(task_run_name="{target}", cache_policy=NO_CACHE, persist_result=False)
def run_target(target: str, checkout: Path, limit_s: float, refresh: bool = False) -> list[str]:
    """Bring one target up to date, or with ``refresh`` run this one stage again on top of what it has.

    Called directly, not submitted, it runs in the main thread, where a cancel reaches it as an exception.
    """
    return repro(target, checkout, get_run_logger(), limit_s=limit_s, force=refresh, single_item=refresh)


def tried_again(step: Task[P, R], retries: int) -> Task[P, R]:
    """The task with that many retries, each after twice the time; none after a time limit."""
    return step.with_options(
        retries=retries, retry_delay_seconds=exponential_backoff(FIRST_RETRY_S), retry_condition_fn=_may_succeed_later
    )


def _may_succeed_later(_task: Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    return not isinstance(state.data, TimeLimitError)
