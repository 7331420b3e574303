"""How processes end: Ctrl-C in compiled code and while modules are imported, and children whose parent is killed."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tests.layout.imports import ROOT
from tests.spiders.sites import write_params

WATCHED = "from pipeline_src import processes; processes.watch()\n"
ENDS_S = 60.0  # Seconds in which a process ends on a busy machine; the kernels below run for hours


def interrupt(program):
    """Run a program, press Ctrl-C soon after its line ``ready``; return its exit status and what it wrote."""
    words = [sys.executable, "-c", WATCHED + program]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        try:
            out, err = process.communicate(timeout=ENDS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return process.returncode, out, err


@pytest.mark.slow
@pytest.mark.parametrize(("game", "depth"), [("amazons", 7), ("gomoku", 10), ("go", 10)])
def test_perft_ends(game, depth):
    program = (
        "from pipeline_src.games import get_game\n"
        f"game = get_game({game!r})\n"
        "game.perft(game.initial_state(), 1)\n"
        "print('ready', flush=True)\n"
        f"game.perft(game.initial_state(), {depth})\n"
    )
    assert interrupt(program)[:2] == (130, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "player"), [("amazons", "alphabeta"), ("amazons", "uct"), ("gomoku", "alphabeta"), ("gomoku", "mcts")]
)
def test_stopped_search_returns_to_its_caller(game, player):
    """A match, for one, writes the games that it has."""
    program = (
        "import numpy as np\n"
        "from pipeline_src.games import get_game\n"
        "from pipeline_src.players.player import Position\n"
        "from pipeline_src.players.registry import make_player\n"
        f"start, player = get_game({game!r}).initial_state(), make_player({game!r}, '{player}:movetime=3600000')\n"
        "player.ready(start)\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    player.choose([Position(start, np.random.default_rng(0))])\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    assert interrupt(program)[:2] == (0, "interrupted\n")


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("raise RuntimeError('no compiled object yet')", 130),  # as numba does after an interrupt while it compiles
        ("raise SystemExit(130)", 130),
        ("raise SystemExit(0)", 0),
    ],
)
def test_an_interrupted_command_has_no_traceback(end, status):
    program = (
        "import atexit, time\n"
        "from pipeline_src.cli import app\n"
        "def run(_):\n"
        "    print('ready', flush=True)\n"
        "    try:\n"
        "        time.sleep(3600)\n"
        "    except KeyboardInterrupt:\n"
        f"        {end}\n"
        "processes.watch = lambda: None\n"
        "atexit.register(print, 'left')\n"
        "app.run_main = run\n"
        "app.main()\n"
    )
    assert interrupt(program) == (status, "left\n", "")


def test_another_handler_is_left_alone():
    program = (
        "import signal, time\n"
        "signal.signal(signal.SIGINT, lambda *_: print('mine', flush=True))\n"
        "print('ready', flush=True)\n"
        "time.sleep(3)\n"
    )
    assert interrupt(program) == (0, "mine\n", "")


# Ctrl-C while a command imports its modules: it ends at once, and no traceback is seen.


STOP = """
import os, signal, sys

class Stop:
    \"\"\"Interrupts this process when a module is looked for.\"\"\"

    def find_spec(self, name, *_):
        if name == os.environ["STOP_AT"]:
            print("stopped", flush=True)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Stop())
"""
CRAWL = ["pipeline_src.cli", "crawl", "amazons"]
BEGIN = ["pipeline_src.stage", "systems.joseki.crawl"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "module"),
    [
        (CRAWL, "typer"),
        (CRAWL, "pipeline_src.cli.project"),
        (CRAWL, "spiders.live"),
        (CRAWL, "scrapy.crawler"),
        (["pipeline_src.cli", "amazons", "perft", "1"], "numba"),
        (BEGIN, "pipeline_src.records.crawl_params"),
        (BEGIN, "scrapy.crawler"),
    ],
)
def test_an_interrupt_within_imports_ends_a_command_without_a_traceback(tmp_path, command, module):
    write_params(tmp_path)
    (tmp_path / "sitecustomize.py").write_text(STOP)
    paths = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]), "STOP_AT": module}
    command = [sys.executable, "-m", *command]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | paths, capture_output=True, text=True, timeout=60)
    assert done.stdout == "stopped\n"
    assert (done.returncode in (-signal.SIGINT, 130), done.stderr) == (True, "")


# No process outlives what started it.


def last_breath(folder, _number):
    """Says who it is, then works for longer than any test waits."""
    (folder / str(os.getpid())).touch()
    time.sleep(120)


STAGE = """
import sys
from pathlib import Path
from functools import partial
from pipeline_src.parallel import Parallel, each, run_tasks
from tests.test_processes import last_breath
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
        "sys.modules['pipeline_src.reference.stage_code'] = digests = types.ModuleType('digests')\n"
        "digests.require_recorded = lambda target: None\n"
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
