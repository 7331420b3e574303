"""Schedules that overlap do not pile up: a scheduled run is left out if another one ran when it was due, or later.

Prefect's own limit (`CANCEL_NEW`) counts the runs of one deployment, and cancels those that a user starts as well. Here
all runs wait for their turn, by the limit of the work pool or of the worker; a scheduled one then looks for such a run.
"""

from typing import Any

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterStartTime,
    FlowRunFilterState,
    FlowRunFilterStateName,
)
from prefect.client.schemas.objects import State
from prefect.client.schemas.sorting import FlowRunSort
from prefect.context import FlowRunContext
from prefect.states import Completed

LEFT_OUT = "LeftOut"  # Name of the state


def left_out() -> State[Any] | None:
    """Return the final state of the calling run, with the reason, if it is left out; else None."""
    context = FlowRunContext.get()
    run = context.flow_run if context else None
    if run is None or not run.auto_scheduled or run.run_count > 1:  # one that crashed resumes
        return None
    assert run.deployment_id
    assert run.expected_start_time
    begun = FlowRunFilter(
        deployment_id=FlowRunFilterDeploymentId(any_=[run.deployment_id]),
        start_time=FlowRunFilterStartTime(is_null_=False),
        state=FlowRunFilterState(name=FlowRunFilterStateName(not_any_=[LEFT_OUT])),
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
