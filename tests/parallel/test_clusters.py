"""Real Dask clusters on loopback, where dask is installed (the extra ``cluster``)."""

import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel, each, run_as_they_come, run_tasks, tasks
from pipeline_src.parallel import cluster as crew
from pipeline_src.parallel.cluster import admit, issue, withdraw
from tests.parallel import worker_tasks

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's, about sockets and loops


def on_dask(test):
    """Mark a slow test that needs dask."""
    return pytest.mark.slow(
        pytest.mark.skipif(not importlib.util.find_spec("distributed"), reason="no dask here")(test)
    )


DRAW = partial(each, worker_tasks.draw)
SOME = [(7, group) for group in range(6)]


@contextlib.contextmanager
def cluster(folder, *workers):
    """Start a scheduler, and a worker for each dict of variables; yield the setting, and the scheduler's process."""
    folder.mkdir(exist_ok=True)
    own = {"PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    begun = []

    def start(variables, *words):
        command = [sys.executable, "-m", "dask", *words, "--host", "127.0.0.1"]
        with (folder / f"{len(begun)}.log").open("wb") as log:
            env = os.environ | own | variables  # `python -m` finds packages in the working folder too
            begun.append(subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log))

    file = folder / "scheduler.json"
    try:
        start({}, "scheduler", "--port", "0", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file))
        until(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        address = json.loads(file.read_text())["address"]
        for number, variables in enumerate(workers):
            threads = variables.get("THREADS", "1")
            local = ["--local-directory", str(folder / f"worker-{number}"), "--no-dashboard"]
            start(variables, "worker", address, "--nthreads", threads, *local)
        with connected(address) as client:
            client.wait_for_workers(len(workers), timeout=120)
        yield Parallel(address=address), begun[0]
    finally:
        tasks.dismiss()
        tree = [one for process in begun for one in psutil.Process(process.pid).children(recursive=True)]
        for process in reversed(begun):
            process.terminate()
        for process in begun:
            process.wait(60)
        for left in psutil.wait_procs(tree, timeout=30)[1]:
            left.kill()


@contextlib.contextmanager
def connected(address):
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        yield client


def until(true):
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("cluster"), {}, {}) as (parallel, _):
        yield parallel


@on_dask
def test_results_are_those_of_one_process(two):
    assert run_tasks(DRAW, SOME, two, "test") == [worker_tasks.draw(*task) for task in SOME]


@on_dask
def test_a_dead_worker_costs_a_second_try_then_the_run(two, tmp_path):
    found = dict(run_as_they_come(worker_tasks.die_once, [(str(tmp_path), number) for number in (0, 1, 3)], two))
    assert found == {0: 0, 1: 10, 2: 30}
    with pytest.raises(ZugwerkError, match=r"died during task 1 of 1.*again.*the cluster"):
        list(run_as_they_come(worker_tasks.die_once, [(str(tmp_path), 2)], two))


@on_dask
def test_tasks_run_in_the_callers_folder(two, tmp_path, monkeypatch):
    (tmp_path / "mark").touch()
    monkeypatch.chdir(tmp_path)
    tasks.dismiss()
    assert {there for _, (_, _, there) in run_as_they_come(worker_tasks.where, [("mark",)] * 3, two)} == {True}
    tasks.dismiss()


@on_dask
def test_errors_reach_the_caller(two):
    with pytest.raises(ZugwerkError, match=r"^task 1$"):
        run_tasks(partial(each, worker_tasks.fail), [(1,)] * 2, two, "test")
    with pytest.raises(KeyError, match="task 0"):
        run_tasks(partial(each, worker_tasks.fail), [(0,)] * 2, two, "test")


@on_dask
def test_dead_scheduler_ends_the_run_with_advice(tmp_path):
    with cluster(tmp_path / "cluster", {}, {}) as (parallel, scheduler):
        found = run_as_they_come(worker_tasks.leave_and_wait, [(str(tmp_path), n, 600) for n in range(1, 9)], parallel)
        with pytest.raises(ZugwerkError, match=r"the Dask scheduler does not answer any more .*; restart it and its"):
            list(killed_when(lambda: (tmp_path / "1").exists(), scheduler, found))


def killed_when(true, process, found):
    """The results of a run during which ``process`` is killed as soon as ``true`` returns true."""
    import threading

    thread = threading.Thread(target=lambda: (until(true), process.kill()))
    thread.start()
    try:
        yield from found
    finally:
        thread.join()


@on_dask
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("other", r"the sources of zugwerk are .* restart it"),
        ("THREADS", r"runs 2 tasks at a time in threads.* --nthreads 1"),
        ("none", r"cannot import this version of zugwerk .*install it"),
    ],
)
def test_a_wrong_worker_ends_the_run_and_is_named(tmp_path, wrong, why):
    """It has other sources, runs tasks in threads, or has another package of that name."""
    package = tmp_path / wrong / "pipeline_src"
    if wrong == "other":
        unused = shutil.ignore_patterns("web", "nets", "__pycache__")
        shutil.copytree(ROOT / "pipeline_src", package, ignore=unused)
        (package / "more.py").write_text("MORE = 1\n")
    elif wrong == "none":
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
    variables = {"THREADS": "2"} if wrong == "THREADS" else {"PYTHONPATH": str(package.parent)}
    with cluster(tmp_path / "cluster", variables) as (parallel, _), pytest.raises(ZugwerkError, match=why):
        run_tasks(DRAW, SOME, parallel, "test")


@on_dask
def test_a_missing_scheduler_is_named(monkeypatch):
    monkeypatch.setattr(crew, "CONNECT_S", 1)
    with pytest.raises(ZugwerkError, match=r"no Dask scheduler answers there .*dask scheduler"):
        run_tasks(DRAW, SOME, Parallel(address="tcp://127.0.0.1:9"), "test")


def test_a_missing_package_is_named(monkeypatch):
    for name in ("dask", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ZugwerkError, match=r"parallel\.address: dask is not installed; pip install 'zugwerk\[cluster"):
        run_tasks(DRAW, SOME, Parallel(address="tcp://127.0.0.1:9"), "test")


# Admission of a worker.


@pytest.fixture
def ticket(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(crew, "VISIBLE_S", 0.1)
    monkeypatch.setattr(crew, "_ADMITTED", set())
    found = issue()
    yield found
    withdraw(found)


def refused(ticket):
    with pytest.raises(ZugwerkError) as error:
        admit(ticket)
    return str(error.value)


def test_worker_with_same_code_and_folder_is_admitted(ticket, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    admit(ticket)
    assert Path.cwd() == tmp_path
    withdraw(ticket)
    assert not list((tmp_path / "work").iterdir())
    admit(ticket)  # looked at once


@pytest.mark.parametrize("name", ["Python", "zugwerk", "numba", "distributed"])
def test_another_version_is_refused(ticket, name):
    message = refused(ticket._replace(versions={**ticket.versions, name: "9.9"}))
    assert f"{'the sources of zugwerk are' if name == 'zugwerk' else name + ' is'}" in message
    assert "9.9 here" in message
    assert "restart it" in message


def test_worker_with_changed_sources_is_refused(ticket, monkeypatch):
    monkeypatch.setattr(crew, "SOURCES", "0" * 64)
    assert "were changed after it started" in refused(ticket)


def test_a_folder_that_is_not_shared_is_refused(ticket):
    withdraw(ticket)
    message = refused(ticket)
    assert ticket.folder in message
    assert "file system that all machines share" in message
    assert "file system" in refused(ticket._replace(folder=str(Path("/no/such/folder"))))
