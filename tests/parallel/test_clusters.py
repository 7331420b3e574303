"""Real clusters on loopback, where dask and ray are installed (the extra ``cluster``)."""

import importlib.util
import sys

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel, run_as_they_come, run_tasks, tasks
from pipeline_src.parallel.crew import ATTEMPTS
from tests.parallel import worker_tasks

BACKENDS = [
    pytest.param(
        name,
        marks=[pytest.mark.slow, pytest.mark.skipif(not importlib.util.find_spec(module), reason=f"no {name} here")],
    )
    for name, module in (("dask", "distributed"), ("ray", "ray"))
]
pytestmark = pytest.mark.filterwarnings("ignore")  # theirs, about sockets and loops


@pytest.fixture
def two(request):
    """Two workers, left running for all tests of a backend."""
    yield Parallel(backend=request.param, workers=2)
    if request.node.name.startswith("test_errors"):
        tasks.dismiss()


@pytest.mark.parametrize("two", BACKENDS, indirect=True)
def test_results_are_those_of_one_process(two):
    some = [(7, group) for group in range(6)]
    assert run_tasks(worker_tasks.draw, some, two, "test") == [worker_tasks.draw(*task) for task in some]


@pytest.mark.parametrize("two", BACKENDS, indirect=True)
def test_a_dead_worker_costs_its_task_alone(two, tmp_path):
    found = dict(run_as_they_come(worker_tasks.die_once, [(str(tmp_path), number) for number in range(5)], two))
    assert found == {0: 0, 1: 10, 3: 30, 4: 40}
    begun = [(tmp_path / str(number)).read_text().count("begun") for number in range(5)]
    assert begun[1] >= 2
    assert begun[2] == (2 * ATTEMPTS if two.backend == "dask" else ATTEMPTS)  # Dask's, and as many alone


@pytest.mark.parametrize("two", BACKENDS, indirect=True)
def test_tasks_stand_where_the_caller_stood(two):
    assert {there for _, _, there in run_tasks(worker_tasks.where, [("dvc.yaml",)] * 3, two, "test")} == {True}


@pytest.mark.parametrize("two", BACKENDS, indirect=True)
def test_errors_come_back(two):
    with pytest.raises(ZugwerkError, match=r"^task 1$"):
        run_tasks(worker_tasks.fail, [(1,)] * 2, two, "test")
    with pytest.raises(KeyError, match="task 0"):
        run_tasks(worker_tasks.fail, [(0,)] * 2, two, "test")


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("distributed"), reason="no dask here")
def test_no_scheduler_is_a_clear_error(monkeypatch):
    from pipeline_src.parallel import dask_crew

    monkeypatch.setattr(dask_crew, "CONNECT_S", 1)
    with pytest.raises(ZugwerkError, match=r"no Dask scheduler answers there .*dask scheduler"):
        run_tasks(worker_tasks.draw, [(1, 2)], Parallel(backend="dask", workers=2, address="tcp://127.0.0.1:9"), "test")


@pytest.mark.parametrize(("backend", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_what_is_not_installed_is_named(backend, module, monkeypatch):
    for name in ("dask", module):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ZugwerkError, match=rf"backend {backend}: not installed; pip install 'zugwerk\[cluster\]'"):
        run_tasks(worker_tasks.draw, [(1, 2)] * 2, Parallel(backend=backend, workers=2), "test")
