import os
import subprocess
import sys
import time

import psutil
import pytest

from tests.layout.imports import ROOT


def last_breath(folder, _number):
    """Says who it is, then works for longer than any test waits."""
    (folder / str(os.getpid())).touch()
    time.sleep(120)


STAGE = """
import sys
from pathlib import Path
from functools import partial
from pipeline_src.parallel import Parallel, each, run_tasks
from tests.test_orphans import last_breath
if __name__ == "__main__":
    run_tasks(partial(each, last_breath), [(Path(sys.argv[1]), n) for n in range(2)], Parallel(workers=2), "test")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own way to end children")
def test_no_worker_outlives_a_stage_that_is_killed(tmp_path):
    """A worker that ran on would write at the same time as the one that the next run starts."""
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
        "import os, pathlib, runpy, sys, time, types\n"
        "sys.modules['pipeline_src.sleeper'] = sleeper = types.ModuleType('sleeper')\n"
        "sleeper.main = lambda: (pathlib.Path(str(os.getpid())).touch(), time.sleep(120))\n"
        "sys.argv = ['stage', 'sleeper']\n"
        "runpy.run_module('pipeline_src.stage', run_name='__main__')\n"
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
    """Those that are still there after a while are killed: who waits for the tests' output would wait for them."""
    deadline = time.monotonic() + 60
    while (alive := [pid for pid in pids if psutil.pid_exists(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in alive:
        psutil.Process(pid).kill()
    assert not alive
