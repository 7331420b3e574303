"""Crashed runs resume: a deployment's run whose process was killed, or whose server was stopped, begins again.

DVC keeps what is finished, so this costs only what was unfinished. A run that fails, or is cancelled, ends there.
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
from prefect.client.schemas.objects import FlowRun, State
from prefect.states import AwaitingRetry, Crashed

MOST_STARTS = 3  # Total number of starts of a run: what kills it three times would kill it a fourth time
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
            [sys.executable, "-m", "flows.again", *asked],
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


if __name__ == "__main__":
    wait_and_begin_again(UUID(sys.argv[1]), sys.argv[2])
