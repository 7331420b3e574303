import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel, run_as_they_come, run_tasks
from pipeline_src.parallel.crew import ATTEMPTS
from pipeline_src.parallel.loky_crew import _uninterrupted
from pipeline_src.parallel.tasks import MOST_WORKERS
from pipeline_src.project.params import build
from tests.parallel import worker_tasks

TWO = Parallel(workers=2)
ROOT = Path(__file__).parents[2]


def test_results_and_their_order_do_not_depend_on_the_workers():
    tasks = [(7, group) for group in range(6)]
    alone = run_tasks(worker_tasks.draw, tasks, Parallel(workers=1), "test")
    assert alone == [worker_tasks.draw(*task) for task in tasks]
    assert run_tasks(worker_tasks.draw, tasks, TWO, "test") == alone


def test_no_tasks_and_bad_params():
    assert run_tasks(worker_tasks.draw, [], Parallel(), "test") == []
    with pytest.raises(ZugwerkError, match="parallel: workers must be at least 1, not 0"):
        build(Parallel, {"workers": 0}, "parallel", "params.yaml")
    with pytest.raises(ZugwerkError, match="parallel: address is for backend dask or ray only"):
        build(Parallel, {"address": "tcp://127.0.0.1:8786"}, "parallel", "params.yaml")


def test_a_dead_worker_costs_its_task_alone(tmp_path, caplog):
    tasks = [(str(tmp_path), number) for number in range(5)]
    with caplog.at_level(logging.WARNING):
        found = dict(run_as_they_come(worker_tasks.die_once, tasks, TWO))
    assert found == {0: 0, 1: 10, 3: 30, 4: 40}
    begun = [(tmp_path / str(number)).read_text().count("begun") for number in range(5)]
    assert begun == [1, 2, ATTEMPTS, 1, 1]
    assert "a worker died during task 3; given up" in caplog.text


def test_the_task_of_another_worker_goes_on(tmp_path):
    run_tasks(worker_tasks.slow_once, [(str(tmp_path), 0), (str(tmp_path), 1)], TWO, "test")
    assert [(tmp_path / name).read_text().count("begun") for name in "01"] == [2, 1]


def test_a_task_that_ends_every_worker_is_named(tmp_path):
    tasks = [(str(tmp_path), number) for number in (0, 2, 3)]
    with pytest.raises(ZugwerkError, match=r"test: task 2 of 3 \(.*\.die_once\) ended its worker"):
        run_tasks(worker_tasks.die_once, tasks, TWO, "test")
    assert (tmp_path / "3").exists()


@pytest.mark.parametrize(("number", "kind"), [(1, ZugwerkError), (0, KeyError)])
def test_errors_of_workers_come_back(number, kind):
    with pytest.raises(kind, match=f"task {number}"):
        run_tasks(worker_tasks.fail, [(number,)] * 2, TWO, "test")
    assert run_tasks(worker_tasks.draw, [(1, 2)] * 2, TWO, "test")  # the crew goes on


def test_workers_are_kept_and_stand_where_the_caller_stands(tmp_path, monkeypatch):
    def where():
        return run_tasks(worker_tasks.where, [("mark",)] * 4, TWO, "test")

    before = where()
    (tmp_path / "mark").touch()
    monkeypatch.chdir(tmp_path)
    after = where()
    assert {pid for pid, *_ in after} & {pid for pid, *_ in before}
    assert {tuple(rest) for _, *rest in after} == {(str(tmp_path), True)}
    assert os.getpid() not in {pid for pid, *_ in after}


def test_workers_end_what_they_keep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = dict(run_as_they_come(worker_tasks.where, [("mark",)] * 4, TWO, worker_tasks.leave_mark))
    assert {f"left-{pid}" for pid, *_ in found.values()} == {path.name for path in tmp_path.glob("left-*")}


def test_workers_end_with_a_killed_parent(tmp_path):
    program = (
        "from tests.parallel import worker_tasks\n"
        "from pipeline_src.parallel import Parallel, run_tasks\n"
        f"run_tasks(worker_tasks.wait_long, [({str(tmp_path)!r}, n) for n in range(2)], Parallel(), 'test')\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        _until(lambda: len(list(tmp_path.iterdir())) == 2)
        process.kill()
    pids = [int(path.name.split("-")[1]) for path in tmp_path.iterdir()]
    _until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


def _until(true):
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_ctrl_c_at_any_moment_ends_the_tasks_and_the_next_ones_run():
    """Inside loky it would leave locks taken, and the rest would wait for ever."""
    tasks = [(7, group) for group in range(3000)]
    alone = run_tasks(worker_tasks.draw, tasks[:6], Parallel(workers=1), "test")
    assert run_tasks(worker_tasks.draw, tasks[:6], TWO, "test") == alone  # and nothing has to be imported below
    for number in range(8):
        threading.Timer(0.01 + 0.004 * number, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            run_tasks(worker_tasks.draw, tasks, TWO, "test")
    assert run_tasks(worker_tasks.draw, tasks[:6], TWO, "test") == alone


def test_signals_wait_while_loky_holds_its_locks():
    seen = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012, SIM117
        with _uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            seen.append("still here")
    assert seen == ["still here"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_variable_of_the_environment_lowers_the_number_of_workers(monkeypatch):
    tasks = [(number,) for number in range(4)]
    monkeypatch.setenv(MOST_WORKERS, "1")
    assert set(run_tasks(worker_tasks.process, tasks, TWO, "test")) == {os.getpid()}
    for most in ("2", "9"):
        monkeypatch.setenv(MOST_WORKERS, most)
        found = set(run_tasks(worker_tasks.process, tasks, TWO, "test"))
        assert os.getpid() not in found
        assert len(found) <= 2
