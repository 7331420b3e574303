"""The work pool of a checkout: room for one run at a time, and no run left over from a server that is gone."""

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
    WorkPoolFilter,
    WorkPoolFilterName,
)
from prefect.client.schemas.objects import State, StateType
from prefect.states import Cancelled, Crashed
from prefect.types import DateTime
from prefect.workers.process import ProcessWorker

UNFINISHED = [StateType.PENDING, StateType.RUNNING, StateType.CANCELLING]


def prepare_pool(name: str) -> None:
    """Create or update the process work pool ``name``, and settle the runs of an earlier server; before any worker.

    A run that the earlier server could not finish would hold the pool's only place for ever, so it is marked as
    crashed. A start that was due while there was no server is dropped: the next one fetches as much.
    """
    pool = WorkPoolCreate(
        name=name,
        type=ProcessWorker.type,
        base_job_template=ProcessWorker.get_default_base_job_template(),
        concurrency_limit=1,  # one writer a checkout, whichever deployment it comes from
    )
    with get_client(sync_client=True) as client:
        client.create_work_pool(pool, overwrite=True)
        _settle(client, name, UNFINISHED, Crashed(message="The server that ran it was stopped."))
        _settle(client, name, [StateType.SCHEDULED], Cancelled(message="It was due while no server was running."))


def _settle(client: SyncPrefectClient, pool: str, kinds: list[StateType], state: State[None]) -> None:
    wanted = FlowRunFilter(
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=kinds)),
        expected_start_time=FlowRunFilterExpectedStartTime(before_=DateTime.now("UTC")),
    )
    in_pool = WorkPoolFilter(name=WorkPoolFilterName(any_=[pool]))
    while runs := client.read_flow_runs(flow_run_filter=wanted, work_pool_filter=in_pool):  # a page at a time
        for run in runs:
            client.set_flow_run_state(run.id, state, force=True)
