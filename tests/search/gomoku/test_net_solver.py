"""Forced wins by threats or in a tree: what is said to be won is won, and its line is played to the end."""

from threading import Event

import numpy as np
import pytest

from pipeline_src.games import gomoku
from pipeline_src.records.forced_wins import read_forced_wins
from pipeline_src.search.gomoku import solver as net_solver
from pipeline_src.search.gomoku.proving import ProvingEvaluator
from pipeline_src.search.gomoku.solver import Found, NetSolver, Solver
from pipeline_src.search.limits import Limit
from pipeline_src.systems.gomoku_zero.proving_player import packaged_solver
from tests.layout.imports import ROOT
from tests.search.gomoku.test_threats import random_position
from tests.search.gomoku.threat_reference import best_result
from tests.search.mcts.fakes import hashed

RECORDED = ROOT / "../shared/data/gomoku/forced_wins.jsonl"


def won_at_the_end(state, line):
    side = state.turn[0]
    for action in line:
        assert gomoku.winner(state) is None
        state = gomoku.play(state, action)
    return gomoku.winner(state) == ("first", "second")[side]


@pytest.fixture
def trees_first(monkeypatch):
    """Threats alone have no more than a few positions of the limit, and trees are full soon."""
    monkeypatch.setattr(net_solver, "TREE_SHARE", 0.001)
    monkeypatch.setattr(net_solver, "NODES", 500)


@pytest.mark.usefixtures("trees_first")
@pytest.mark.parametrize("variant", ["freestyle-4", "exact-3"])
def test_wins_in_a_tree_are_won_in_full_playout(variant):
    rng, evaluator, found = np.random.default_rng(5), ProvingEvaluator(hashed, 40), [0, 0]
    solver = NetSolver(lambda _: evaluator)
    for _ in range(30):
        state = random_position(rng, 4, variant, int(rng.integers(7, 12)))
        best, win = best_result(state), solver.solve(state, Limit(nodes=8000))
        assert not win.win or best == 1, gomoku.to_fen(state)
        assert not win.win or won_at_the_end(state, win.line), gomoku.to_fen(state)
        found[0] += best == 1
        found[1] += win.win
    assert found[1] == found[0] > 0


@pytest.mark.usefixtures("trees_first")
@pytest.mark.parametrize(("variant", "side"), [("freestyle", 0), ("exact", 1), ("renju", 0), ("renju", 1)])
def test_lines_from_trees_end_with_the_win(variant, side):
    rng, solver, threats, by_tree = np.random.default_rng(side), packaged_solver(), Solver(1 << 14), 0
    for _ in range(16):
        state = random_position(rng, 15, variant, int(rng.integers(16, 40)), side)
        found = solver.solve(state, Limit(nodes=30_000))
        by_tree += found.win and not threats.solve(state, Limit(nodes=30)).win
        assert not found.win or won_at_the_end(state, found.line), gomoku.to_fen(state)
    assert by_tree > 2


class Threats:
    """In place of a search by threats in time: answers at once, or once it is stopped."""

    def __init__(self, answer, at_once):
        self.answer, self.over = answer, Event()
        if at_once:
            self.over.set()

    def solve(self, state, limit):
        if limit.nodes is not None:
            return Solver(1 << 14).solve(state, limit)
        assert self.over.wait(60)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def stop(self):
        self.over.set()


FOUR, NOTHING = gomoku.from_fen("9/9/9/9/2xxx4/9/2oo5/2o6/9 b"), Found((), 1, 0.0)


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_proof_in_the_tree_ends_the_search(threads, at_once):
    solver, long = packaged_solver(threads), won_in_a_tree()
    for state in (FOUR, long):
        solver._threats = Threats(NOTHING, at_once)
        assert won_at_the_end(state, solver.solve(state, Limit(movetime_ms=1e9)).line)


def won_in_a_tree():
    """A position of which few positions by threats prove nothing, and a tree a win."""
    rng, solver = np.random.default_rng(0), packaged_solver()
    while True:
        state = random_position(rng, 15, "freestyle", int(rng.integers(16, 40)))
        if not Solver(1 << 14).solve(state, Limit(nodes=500)).win and solver.solve(state, Limit(nodes=30_000)).win:
            return state


def test_threats_that_win_end_the_search_in_the_tree():
    solver, won = packaged_solver(2), Found((40,), 1, 0.0)
    solver._threats = Threats(won, at_once=True)
    assert solver.solve(gomoku.initial_state(15), Limit(movetime_ms=1e9)) is won


def test_an_error_of_the_threats_ends_the_search():
    solver = packaged_solver(2)
    solver._threats = Threats(MemoryError("no room"), at_once=True)
    with pytest.raises(MemoryError, match="no room"):
        solver.solve(gomoku.initial_state(15), Limit(movetime_ms=1e9))


def test_several_threads_solve_what_one_does():
    rng, one, three = np.random.default_rng(3), packaged_solver(), packaged_solver(3)
    for _ in range(8):
        state = random_position(rng, 15, "freestyle", int(rng.integers(16, 40)))
        if one.solve(state, Limit(nodes=30_000)).win:
            found = three.solve(state, Limit(movetime_ms=60_000))
            assert won_at_the_end(state, found.line), gomoku.to_fen(state)


def test_a_limit_of_nodes_is_kept_by_any_threads():
    state = random_position(np.random.default_rng(8), 15, "freestyle", 30)
    one, other = (packaged_solver(n).solve(state, Limit(nodes=5000)) for n in (1, 4))
    assert (one.line, one.nodes) == (other.line, other.nodes)


def test_a_rule_without_a_net_is_solved_by_threats():
    state = random_position(np.random.default_rng(8), 15, "caro", 50)
    one, other = (solver.solve(state, Limit(nodes=5000)) for solver in (packaged_solver(), Solver()))
    assert (one.line, one.nodes) == (other.line, other.nodes)


def test_a_search_in_time_ends_in_time():
    solver = packaged_solver()
    solver.solve(gomoku.initial_state(15), Limit(nodes=1))
    found = solver.solve(gomoku.initial_state(15), Limit(movetime_ms=50))
    assert not found.win
    assert found.seconds < 2


@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded positions are not here")
def test_long_wins_that_a_strong_engine_announced():
    solver, won = packaged_solver(), []
    for state, plies in read_forced_wins(RECORDED):
        if 16 <= plies <= 21:
            found = solver.solve(state, Limit(nodes=400_000))
            won.append(found.win)
            assert not found.win or won_at_the_end(state, found.line)
    assert sum(won) >= 0.8 * len(won)
