import os
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from pipeline_src.parallel import Parallel, run_tasks
from tests.layout.imports import ROOT


def draw(seed, group):
    return np.random.default_rng([seed, group]).integers(0, 2**32, 4).tolist()


@pytest.mark.slow
def test_results_and_their_order_do_not_depend_on_the_workers():
    tasks = [(7, group) for group in range(6)]
    alone = run_tasks(draw, tasks, Parallel(workers=1), "test")
    assert alone == [draw(*task) for task in tasks]
    assert run_tasks(draw, tasks, Parallel(workers=2), "test") == alone


def test_no_tasks_and_bad_params():
    assert run_tasks(draw, [], Parallel(), "test") == []
    with pytest.raises(ValueError, match="workers must be at least 1"):
        Parallel(workers=0)


def last_breath(folder, _number):
    """Says who it is, then works for longer than any test waits."""
    (folder / str(os.getpid())).touch()
    time.sleep(120)


STAGE = """
import sys
from pathlib import Path
from pipeline_src.parallel import Parallel, run_tasks
from tests.test_parallel import last_breath
if __name__ == "__main__":
    run_tasks(last_breath, [(Path(sys.argv[1]), n) for n in range(2)], Parallel(workers=2), "test")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own way to end children")
def test_no_worker_outlives_a_stage_that_is_killed(tmp_path):
    """A worker that ran on would write beside the one that the next run starts."""
    process = subprocess.Popen([sys.executable, "-c", STAGE, str(tmp_path)], cwd=ROOT)
    try:
        workers = started(tmp_path, 2)
    finally:
        process.kill()
        process.wait()
    assert_gone(workers)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own way to end children")
def test_no_stage_outlives_a_dvc_that_is_killed(tmp_path):
    (tmp_path / "stage.py").write_text(
        "import os, sys, time, pathlib, pipeline_src.stages\npathlib.Path(str(os.getpid())).touch()\ntime.sleep(120)\n"
    )
    runner = "import subprocess, sys; subprocess.Popen([sys.executable, 'stage.py']).wait()"  # as DVC does
    env = {**os.environ, "DVC_STAGE": "stage", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", runner], cwd=tmp_path, env=env)
    try:
        stages = started(tmp_path, 1)
    finally:
        process.kill()
        process.wait()
    assert_gone(stages)


def started(folder, count):
    """Pids by which processes have named files in a folder."""
    while len(pids := [int(path.name) for path in folder.iterdir() if path.name.isdigit()]) < count:
        time.sleep(0.05)
    return pids


def assert_gone(pids):
    deadline = time.monotonic() + 20
    while alive := [pid for pid in pids if psutil.pid_exists(pid)]:
        assert time.monotonic() < deadline, f"still there: {alive}"
        time.sleep(0.05)
