"""Speed of Gomoku's searches on one thread, in the middle of games on 15x15: positions a second."""

import statistics
from typing import Any

from bench.gomoku_baselines import middle
from bench.measure import row
from pipeline_src.search.gomoku.engine import Engine
from pipeline_src.search.gomoku.solver import Solver
from pipeline_src.search.limits import Limit

POSITIONS = 10
NODES = 300_000


def measure() -> list[dict[str, Any]]:
    """``gomoku_solver_nodes_per_s`` and ``gomoku_alphabeta_nodes_per_s``, in positions searched: medians."""
    states = [middle(15, seed) for seed in range(POSITIONS)]
    solver, engine = Solver(), Engine()
    solved = [solver.solve(state, Limit(nodes=NODES)) for state in [states[0], *states]][1:]
    searched = [engine.search(state, Limit(nodes=NODES)) for state in [states[0], *states]][1:]
    found = {
        "gomoku_solver_nodes_per_s": [one.nodes / one.seconds for one in solved if one.nodes > NODES / 100],
        "gomoku_alphabeta_nodes_per_s": [one.nodes / one.seconds for one in searched if one.nodes > NODES / 100],
    }
    return [row(name, statistics.median(rates), None, None, "positions/s") for name, rates in found.items() if rates]
