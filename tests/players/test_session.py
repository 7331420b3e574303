"""Engines whose kernels have yet to be compiled: the handshake and the first moves do not wait for that."""

import os
import time
from functools import partial

import numpy as np
import pytest

from pipeline_src.games import amazons, gomoku
from pipeline_src.games.game import get_game
from pipeline_src.players.player import Bounds, Position
from pipeline_src.players.session import any_move, less_time, time_of
from pipeline_src.search.limits import Clock
from tests.players.test_uci import Engine

COMPILING = "kernels are still being compiled: any legal move"


@pytest.fixture
def cold(tmp_path, monkeypatch):
    """No kernel on disk for the processes that a test starts."""
    monkeypatch.setitem(os.environ, "ZUGWERK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kernels"


def compiled(folder):
    """Whether the search is there, not its parts alone."""
    return any(".part" not in path.name for path in folder.glob("*search_root*"))


def test_a_uci_engine_answers_at_once_and_compiles_behind(tmp_path):
    there = tmp_path / "there"
    engine = Engine(f"fake:held={there}")
    try:
        engine.send("uci")
        engine.until("uciok")
        engine.send("position startpos moves d1d7g7", "go movetime 1000")
        said = engine.until("bestmove")
        assert f"info string {COMPILING}" in said
        state = amazons.play(amazons.initial_state(), amazons.parse_move("d1-d7/g7", 10, 10))
        move = said[-1].split()[1]
        assert move in {
            amazons.format_move(int(action), 10, 10).replace("-", "").replace("/", "")
            for action in amazons.legal_actions(state)
        }
        engine.send("isready")
        time.sleep(0.3)
        assert engine.lines.empty()  # which it is not
        engine.send("go movetime 100")
        said = engine.until("bestmove")  # nor does a move wait for that
        assert f"info string {COMPILING}" in said
        assert "readyok" not in said
        there.touch()
        assert engine.until("readyok") == ["readyok"]
        engine.send("go movetime 500")
        said = engine.until("bestmove")
        assert COMPILING not in " ".join(said)
        assert any(line.startswith("info depth") for line in said)
    finally:
        engine.close()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_brain_answers_at_once_and_compiles_behind(cold):
    brain = Engine("alphabeta", program=("-m", "pipeline_src.cli", "gomoku", "brain"))
    answer = partial(brain.lines.get, timeout=60)
    try:
        brain.send("ABOUT")
        assert answer().startswith("name=")  # the process has started
        brain.send("INFO timeout_turn 1000", "START 15", "ABOUT", "TURN 7,7")
        assert answer() == "OK"
        assert answer().startswith("name=")
        assert answer() == f"MESSAGE {COMPILING}"
        x, y = map(int, answer().split(","))
        assert not compiled(cold)
        assert (x, y) != (7, 7)
        assert 0 <= min(x, y) <= max(x, y) < 15
        end = time.monotonic() + 400
        brain.send("INFO timeout_turn 5000")
        while True:
            brain.send("START 15", "TURN 7,7")
            assert answer() == "OK"
            if (said := answer()) != f"MESSAGE {COMPILING}":
                break
            answer()  # the move
            assert time.monotonic() < end
        assert not said.startswith("MESSAGE")
        assert compiled(cold)
    finally:
        brain.close()


def position(clock=None, plies=0):
    state = gomoku.initial_state()
    return Position(state, np.random.default_rng(0), state, (0,) * plies, clock)


def test_move_time_comes_from_bounds_or_clock_less_waiting():
    assert time_of(position(), Bounds()) is None
    assert time_of(position(Clock(1000, 1000)), Bounds(movetime_ms=70)) == 70
    assert 0 < time_of(position(Clock(80_000, 1000), 10), Bounds()) < 8000
    later, bounds = less_time(position(Clock(1000, 900)), Bounds(movetime_ms=300), 250)
    assert (later.clock.own_ms, later.clock.other_ms, bounds.movetime_ms) == (750, 900, 50)
    later, bounds = less_time(position(Clock(100, 900)), Bounds(depth=3), 250)
    assert (later.clock.own_ms, bounds) == (1, Bounds(depth=3))


@pytest.mark.parametrize("game", ["amazons", "gomoku"])
def test_any_move_is_legal_and_runs_no_kernel(game):
    rules = get_game(game)
    state = rules.initial_state(6)
    while rules.winner(state) is None:
        action = any_move(rules, state)
        assert rules.is_legal(state, action)
        state = rules.play(state, action)
