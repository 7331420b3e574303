"""Runs of a deployment that begin again, and scheduled ones that are left out.

A run whose process was killed, or whose server was stopped, begins again. DVC keeps what is finished, so this costs
only what was unfinished. A run that fails, or is cancelled, ends there.

Schedules that overlap do not pile up: a scheduled run is left out if another one ran when it was due, or later.
Prefect's own limit (`CANCEL_NEW`) counts the runs of one deployment, and cancels those that a user starts as well. Here
all runs wait for their turn, by the limit of the work pool or of the worker; a scheduled one then looks for such a run.
"""

import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any
from uuid import UUID

from prefect import Flow
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas import filters
from prefect.client.schemas.objects import FlowRun, State
from prefect.client.schemas.sorting import FlowRunSort
from prefect.context import FlowRunContext
from prefect.states import AwaitingRetry, Completed, Crashed

MOST_STARTS = 3  # Total number of starts of a run: what kills it three times would kill it a fourth time
LEFT_OUT = "LeftOut"  # Name of the state of a run that is left out
WAITS_S = 3, 7, 20  # Seconds before each look at a crashed run


def begin_again(client: SyncPrefectClient, run: FlowRun, why: str) -> None:
    """Schedule a run once more; after `MOST_STARTS` starts it stays crashed, with the reason ``why``."""
    state: State[Any] = AwaitingRetry(scheduled_time=datetime.now(UTC), message=f"{why} It goes on where it was.")
    if run.run_count >= MOST_STARTS:
        state = Crashed(message=f"{why} It was started {run.run_count} times, and is not started again by itself.")
    client.set_flow_run_state(run.id, state, force=True)


def after_crash(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ARG001 - Prefect's signature
    """Prefect's hook for a run that crashed. One that was started in a terminal is left to its user.

    When this hook has ended, the worker of Prefect 3.9 reports the crash a second time, which would undo a new start.
    So another process waits for that report. It has no pipe to this one, whose output the worker reads to its end.
    """
    if flow_run.deployment_id:
        asked = [str(flow_run.id), state.message or "It crashed."]
        Popen(  # noqa: S603
            [sys.executable, "-m", "flows.runs", *asked],
            cwd=Path(__file__).parents[1],
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            start_new_session=True,
        )


def wait_and_begin_again(run: UUID, why: str) -> None:
    """Begin a crashed run again after the second report, and once more where that came later still."""
    with get_client(sync_client=True) as client:
        starts = client.read_flow_run(run).run_count
        for wait_s in WAITS_S:
            time.sleep(wait_s)
            found = client.read_flow_run(run)
            if found.run_count != starts:
                return
            if found.state is not None and found.state.is_crashed():
                begin_again(client, found, why)


def left_out() -> State[Any] | None:
    """Return the final state of the calling run, with the reason, if it is left out; else None."""
    context = FlowRunContext.get()
    run = context.flow_run if context else None
    if run is None or not run.auto_scheduled or run.run_count > 1:  # one that crashed resumes
        return None
    assert run.deployment_id
    assert run.expected_start_time
    begun = filters.FlowRunFilter(
        deployment_id=filters.FlowRunFilterDeploymentId(any_=[run.deployment_id]),
        start_time=filters.FlowRunFilterStartTime(is_null_=False),
        state=filters.FlowRunFilterState(name=filters.FlowRunFilterStateName(not_any_=[LEFT_OUT])),
    )
    with get_client(sync_client=True) as client:
        others = client.read_flow_runs(flow_run_filter=begun, sort=FlowRunSort.START_TIME_DESC)
    for other in others:
        like = other.id != run.id and other.auto_scheduled and other.parameters == run.parameters
        if like and (other.end_time is None or other.end_time > run.expected_start_time):
            due = f"It was due at {run.expected_start_time:%Y-%m-%d %H:%M:%S} UTC"
            return Completed(
                name=LEFT_OUT, message=f"{due}, and '{other.name}' of the same schedule ran then or later."
            )
    return None


if __name__ == "__main__":
    wait_and_begin_again(UUID(sys.argv[1]), sys.argv[2])
