"""Speed of the searches without a net, on one thread: positions or iterations a second, by the searches' own clocks.

The Amazons start from three phases of a game, Gomoku from the middle of games on 15x15.
"""

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.measure import Row, row
from pipeline_src.games import amazons, gomoku
from pipeline_src.jit import ready
from pipeline_src.players.amazons import STANDARD
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.alphabeta import AlphaBeta
from pipeline_src.search.amazons.evaluation import make_evaluator
from pipeline_src.search.gomoku.engine import Engine
from pipeline_src.search.gomoku.solver import Solver
from pipeline_src.search.limits import Limit, SearchResult
from pipeline_src.search.mcts.uct import Uct

PLIES = (0, 16, 32)  # Random plies before the Amazons' searches
POSITIONS = 10
REPEATS = 5
SEARCH_MS, ITERATIONS, NODES = 500, 500, 300_000


def measure() -> list[Row]:
    """One row a search: the median over repeats, or over positions of Gomoku."""
    searcher, states = AlphaBeta(make_evaluator(), STANDARD), [after(plies) for plies in PLIES]
    ready(searcher.needs(states[0]))
    timed = Limit(movetime_ms=SEARCH_MS)
    evaluations = [_rate([searcher.search(one, timed) for one in states]) for _ in range(REPEATS)]
    uct = Uct(make_evaluator())
    iterations = [_rate([uct.search(states[0], Limit(nodes=ITERATIONS))]) for _ in range(REPEATS + 1)][1:]
    boards = [middle(15, seed) for seed in range(POSITIONS)]
    return [
        row("amazons_alphabeta_evals_per_s", statistics.median(evaluations), None, None, "evals/s"),
        row("amazons_uct_iters_per_s", statistics.median(iterations), None, None, "iterations/s"),
        row("gomoku_alphabeta_nodes_per_s", _over(boards, Engine().search), None, None, "positions/s"),
        row("gomoku_solver_nodes_per_s", _over(boards, Solver().solve), None, None, "positions/s"),
    ]


def after(plies: int) -> Any:
    """Return the position of the Amazons after so many random turns, always the same ones."""
    rng, state = np.random.default_rng(plies), amazons.initial_state()
    for _ in range(plies):
        state = amazons.play(state, int(rng.choice(amazons.legal_actions(state))))
    return state


def middle(size: int, seed: int) -> Any:
    """Return a position of Gomoku after four random stones and up to 16 that alpha-beta has placed."""
    player, rng = make_player("gomoku", "alphabeta:depth=2"), np.random.default_rng(seed)
    state = gomoku.initial_state(size)
    for ply in range(4 + int(rng.integers(16))):
        action = rng.choice(gomoku.legal_actions(state)) if ply < 4 else player.choose([Position(state, rng)])[0]
        following = gomoku.play(state, int(action))
        if gomoku.winner(following) is not None:
            break
        state = following
    return state


def _over(states: list[Any], search: Callable[[Any, Limit], Any]) -> float | None:
    """Return the median rate of the searches that did not end at once; the first one compiles and does not count."""
    found = [search(state, Limit(nodes=NODES)) for state in [states[0], *states]][1:]
    rates = [_rate([one]) for one in found if one.nodes > NODES / 100]
    return statistics.median(rates) if rates else None


def _rate(results: list[SearchResult]) -> float:
    return sum(one.nodes for one in results) / sum(one.seconds for one in results)
