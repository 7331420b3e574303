"""PUCT alone, against the same in C++: 256 games of 15x15 Gomoku in lock step, 300 simulations a move, trees reused.

The evaluator reads its answers from an array, so that the time is that of the tree.
"""

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.measure import Row, compiled, row
from pipeline_src.games import gomoku
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_trees import PuctTrees

TREES, SIMULATIONS, MOVES, NODES = 256, 300, 4, 2048
OPTIONS = PuctOptions(c=1.0, c_base=0.0)
ROWS = 4096
REPEATS = 9
KINDS = {"gomoku_tree_sims_per_s": 6.0, "gomoku_tree_uniform_sims_per_s": 0.0}
"""Rows by the spread of the logits: 6, with values between -0.5 and 0.5; 0: uniform priors, and all values 0."""


class Answers:
    """Priors and values that cost nothing: rows of an array, from a different row on for each batch."""

    def __init__(self, spread: float) -> None:
        rng = np.random.default_rng(1)
        weights = np.exp(spread * rng.random((ROWS, 225)))
        self.priors = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
        self.values = (rng.uniform(-0.5, 0.5, ROWS) if spread else np.zeros(ROWS)).astype(np.float32)
        self.batch = 0

    def __call__(self, _states: Any, _steps: Any, counts: npt.NDArray[np.int32]) -> Any:
        """See `EvaluateBatch`."""
        start = 97 * self.batch % (ROWS - TREES)
        self.batch += 1
        return self.priors[start : start + len(counts)], self.values[start : start + len(counts)]


def play(trees: PuctTrees, answers: Answers) -> tuple[float, int]:
    """Return the CPU seconds of all moves from the empty board, and a checksum of all root visits."""
    state = gomoku.initial_state(15)
    for g in range(TREES):
        trees.plant(g, state)
    answers.batch, seconds, total = 0, 0.0, 0
    targets = np.full(TREES, SIMULATIONS, np.int32)
    weights = np.arange(1, TREES + 1)[:, None] * np.arange(1, 226)
    for move in range(MOVES):
        start = time.process_time()
        trees.simulate(targets)
        seconds += time.process_time() - start
        total += (move + 1) * int((trees.table().visits * weights).sum())
        best = np.array([trees.steps(g)[trees.best(g)] for g in range(TREES)], np.int32)
        start = time.process_time()
        trees.advance_all(best)
        seconds += time.process_time() - start
    return seconds, total


def measure() -> list[Row]:
    """Simulations a second, the best of `REPEATS` runs taken in turns with the C++, whose visits must be the same."""
    simulations, rows = TREES * SIMULATIONS * MOVES, []
    with compiled("gomoku_tree") as (program, folder):
        data = folder / "answers"
        for name, spread in KINDS.items():
            answers = Answers(spread)
            data.write_bytes(answers.priors.tobytes() + answers.values.tobytes())
            trees = PuctTrees(gomoku.initial_state(15), TREES, answers, OPTIONS, NODES)
            play(trees, answers)
            ours, theirs = np.inf, np.inf
            for _ in range(REPEATS):
                seconds, total = play(trees, answers)
                ours = min(ours, seconds)
                if program:
                    taken, visits = program(data, ROWS, TREES, SIMULATIONS, MOVES, NODES, OPTIONS.c).split()
                    theirs = min(theirs, float(taken))
                    assert int(visits) == total, "the C++ tree has other visits"
            known = simulations / theirs if program else None
            rows.append(row(name, simulations / ours, known, "C++ -O3, the same tree", "1/s"))
    return rows
