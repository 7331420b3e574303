"""Crashed runs resume: a deployment's run whose process was killed, or whose server was stopped, begins again.

DVC keeps what is finished, so this costs only what was unfinished. A run that fails, or is cancelled, ends there.
"""

from datetime import UTC, datetime
from typing import Any

from prefect import Flow
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.objects import FlowRun, State
from prefect.states import AwaitingRetry, Crashed

MOST_STARTS = 3
"""Total number of starts of a run: what kills it three times would kill it a fourth time."""


def begin_again(client: SyncPrefectClient, run: FlowRun, why: str) -> None:
    """Schedule a run once more; after `MOST_STARTS` starts it stays crashed, with the reason ``why``."""
    state: State[Any] = AwaitingRetry(scheduled_time=datetime.now(UTC), message=f"{why} It goes on where it was.")
    if run.run_count >= MOST_STARTS:
        state = Crashed(message=f"{why} It was started {run.run_count} times, and is not started again by itself.")
    client.set_flow_run_state(run.id, state, force=True)


def after_crash(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ARG001 - Prefect's signature
    """Prefect's hook for a run that crashed. One that was started in a terminal is left to its user."""
    if flow_run.deployment_id:
        with get_client(sync_client=True) as client:
            begin_again(client, client.read_flow_run(flow_run.id), state.message or "It crashed.")
