"""A static evaluation of the Amazons: territory, closeness and mobility, weighed by how open the board is.

The terms are those of `amazons_terms`; their weights are interpolated between knots in w. At w = 0 no square is open
to both sides any more: t1 is the difference of the squares left to each side, and half a square off it makes the sign
right for the side to move, which loses when both have as many.

Source: Lieberum, "An evaluation function for the game of Amazons", Theoretical Computer Science 349 (2005).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.games.amazons.moves import MAX_REACH, SPARE, can_move, write_turns
from pipeline_src.games.kernels import implement
from pipeline_src.params.amazons_engine import AmazonsEngine
from pipeline_src.search.evaluators import evaluator
from pipeline_src.search.evaluators.amazons_batch import (
    EMPTY,
    LANES,
    OTHER,
    OWN,
    OWN_ALL,
    Lanes,
    collect,
    count_apart,
    king_balance,
    king_fills,
    make_lanes,
    mobility,
    queen_fills,
)
from pipeline_src.search.evaluators.amazons_flood import BITS, U64, amazon_squares, empty_squares
from pipeline_src.search.evaluators.amazons_terms import Terms, terms
from pipeline_src.search.evaluators.evaluator import WIN

PARITY = 0.5
"""Taken off the value of the side to move at w = 0."""


class AmazonsEvaluator(NamedTuple):
    """The evaluation as searches take it: weights, and scratch space for one thread."""

    knots: npt.NDArray[np.float64]
    """[K, 7]: w rising from 0, then the weights there of t1, t2, c1, c2, m and 1."""
    tempo: npt.NDArray[np.float64]
    """[1]: worth of a square that both sides reach at once."""
    moves: npt.NDArray[np.int32]
    lanes: Lanes


def make_evaluator(engine: AmazonsEngine | None = None, amazons: int = 4) -> AmazonsEvaluator:
    """An evaluator for positions with up to ``amazons`` a side, with the default weights if none are given."""
    engine = engine or AmazonsEngine()
    table = engine.table()
    parity = np.zeros((len(table), 1))
    parity[0] = -PARITY
    return AmazonsEvaluator(
        np.hstack([table, parity]),
        np.array([engine.tempo]),
        np.empty(amazons * MAX_REACH + SPARE, np.int32),
        make_lanes(),
    )


@njit(cache=True)
def weigh(found: Terms, knots: npt.NDArray[np.float64]) -> float:
    """The weighted sum of the terms."""
    values = (found.t1, found.t2, found.c1, found.c2, found.m, 1.0)
    total = 0.0
    for j in range(6):
        total += knots[0, j + 1] * values[j]
    for k in range(1, knots.shape[0]):
        share = min(max((found.w - knots[k - 1, 0]) / (knots[k, 0] - knots[k - 1, 0]), 0.0), 1.0)
        for j in range(6):
            total += share * (knots[k, j + 1] - knots[k - 1, j + 1]) * values[j]
    return total


@njit(cache=True)
def weigh_lanes(lanes: Lanes, knots: npt.NDArray[np.float64], tempo: float, values: npt.NDArray[np.float64]) -> None:
    """Write the value of the position in each lane, float64 [LANES]; ``-WIN`` where the side to move has no turn."""
    steps = king_fills(lanes)
    king_balance(lanes, steps)
    count_apart(lanes, queen_fills(lanes))
    collect(lanes, tempo)
    mobility(lanes)
    s, found = lanes.words, lanes.terms
    for i in range(LANES):
        values[i] = weigh(
            Terms(
                found[i],
                found[LANES + i],
                found[2 * LANES + i],
                found[3 * LANES + i],
                found[4 * LANES + i],
                found[5 * LANES + i],
            ),
            knots,
        )
        if s[OWN_ALL * LANES + i] | s[(OWN_ALL + 1) * LANES + i] == U64(0):
            values[i] = -WIN


@njit(cache=True)
def _evaluate(state: AmazonsState, evaluator: AmazonsEvaluator) -> float:
    if not can_move(state):
        return -WIN
    return float(weigh(terms(state, evaluator.tempo[0]), evaluator.knots))


@njit(cache=True)
def _rank(
    state: AmazonsState,
    evaluator: AmazonsEvaluator,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> int:
    n, squares, width = write_turns(state, evaluator.moves, actions), state.board.size, state.board.shape[1]
    empty_low, empty_high = empty_squares(state.board)
    own_low, own_high = amazon_squares(state.amazons, state.turn[0], width)
    other_low, other_high = amazon_squares(state.amazons, 1 - state.turn[0], width)
    s, found = evaluator.lanes.words, np.empty(LANES)
    for i in range(LANES):  # after any turn it is the opponent who is to move
        s[OWN * LANES + i], s[(OWN + 1) * LANES + i] = other_low, other_high
    for first in range(0, n, LANES):
        for i in range(LANES):
            turn = actions[min(first + i, n - 1)]
            start, to, arrow = turn // (squares * squares), turn // squares % squares, turn % squares
            low = BITS[width, start, 0] ^ BITS[width, to, 0]
            high = BITS[width, start, 1] ^ BITS[width, to, 1]
            s[OTHER * LANES + i], s[(OTHER + 1) * LANES + i] = own_low ^ low, own_high ^ high
            s[EMPTY * LANES + i] = empty_low ^ low ^ BITS[width, arrow, 0]
            s[(EMPTY + 1) * LANES + i] = empty_high ^ high ^ BITS[width, arrow, 1]
        weigh_lanes(evaluator.lanes, evaluator.knots, evaluator.tempo[0], found)
        best = -WIN
        for i in range(min(LANES, n - first)):
            values[first + i] = -found[i]
            best = max(best, -found[i])
        if best >= stop_at:
            return min(first + LANES, n)
    return n


@njit(cache=True, nogil=True)
def rank_all(
    state: AmazonsState, evaluator: AmazonsEvaluator, actions: npt.NDArray[np.int32], values: npt.NDArray[np.float32]
) -> int:
    """`evaluator.rank` without a bound, compiled by itself: what Python calls."""
    return int(_rank(state, evaluator, actions, values, np.inf))


@njit(cache=True, nogil=True)
def value_of(state: AmazonsState, evaluator: AmazonsEvaluator) -> float:
    """`evaluator.evaluate`, compiled by itself: what Python calls."""
    return float(_evaluate(state, evaluator))


@njit(cache=True)
def _settle(state: AmazonsState, evaluator: AmazonsEvaluator) -> tuple[bool, float]:
    return False, 0.0


implement(evaluator.settle, AmazonsState, _settle)
implement(evaluator.evaluate, AmazonsState, _evaluate)
implement(evaluator.rank, AmazonsState, _rank)
