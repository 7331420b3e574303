import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_src.arena.journal import Journal, each_kept
from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel, each, run_as_they_come, run_tasks
from pipeline_src.parallel.tasks import Batches, _uninterrupted
from pipeline_src.project.params import MOST_WORKERS, build
from tests.parallel import worker_tasks

TWO = Parallel(workers=2)
DRAW = partial(each, worker_tasks.draw)
ROOT = Path(__file__).parents[2]


def test_results_and_their_order_do_not_depend_on_the_workers():
    tasks = [(7, group) for group in range(6)]
    alone = run_tasks(DRAW, tasks, Parallel(workers=1), "test")
    assert alone == [worker_tasks.draw(*task) for task in tasks]
    assert run_tasks(DRAW, tasks, TWO, "test") == alone


@settings(max_examples=25)
@given(st.data())
def test_any_split_hands_out_each_task_once_in_order(data):
    """For any durations of batches and order of results."""
    count, together = data.draw(st.integers(0, 200)), data.draw(st.integers(0, 40))
    workers = data.draw(st.integers(1, 300))
    tasks, found = [(number,) for number in range(count)], {}
    batches, running = Batches(tasks, together), []
    while batches or running:
        if batches and (not running or data.draw(st.booleans())):
            running.append(batches.take(workers))
            assert len(running[-1]) == 1 or (together and len(running[-1]) <= -(-count // workers))
            continue
        batch = running.pop(data.draw(st.integers(0, len(running) - 1)))
        some = batches.done(batch, (data.draw(st.floats(0, 100)), [tasks[index] for index in batch]))
        assert not found.keys() & dict(some).keys()
        found.update(some)
    assert [found[number] for number in range(count)] == tasks


def test_batches_grow_to_ten_seconds_and_shrink_towards_the_end():
    batches = Batches([()] * 10_000, 1)
    first = batches.take(2)
    batches.done(first, (0.1, [None]))
    second = batches.take(2)
    batches.done(second, (400.0, [None] * len(second)))
    third = batches.take(2)
    assert [len(one) for one in (first, second, third)] == [1, 100, 2]
    batches.done(third, (1e-9, [None] * len(third)))
    sizes = []
    while batches:
        sizes.append(len(batches.take(2)))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == -(-(10_000 - 1 - len(second) - len(third)) // 8)
    assert sizes[-1] == 1


def test_games_of_a_net_stay_together_while_workers_are_busy():
    batches = Batches([()] * 100, 40)
    assert [len(batches.take(2)) for _ in range(4)] == [40, 30, 15, 8]
    assert len(Batches([()] * 100, 40).take(64)) == 2


def test_no_tasks_and_bad_params():
    assert run_tasks(DRAW, [], Parallel(), "test") == []
    with pytest.raises(ZugwerkError, match="parallel: workers must be at least 1, not 0"):
        build(Parallel, {"workers": 0}, "parallel", "params.yaml")
    with pytest.raises(ZugwerkError, match=r"parallel\.backend: unknown key"):
        build(Parallel, {"backend": "loky"}, "parallel", "params.yaml")


def test_a_dead_worker_ends_the_run_and_it_resumes(tmp_path):
    tasks = {str(number): (str(tmp_path), number) for number in (0, 1, 3, 4)}
    function = partial(each, worker_tasks.die_once)
    with Journal(tmp_path / "journal.jsonl", {}) as journal:
        with pytest.raises(ZugwerkError, match=r"died during task 2 of 4.*again.*parallel\.workers"):
            each_kept(function, tasks, TWO, "test", journal)
        assert list(each_kept(function, tasks, TWO, "test", journal)) == [0, 10, 30, 40]
    before = {key: (tmp_path / key).read_text().count("begun") for key in tasks}
    assert before["1"] == 2


def test_a_batch_whose_worker_died_is_named():
    batches = Batches([()] * 9, 4)
    assert "one of tasks 3 to 5 of 9" in str(batches.died([2, 3, 4]))


@pytest.mark.parametrize(("number", "kind"), [(1, ZugwerkError), (0, KeyError)])
def test_errors_of_workers_reach_the_caller(number, kind):
    with pytest.raises(kind, match=f"task {number}"):
        run_tasks(partial(each, worker_tasks.fail), [(number,)] * 2, TWO, "test")
    assert run_tasks(DRAW, [(1, 2)] * 2, TWO, "test")  # the crew continues


def test_workers_are_kept_and_follow_the_callers_folder(tmp_path, monkeypatch):
    def where():
        return run_tasks(partial(each, worker_tasks.where), [("mark",)] * 4, TWO, "test")

    before = where()
    (tmp_path / "mark").touch()
    monkeypatch.chdir(tmp_path)
    after = where()
    assert {pid for pid, *_ in after} & {pid for pid, *_ in before}
    assert {tuple(rest) for _, *rest in after} == {(str(tmp_path), True)}
    assert os.getpid() not in {pid for pid, *_ in after}


def test_workers_call_at_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = dict(run_as_they_come(worker_tasks.where, [("mark",)] * 4, TWO, worker_tasks.leave_mark))
    assert {f"left-{pid}" for pid, *_ in found.values()} == {path.name for path in tmp_path.glob("left-*")}


def test_workers_end_with_a_killed_parent(tmp_path):
    program = (
        "from tests.parallel import worker_tasks\n"
        "from functools import partial\n"
        "from pipeline_src.parallel import Parallel, each, run_tasks\n"
        "wait = partial(each, worker_tasks.wait_long)\n"
        f"run_tasks(wait, [({str(tmp_path)!r}, n) for n in range(2)], Parallel(), 'test')\n"
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


def test_tasks_can_run_after_ctrl_c_at_any_moment():
    """Inside loky it would leave locks taken, and the rest would wait for ever."""
    tasks = [(7, group) for group in range(3000)]
    alone = run_tasks(DRAW, tasks[:6], Parallel(workers=1), "test")
    assert run_tasks(DRAW, tasks[:6], TWO, "test") == alone  # and nothing has to be imported below
    for number in range(8):
        threading.Timer(0.01 + 0.004 * number, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            run_tasks(DRAW, tasks, TWO, "test")
    assert run_tasks(DRAW, tasks[:6], TWO, "test") == alone


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
    assert set(run_tasks(partial(each, worker_tasks.process), tasks, TWO, "test")) == {os.getpid()}
    for most in ("2", "9"):
        monkeypatch.setenv(MOST_WORKERS, most)
        found = set(run_tasks(partial(each, worker_tasks.process), tasks, TWO, "test"))
        assert os.getpid() not in found
        assert len(found) <= 2
