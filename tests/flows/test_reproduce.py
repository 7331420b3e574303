"""The flows on a small graph, with a Prefect server that lasts as long as these tests."""

import argparse
import contextlib
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import pytest
from prefect.artifacts import Artifact
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterDeploymentId, FlowRunFilterId
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.schedules import CronSchedule, IntervalSchedule
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Cancelling, Running, Scheduled

from flows import CHECKOUT, serve, systems
from flows.pool import prepare_pool, schedule_nightly
from flows.runs import MOST_STARTS
from flows.systems import FLOWS, amazons_net, reproduce
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.dvc_run import DvcFailedError, TimeLimitError
from pipeline_src.report.figures import REGISTRY
from tests.toy_checkout import add_remote, add_stage, is_gone, is_up, wait_for

# Prefect leaves its own connections to the server for the garbage collector to close.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("forked_dvc"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

LOCK_S = 60
"""Seldom two transactions of Prefect's server wait for each other, as long as SQLite lets them; then it continues."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module", autouse=True)
def server(home: Path) -> Iterator[None]:
    """`make serve` in a home of its own; the tests' own flow runs report to it too."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    later = datetime.now(UTC) + timedelta(days=30)
    cron = f"0 0 {later.day} {later.month} *"
    command = [sys.executable, "-m", "flows.serve", "--port", str(port), "--cron", cron]
    environment = {**os.environ, "PREFECT_HOME": str(home), "PREFECT_WORKER_QUERY_SECONDS": "1"}
    with open(home / "log.txt", "wb") as log:
        serve = subprocess.Popen(command, cwd=CHECKOUT, env=environment, stdout=log, stderr=log)
    try:
        wait_for(lambda: serve.poll() is not None or "ready: " in (home / "log.txt").read_text(), limit_s=330)
        assert serve.poll() is None, (home / "log.txt").read_text()
        with temporary_settings({PREFECT_API_URL: f"http://127.0.0.1:{port}/api"}):
            yield
    finally:
        serve.terminate()
        assert serve.wait(timeout=120) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def test_brings_the_graph_up_to_date_and_publishes(checkout: Path, caplog: pytest.LogCaptureFixture) -> None:
    reproduce(checkout=checkout)
    assert "nothing is pushed: DVC has no default remote here" in caplog.text
    assert (checkout / "models" / "b.txt").exists()
    assert json.loads((checkout / "reports/count.json").read_text())["pages"] == 1
    reproduce(checkout=checkout, refresh_crawl=True)
    assert json.loads((checkout / "reports/count.json").read_text())["pages"] == 2


def test_publishes_results_of_all_systems_and_link_to_report(checkout: Path) -> None:
    page = checkout / "artifacts" / "reports" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text("<title>Report</title>")
    measured = checkout / "docs" / "measured" / "amazons_engine.json"
    measured.parent.mkdir(parents=True)
    measured.write_text('{"illegal_moves": {"value": 0}}')
    with pytest.raises(ZugwerkError, match="no stage whose name starts with 'amazons_'"):
        amazons_net(checkout=checkout)
    add_stage(checkout, "amazons_match", "echo played")
    reproduce(["toy_crawl"], checkout=checkout)
    everything = rows("results")
    assert {row["system"] for row in everything} == set(REGISTRY)
    amazons_net(checkout=checkout)
    assert "amazons_match:" in (checkout / "dvc.lock").read_text()
    own = rows("amazons-results")
    assert own == [row for row in everything if row["system"].startswith("amazons_")]
    assert [row["ours"] for row in own if row["figure"] == "illegal_moves"] == ["0"]
    link = Artifact.get("report")
    assert link is not None
    assert f"({page.as_uri()})" in str(link.data)


def test_pushes_to_the_default_remote(checkout: Path) -> None:
    remote = add_remote(checkout)
    reproduce(["toy_save"], checkout=checkout, push=False)
    assert not remote.exists()
    reproduce(["toy_save"], checkout=checkout)
    assert [path.read_text() for path in remote.rglob("*") if path.is_file()] == ["saved\n"]


def test_a_failed_push_is_tried_again_and_fails_the_run(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "FIRST_RETRY_S", 0.1)
    tries = []
    push = systems.push
    monkeypatch.setattr(systems, "push", lambda *given, **options: (tries.append(given), push(*given, **options)))
    add_remote(checkout).write_text("no folder")
    with pytest.raises(
        DvcFailedError, match=r"push --with-deps toy_save` failed with status 255; its last lines:\n  \w"
    ):
        reproduce(["toy_save"], checkout=checkout, retries=1)
    assert len(tries) == 2


def test_a_failed_target_is_tried_again(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "FIRST_RETRY_S", 0.1)
    add_stage(checkout, "toy_shaky", "test -e tried || { touch tried; exit 1; }")
    reproduce(["toy_shaky"], checkout=checkout, retries=1)


def test_target_that_timed_out_is_not_retried(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def too_long(target: str, *_: object, limit_s: float, **__: object) -> None:
        tries.append((target, limit_s))
        raise TimeLimitError("it took too long")

    monkeypatch.setattr(systems, "FIRST_RETRY_S", 0.1)
    monkeypatch.setattr(systems, "repro", too_long)
    with pytest.raises(TimeLimitError):
        reproduce(["toy_crawl"], checkout=checkout, limit_minutes=5, retries=3)
    assert tries == [("toy_crawl", 300)]


def test_each_flow_has_a_deployment_with_a_described_form() -> None:
    with get_client(sync_client=True) as client:
        deployments = client.read_deployments()
        assert client.read_work_pool("zugwerk").concurrency_limit == 1
    assert {str(deployment.entrypoint).partition(":")[2] for deployment in deployments} == FLOWS.keys()
    for deployment in deployments:
        form = deployment.parameter_openapi_schema["properties"]
        assert {"targets", "jobs", "limit_minutes", "retries", "push", "checkout"} <= form.keys()
        assert deployment.description
        assert all(field["description"] for field in form.values())
        assert deployment.parameters.keys() <= form.keys()
        assert deployment.work_pool_name == "zugwerk"


def test_the_schedule_makes_runs() -> None:
    with get_client(sync_client=True) as client:
        wait_for(lambda: any(run.auto_scheduled for run in client.read_flow_runs()))


def test_changed_schedule_is_kept_until_an_option_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", str(PREFECT_API_URL.value()))  # for `prefect deploy`

    def schedules() -> list[tuple[str, str | None, bool]]:
        found = [one for one in client.read_deployment_schedules(deployment.id) if one.slug == "nightly"]
        return [(one.schedule.cron, one.schedule.timezone, one.active) for one in found]

    with get_client(sync_client=True) as client:
        deployment = client.read_deployment_by_name("reproduce/local")
        (before,) = client.read_deployment_schedules(deployment.id)
        changed = CronSchedule(cron="5 4 1 1 *", timezone="Europe/Berlin")
        client.update_deployment_schedule(deployment.id, before.id, active=True, schedule=changed)
        serve._deploy(argparse.Namespace(cron=None, timezone=None, paused=False))
        assert schedules() == [("5 4 1 1 *", "Europe/Berlin", True)]
        schedule_nightly("zugwerk", None, None, True)
        assert schedules() == [("5 4 1 1 *", "Europe/Berlin", False)]
        with pytest.raises(ZugwerkError, match="--cron 1 2 3: "):
            schedule_nightly("zugwerk", "1 2 3", None, False)
        client.delete_deployment_schedule(deployment.id, before.id)
        serve._deploy(argparse.Namespace(cron=None, timezone=None, paused=False))
        assert schedules() == []
        schedule_nightly("zugwerk", "6 4 1 1 *", None, False)
        assert schedules() == [("6 4 1 1 *", "UTC", True)]


def test_runs_of_an_earlier_server_are_resumed_or_closed() -> None:
    prepare_pool("empty")
    now = datetime.now(UTC)
    late, later = Scheduled(scheduled_time=now - timedelta(hours=1)), Scheduled(scheduled_time=now + timedelta(hours=1))
    with get_client(sync_client=True) as client:
        flow = client.read_deployment_by_name("reproduce/local").flow_id
        deployment = client.create_deployment(flow, "nowhere", work_pool_name="empty")
        runs = [
            client.create_flow_run_from_deployment(deployment, state=state).id
            for state in (Running(), late, later, Cancelling(), late)
        ]
        for _ in range(MOST_STARTS):
            client.set_flow_run_state(runs[-1], Running(), force=True)
        for _ in range(2):  # a second start finds the same
            prepare_pool("empty")
            states = [state_name(client, run) for run in runs]
            assert states == ["AwaitingRetry", "Cancelled", "Scheduled", "Cancelled", "Crashed"]


@pytest.mark.timeout(600)
def test_scheduled_run_due_during_another_is_skipped(checkout: Path) -> None:
    """One that a user starts meanwhile waits for its turn and runs."""
    add_stage(checkout, "toy_long", "echo run >> runs; until test -e enough; do sleep 0.1; done")
    parameters = {"checkout": str(checkout), "targets": ["toy_long"], "refresh_crawl": False}
    often = DeploymentScheduleCreate(schedule=IntervalSchedule(interval=timedelta(seconds=30)))
    with get_client(sync_client=True) as client:
        where = [{"prefect.deployments.steps.set_working_directory": {"directory": str(CHECKOUT)}}]
        there = {"work_pool_name": "zugwerk", "pull_steps": where, "entrypoint": "flows/systems.py:reproduce"}
        flow = client.read_deployment_by_name("reproduce/local").flow_id
        deployment = client.create_deployment(flow, "often", parameters=parameters, schedules=[often], **there)

        def runs(state: str) -> list[FlowRun]:
            of_it = FlowRunFilter(deployment_id=FlowRunFilterDeploymentId(any_=[deployment]))
            return [run for run in client.read_flow_runs(flow_run_filter=of_it) if run.state_name == state]

        wait_for(lambda: (checkout / "runs").exists() and len(runs("Late")) >= 2, limit_s=120 + LOCK_S)
        (first,), by_hand = runs("Running"), client.create_flow_run_from_deployment(deployment)
        (checkout / "enough").touch()
        wait_for(lambda: state_name(client, by_hand.id) == "Completed", limit_s=240)
        assert state_name(client, first.id) == "Completed"
        late = [run.state.message for run in runs("LeftOut") if run.state and run.state.message]
        assert len(late) >= 2
        assert all(text.startswith("It was due at ") for text in late)
        assert sum(f"'{first.name}' of the same schedule ran then or later" in text for text in late) >= 2
        client.pause_deployment(deployment)
        wait_for(lambda: not any(map(runs, ("Late", "Pending", "Running"))))  # other tests read what the last run did
        client.delete_deployment(deployment)


def test_targets_that_wait_for_one_another_run_at_once(checkout: Path) -> None:
    for name, other in (("toy_one", "toy_two"), ("toy_two", "toy_one")):
        add_stage(checkout, name, f"touch {name} && until test -e {other}; do sleep 0.1; done")
    reproduce(["toy_one", "toy_two"], checkout=checkout, jobs=2, limit_minutes=1)
    assert (checkout / "toy_one").exists()
    assert (checkout / "toy_two").exists()


def test_after_a_failure_running_targets_end_and_none_starts(checkout: Path) -> None:
    once = "test -e failed || { touch failed; exit 1; }"  # a flow gone wrong would begin it again for ever
    add_stage(checkout, "toy_fails", f"until test -e begun; do sleep 0.1; done; {once}")
    add_stage(checkout, "toy_beside", "touch begun && until test -e failed; do sleep 0.1; done; sleep 3; touch ended")
    add_stage(checkout, "toy_third", "touch third")
    with pytest.raises(DvcFailedError, match="toy_fails"):
        reproduce(["toy_fails", "toy_beside", "toy_third"], checkout=checkout, jobs=2, retries=0)
    assert (checkout / "ended").exists()
    assert not (checkout / "third").exists()


def test_a_cancelled_run_of_the_deployment_leaves_no_process(checkout: Path) -> None:
    add_stage(checkout, "toy_hang", "python family.py")
    add_stage(checkout, "toy_sleep", "touch asleep && sleep 600")
    parameters = {"checkout": str(checkout), "targets": ["toy_hang", "toy_sleep"], "jobs": 2}
    with get_client(sync_client=True) as client:
        deployment = client.read_deployment_by_name("reproduce/local")
        run = client.create_flow_run_from_deployment(deployment.id, parameters=parameters)
        wait_for(lambda: is_up(checkout) and (checkout / "asleep").exists(), limit_s=120 + LOCK_S)
        client.set_flow_run_state(run.id, Cancelling())
        wait_for(lambda: is_gone(checkout))
        wait_for(lambda: state_name(client, run.id) == "Cancelled")
        wait_for(lambda: task_states(client, run.id) == ["Cancelled", "Cancelled"])


def test_deployment_run_resumes_after_its_process_is_killed(checkout: Path) -> None:
    add_stage(checkout, "toy_once", "test -e begun || { touch begun; sleep 600; }")
    parameters = {"checkout": str(checkout), "targets": ["toy_count", "toy_once"], "jobs": 1, "refresh_crawl": False}
    with get_client(sync_client=True) as client:
        deployment = client.read_deployment_by_name("reproduce/local")
        run = client.create_flow_run_from_deployment(deployment.id, parameters=parameters)
        wait_for(lambda: (checkout / "begun").exists(), limit_s=120 + LOCK_S)
        engine(run.id).kill()
        wait_for(lambda: state_name(client, run.id) == "Completed", limit_s=240)
        assert client.read_flow_run(run.id).run_count == 2
    assert (checkout / "pages.txt").read_text() == "page\n"  # what was finished is not made again


def test_ending_a_terminal_run_ends_its_stage(checkout: Path) -> None:
    add_stage(checkout, "toy_hang", "python family.py")
    with cli("toy_hang", checkout, PREFECT_API_URL=PREFECT_API_URL.value()) as run:
        wait_for(lambda: is_up(checkout))
        run.terminate()
        assert run.wait(timeout=120) != 0
        assert is_gone(checkout)


def test_runs_without_a_server_even_if_one_is_up(checkout: Path, home: Path) -> None:
    with cli("toy_count", checkout, PREFECT_HOME=str(home)) as run:  # no address, but the same database
        assert run.wait(timeout=240) == 0
    assert (checkout / "reports" / "count.json").exists()


def test_ctrl_c_ends_a_serverless_run_at_once(checkout: Path, home: Path) -> None:
    add_stage(checkout, "toy_hang", "python family.py")
    with open(checkout / "said.txt", "wb") as said:
        options = {"start_new_session": True, "stderr": said, "stdout": said}  # as a terminal: it reaches all of them
        with cli("toy_hang", checkout, options, PREFECT_HOME=str(home)) as run:
            wait_for(lambda: is_up(checkout), limit_s=240)
            os.killpg(run.pid, signal.SIGINT)
            assert run.wait(timeout=60) == 130
    assert is_gone(checkout)
    lines = (checkout / "said.txt").read_text()
    assert "Finished in state Cancelled('It was ended together with the flow.')" in lines
    assert "Finished in state Crashed('Execution was aborted by an interrupt signal.')" in lines
    assert "Traceback" not in lines


@contextlib.contextmanager
def cli(
    target: str, checkout: Path, options: dict[str, Any] | None = None, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """`python -m flows reproduce` with no other Prefect settings than these."""
    command = [sys.executable, "-m", "flows", "reproduce", "--checkout", str(checkout), "--target", target]
    others = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")}
    options = {"stderr": subprocess.DEVNULL, **(options or {})}
    with subprocess.Popen(command, cwd=CHECKOUT, env=others | environment, **options) as run:
        try:
            yield run
        finally:
            run.kill()


def state_name(client: SyncPrefectClient, run: UUID) -> str | None:
    return client.read_flow_run(run).state_name


def task_states(client: SyncPrefectClient, run: UUID) -> list[str | None]:
    found = client.read_task_runs(flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[run])))
    return [task.state_name for task in found]


def engine(run: UUID) -> psutil.Process:
    """The process of a run: what it starts has its variables too, but its parent, the worker, has not."""

    def is_of_run(process: psutil.Process | None) -> bool:
        try:
            return process is not None and process.environ().get("PREFECT__FLOW_RUN_ID") == str(run)
        except psutil.Error:
            return False

    (found,) = [one for one in psutil.process_iter() if is_of_run(one) and not is_of_run(one.parent())]
    return found


def rows(key: str) -> list[dict[str, Any]]:
    """The latest table with that key."""
    found = Artifact.get(key)
    assert found is not None
    assert isinstance(found.data, str)
    table: list[dict[str, Any]] = json.loads(found.data)
    return table
