"""Positions that alpha-beta of the Amazons evaluates in a second, within its search, from three phases of a game."""

import statistics
from typing import Any

import numpy as np

from bench.measure import row
from pipeline_src.games import amazons
from pipeline_src.jit.needs import ready
from pipeline_src.players.amazons.alphabeta import STANDARD
from pipeline_src.search.alphabeta.searcher import AlphaBeta
from pipeline_src.search.amazons.evaluation import make_evaluator
from pipeline_src.search.limits import Limit

PLIES = (0, 16, 32)
SEARCH_MS = 500
REPEATS = 5


def after(plies: int) -> Any:
    """The position after so many random turns, always the same ones."""
    rng, state = np.random.default_rng(plies), amazons.initial_state()
    for _ in range(plies):
        state = amazons.play(state, int(rng.choice(amazons.legal_actions(state))))
    return state


def measure() -> list[dict[str, Any]]:
    """``amazons_alphabeta_evals_per_s``: the median over repeats of the mean over the phases."""
    searcher, states = AlphaBeta(make_evaluator(), STANDARD), [after(plies) for plies in PLIES]
    ready(searcher.needs(states[0]))
    rates = []
    for _ in range(REPEATS):
        results = [searcher.search(state, Limit(movetime_ms=SEARCH_MS)) for state in states]
        rates.append(sum(r.nodes for r in results) / sum(r.seconds for r in results))
    return [row("amazons_alphabeta_evals_per_s", statistics.median(rates), None, None, "evals/s")]
