"""Ctrl-C in commands that are in compiled code, each in a process of its own."""

import os
import signal
import subprocess
import sys
import time

import pytest

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
