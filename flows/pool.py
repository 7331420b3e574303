"""Set up a server before its worker starts: the work pool, the nightly schedule, runs left by an earlier server."""

from collections.abc import Iterator
from datetime import UTC, datetime

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas import filters
from prefect.client.schemas.actions import DeploymentScheduleCreate, WorkPoolCreate
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.client.schemas.schedules import CronSchedule
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelled
from prefect.workers.process import ProcessWorker
from pydantic import ValidationError

from flows.runs import begin_again
from pipeline_src.errors import ZugwerkError

FLOW, DEPLOYMENT, SCHEDULE = "reproduce", "local", "nightly"
CRON, TIMEZONE = "0 3 * * *", "UTC"


def prepare_pool(name: str) -> None:
    """Create or update the process work pool ``name``, and settle the runs of an earlier server; before any worker.

    A run that the earlier server could not finish would hold the pool's only place for ever, so it is scheduled again,
    see `flows.runs`. A start that was due without a server is dropped: the next one does the same work.
    """
    pool = WorkPoolCreate(
        name=name,
        type=ProcessWorker.type,
        base_job_template=ProcessWorker.get_default_base_job_template(),
        concurrency_limit=1,  # one writer a checkout, for all deployments
    )
    with get_client(sync_client=True) as client:
        client.create_work_pool(pool, overwrite=True)
        for run in _left(client, name, StateType.SCHEDULED):
            state: State[None] = Cancelled(message="It was due while no server was running.")
            client.set_flow_run_state(run.id, state, force=True)
        for run in _left(client, name, StateType.CANCELLING):
            client.set_flow_run_state(run.id, Cancelled(message="The server that ran it was stopped."), force=True)
        for run in _left(client, name, StateType.PENDING, StateType.RUNNING):
            begin_again(client, run, "The server that ran it was stopped.")


def _left(client: SyncPrefectClient, pool: str, *kinds: StateType) -> Iterator[FlowRun]:
    """Runs that should have begun by now, except those that are to resume; the caller changes their states."""
    wanted = filters.FlowRunFilter(
        state=filters.FlowRunFilterState(
            type=filters.FlowRunFilterStateType(any_=list(kinds)),
            name=filters.FlowRunFilterStateName(not_any_=["AwaitingRetry"]),
        ),
        expected_start_time=filters.FlowRunFilterExpectedStartTime.model_validate({"before_": datetime.now(UTC)}),
    )
    in_pool = filters.WorkPoolFilter(name=filters.WorkPoolFilterName(any_=[pool]))
    while runs := client.read_flow_runs(flow_run_filter=wanted, work_pool_filter=in_pool):  # a page at a time
        yield from runs


def schedule_nightly(pool: str, cron: str | None, timezone: str | None, paused: bool) -> None:
    """Schedule the whole graph; only the given arguments change an existing schedule.

    So changes in the browser stay. `prefect deploy`, which comes after this, leaves the schedules of a deployment as
    they are.

    Raises:
        ZugwerkError: no such cron expression or time zone.
    """
    with get_client(sync_client=True) as client:
        try:
            found = client.read_deployment_by_name(f"{FLOW}/{DEPLOYMENT}")
        except ObjectNotFound:
            found = None
        if found and not (cron or timezone or paused):
            return
        before = next((one for one in found.schedules if one.slug == SCHEDULE), None) if found else None
        last = before.schedule if before and isinstance(before.schedule, CronSchedule) else None
        try:
            schedule = CronSchedule(
                cron=cron or (last.cron if last else CRON), timezone=timezone or (last and last.timezone) or TIMEZONE
            )
        except ValidationError as error:
            wrong = "; ".join(f"--{one['loc'][0]} {one['input']}: {one['msg']}" for one in error.errors())
            raise ZugwerkError(wrong) from None
        new = [DeploymentScheduleCreate(schedule=schedule, active=not paused, slug=SCHEDULE)]
        if found and before:
            client.update_deployment_schedule(found.id, before.id, active=not paused, schedule=schedule)
        elif found:
            client.create_deployment_schedules(found.id, new)
        else:  # together with its schedule, so that a start that is interrupted here leaves none without
            client.create_deployment(client.create_flow_from_name(FLOW), DEPLOYMENT, schedules=new, work_pool_name=pool)
