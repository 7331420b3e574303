"""The scheduler with DVC itself, on a small graph; faults and ends as a user meets them, by `zugwerk repro`."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.project import dvc_run
from pipeline_src.project import schedule as module
from pipeline_src.project import schedule as scheduler
from pipeline_src.project.dvc_run import Children
from pipeline_src.project.schedule import SECONDS, Outcome, Schedule, TargetsFailedError, Watch, log_file, repro
from tests.layout.imports import ROOT
from tests.toy_checkout import add_stage, holds_lock, is_gone, is_up, wait_for

RENDEZVOUS = "touch {own} && until test -e {other}; do sleep 0.1; done"
pytestmark = [pytest.mark.timeout(90), pytest.mark.usefixtures("forked_dvc")]
"""A scheduler gone wrong may run for ever."""
CLI = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background of a shell ignores it
from pipeline_src.cli.app import main
main()
"""


Show = Callable[[Schedule], contextlib.AbstractContextManager[Watch]]


class Seen:
    """A watch that records its calls; `add_failing`'s stage continues once it hears of a failure."""

    def __init__(self, checkout: Path | None = None) -> None:
        self.began_, self.ended_, self.checkout = [], [], checkout

    def began(self, target: str) -> None:
        assert all(state for _, state in self.ended_), f"{target} began after a failure"  # it would for ever
        self.began_.append(target)

    def ended(self, target: str, outcome: Outcome | None) -> None:
        self.ended_.append((target, outcome and outcome.state))
        if outcome is None and self.checkout:
            (self.checkout / "told").touch()


@contextlib.contextmanager
def unseen(schedule: Schedule) -> Iterator[Watch]:
    yield Seen()


@contextlib.contextmanager
def seeing(checkout: Path | None = None) -> Iterator[tuple[Seen, Show]]:
    """A watch, and what `repro` takes to use it."""
    seen = Seen(checkout)
    yield seen, lambda _: contextlib.nullcontext(seen)


def states(checkout: Path, jobs: int = 2, show: Show = unseen, **options: object) -> dict[str, str]:
    return {one.target: one.state for one in repro(checkout, jobs, show, **options)}


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What DVC was started for from now on."""
    found: list[str] = []
    run = dvc_run.run_dvc

    def counted(arguments, *others, **options):
        found.append(arguments[-1] if arguments[0] == "repro" else arguments[0])
        return run(arguments, *others, **options)

    monkeypatch.setattr(dvc_run, "run_dvc", counted)
    monkeypatch.setattr("pipeline_src.project.schedule.run_dvc", counted)
    return found


def test_brings_the_graph_up_to_date_once(checkout: Path, processes: list[str]) -> None:
    all_of_it = ["toy_crawl", "toy_count", "toy_train@a", "toy_train@b"]
    with seeing() as (seen, show):
        ran = states(checkout, 1, show)
    assert [target for target, _ in seen.ended_] == seen.began_ == all_of_it
    assert ran == dict.fromkeys(all_of_it, "ran")
    assert (checkout / "models/b.txt").exists()
    assert sorted(processes) == sorted(["dag", "status", *all_of_it])
    assert "crawled" in (checkout / log_file("toy_crawl")).read_text().splitlines()
    assert json.loads((checkout / SECONDS).read_text())["toy"].keys() == set(all_of_it)
    lock = (checkout / "dvc.lock").read_text()
    processes.clear()
    assert states(checkout) == dict.fromkeys(all_of_it, "up to date")
    assert sorted(processes) == ["dag", "status"]
    assert states(checkout, targets=["toy_count"], force=True) == dict.fromkeys(all_of_it[:2], "ran")
    assert (checkout / "dvc.lock").read_text() != lock  # a page more
    assert (checkout / "pages.txt").read_text() == "page\n" * 2


@pytest.mark.slow
def test_dvc_is_asked_once_for_unaffected_targets(checkout: Path, processes: list[str]) -> None:
    """As stage `code` of the real graph: of its output each other stage reads a key, and few keys change at a time."""
    text = "stages:\n  code: {cmd: cp source code.json, deps: [source], outs: [code.json: {cache: false}]}\n"
    for name in "abcd":
        text += f"  {name}: {{cmd: touch {name}, params: [code.json: [{name}]], outs: [{name}: {{cache: false}}]}}\n"
    (checkout / "dvc.yaml").write_text(text)
    (checkout / "source").write_text('{"a": 1, "b": 1, "c": 1, "d": 1}')
    states(checkout)
    processes.clear()
    (checkout / "source").write_text('{"a": 1, "b": 1, "c": 2, "d": 1, "e": "a comment"}')
    assert states(checkout) == {"code": "ran", "c": "ran"} | dict.fromkeys("abd", "up to date")
    assert sorted(processes) == ["c", "code", "dag", "status", "status"]


def test_independent_targets_run_at_the_same_time(checkout: Path) -> None:
    add_stage(checkout, "toy_one", RENDEZVOUS.format(own="one", other="two"))
    add_stage(checkout, "toy_two", RENDEZVOUS.format(own="two", other="one"))
    assert states(checkout, targets=["toy_one", "toy_two"]) == {"toy_one": "ran", "toy_two": "ran"}


@pytest.mark.slow
def test_one_job_runs_targets_one_by_one(checkout: Path) -> None:
    for name in ("toy_one", "toy_two", "toy_three"):
        add_stage(checkout, name, "mkdir alone && sleep 0.3 && rmdir alone")
    assert set(states(checkout, 1, targets=["toy_one", "toy_two", "toy_three"]).values()) == {"ran"}


def test_free_places_become_workers(checkout: Path) -> None:
    add_stage(checkout, "toy_play", 'echo "workers $ZUGWERK_WORKERS"\n    meta: {workers: workers}')
    (checkout / "params.yaml").write_text("workers: 3\n")
    states(checkout, 2, targets=["toy_play"])
    assert "workers 2" in (checkout / log_file("toy_play")).read_text()


@pytest.mark.parametrize("text", [None, "[", "3", '{"toy": [1]}', '{"toy": {"toy_crawl": "long"}}'])
def test_missing_or_damaged_durations_are_ignored(tmp_path: Path, text: str | None) -> None:
    if text:
        (tmp_path / "seconds.json").write_text(text)
    assert scheduler._read_seconds(tmp_path / "seconds.json") == {}


def test_an_unknown_target_is_refused_before_the_run(checkout: Path) -> None:
    there = "toy_crawl, toy_count, toy_train@{a,b}"
    with pytest.raises(ZugwerkError, match=f"no target 'toy_run'; there are: {there}"):
        repro(checkout, 2, unseen, targets=["toy_crawl", "toy_run"])
    assert not (checkout / "pages.txt").exists()


def add_failing(checkout: Path, command: str) -> None:
    """A stage that fails once another runs, that other, which then ends, and a third that waits for a place."""
    add_stage(checkout, "toy_fails", f"until test -e begun; do sleep 0.02; done; {command}")
    add_stage(checkout, "toy_beside", "touch begun && until test -e told; do sleep 0.02; done; touch ended")
    add_stage(checkout, "toy_third", "touch third")


FAILING = ["toy_fails", "toy_beside", "toy_third"]


def test_after_a_failure_running_targets_finish_and_no_other_starts(checkout: Path) -> None:
    add_failing(checkout, "echo no such game; exit 3")
    with seeing(checkout) as (seen, show), pytest.raises(TargetsFailedError) as failure:
        repro(checkout, 2, show, targets=FAILING)
    assert seen.ended_ == [("toy_fails", None), ("toy_beside", "ran")]
    assert "toy_fails: `dvc --wait-for-lock repro --single-item toy_fails` failed" in str(failure.value)
    assert "\n  no such game\n" in str(failure.value)
    assert "log: work/repro/toy_fails.log" in str(failure.value)
    finished = "toy_beside, which ran at the same time, has finished\n  log: work/repro/toy_beside.log"
    assert finished in str(failure.value)
    assert (checkout / "ended").exists()
    assert not (checkout / "third").exists()


@pytest.mark.slow
def test_two_failures_are_both_reported(checkout: Path) -> None:
    add_failing(checkout, "exit 1")
    text = (checkout / "dvc.yaml").read_text()
    (checkout / "dvc.yaml").write_text(text.replace("touch ended", "exit 2"))
    told = r"(?s)toy_fails: .*toy_fails.log\ntoy_beside: .*toy_beside.log\nno o"
    with seeing(checkout) as (_, show), pytest.raises(TargetsFailedError, match=told):
        repro(checkout, 2, show, targets=FAILING)


FULL = """
from pipeline_src.errors import run_main
from pipeline_src.files import write_json
def main():
    with open("/dev/full", "w") as file:
        file.write("more")
run_main(main)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_reported_and_the_next_run_resumes(checkout: Path) -> None:
    (checkout / "full.py").write_text(FULL)
    add_failing(checkout, "python full.py")
    (checkout / log_file("toy_beside")).parent.mkdir(parents=True)
    (checkout / log_file("toy_beside")).symlink_to("/dev/full")  # the log of the other is lost, and nothing else
    full = "error: the disk is full; free some of it"
    with seeing(checkout) as (_, show), pytest.raises(TargetsFailedError, match=full):
        repro(checkout, 2, show, targets=FAILING)
    assert (checkout / "ended").exists()
    (checkout / "full.py").write_text("")
    assert set(states(checkout, targets=FAILING).values()) == {"ran"}


def test_a_log_that_cannot_be_written_is_reported(checkout: Path) -> None:
    (checkout / log_file("toy_crawl")).mkdir(parents=True)
    with pytest.raises(TargetsFailedError, match=r"toy_crawl: .*toy_crawl.log: Is a directory"):
        repro(checkout, 2, unseen, targets=["toy_crawl"])


@contextlib.contextmanager
def running(checkout: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """`zugwerk repro` in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen([sys.executable, "-c", CLI, "repro", *words], cwd=checkout, env=environment, **pipes) as one:
        try:
            yield one
        finally:
            one.kill()  # where the test has failed: it would wait for ever


@pytest.mark.slow
def test_the_command_prints_progress_and_fails_with_status_1(checkout: Path) -> None:
    with running(checkout, "toy_count") as one:
        told = one.communicate(timeout=240)[0].splitlines()
        assert one.returncode == 0
    assert told[0] == "toy_crawl: begins"
    assert told[1].startswith("toy_crawl: ran, ")
    assert told[-1].startswith("2 targets: 2 ran; ")
    add_failing(checkout, "exit 3")
    with running(checkout, *FAILING, "--jobs", "2") as one:
        told = []
        for line in one.stdout:
            assert not (line.endswith(": begins\n") and (checkout / "told").exists()), f"after a failure {line}"
            told.append(line)
            if line.startswith("toy_fails: FAILED; those that run are waited for"):
                (checkout / "told").touch()
        assert one.wait(timeout=240) == 1
    assert (checkout / "ended").exists()
    assert any(line.startswith("error: toy_fails: ") for line in told)


@pytest.mark.slow
def test_an_interrupted_or_killed_run_leaves_no_process_and_resumes(checkout: Path) -> None:
    add_hanging(checkout)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        with running(checkout, "toy_hang", "toy_sleep", "--jobs", "2") as one:
            wait_for(lambda: both_are_up(checkout))
            one.send_signal(number)
            assert one.wait(timeout=120) == (-number if number == signal.SIGKILL else 128 + number)
            if number == signal.SIGKILL:
                wait_for(lambda: is_gone(checkout))
            else:
                stopped = "toy_hang was stopped, toy_sleep was stopped; run the same command again to go on"
                told = f"ended by {number.name}: 0 of 2 targets are done and kept, {stopped}"
                assert one.stdout.read().splitlines()[-1] == told
            assert is_gone(checkout)
        assert not holds_lock(checkout, "toy_")
        for name in ("pids.txt", "asleep"):
            (checkout / name).unlink()
    goes_on(checkout)


def add_hanging(checkout: Path) -> None:
    add_stage(checkout, "toy_hang", "python family.py")
    add_stage(checkout, "toy_sleep", "touch asleep && sleep 600")


def both_are_up(checkout: Path) -> bool:
    return is_up(checkout) and (checkout / "asleep").exists()


def goes_on(checkout: Path) -> None:
    (checkout / "family.py").write_text("print('no family today')")
    text = (checkout / "dvc.yaml").read_text()
    (checkout / "dvc.yaml").write_text(text.replace("&& sleep 600", ""))
    assert states(checkout, targets=["toy_hang", "toy_sleep"]) == {"toy_hang": "ran", "toy_sleep": "ran"}


def test_an_error_during_planning_leaves_no_process(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []
    end = Children.end
    monkeypatch.setattr(Children, "end", lambda self: (ended.append(self), end(self)))
    (checkout / "params.yaml").unlink()
    with pytest.raises(ZugwerkError, match=r"params.yaml: no such file"):
        repro(checkout, 2, unseen)
    assert len(ended) == 1
    assert is_gone(checkout)


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: {3, 5, 6}, raising=False)
    assert module.cores() == 3
    monkeypatch.delattr(module.os, "sched_getaffinity")
    monkeypatch.setattr(module.os, "cpu_count", lambda: 8)
    assert module.cores() == 8


def test_only_crawls_are_forced(checkout: Path) -> None:
    with Children() as children:
        found = scheduler.Scheduler(checkout, children, 1, refresh_crawl=True).schedule
    assert found.forced == {"toy_crawl"}
