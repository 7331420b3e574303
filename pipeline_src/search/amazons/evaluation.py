"""The static evaluation of the Amazons: territory, closeness and mobility, weighted by the openness of the board.

The terms are those of `terms`; their weights are interpolated between knots in w. At w = 0 no square is open to both
sides: t1 is then the difference between the squares left to each side. Half a square is subtracted, because the side to
move loses if both have the same number.

Source: Lieberum, "An evaluation function for the game of Amazons", Theoretical Computer Science 349 (2005).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.games.amazons.moves import MAX_REACH, SPARE, can_move, flip, reach, write_moves, write_turns
from pipeline_src.games.kernels import implement
from pipeline_src.jit import njit
from pipeline_src.search import evaluator
from pipeline_src.search.amazons.batch import (
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
    queen_fills,
)
from pipeline_src.search.amazons.endgame import endgame_scratch, settle_amazons
from pipeline_src.search.amazons.endgame_fill import EndgameScratch
from pipeline_src.search.amazons.flood import BITS, U64, amazon_squares, empty_squares
from pipeline_src.search.amazons.mobility import mobility
from pipeline_src.search.amazons.params import AmazonsEngine
from pipeline_src.search.amazons.terms import Terms, terms
from pipeline_src.search.evaluator import WIN

PARITY = 0.5
"""Squares subtracted from the value of the side to move at w = 0."""


class AmazonsEvaluator(NamedTuple):
    """The evaluation in the form that searches take: weights, and scratch space for one thread."""

    knots: npt.NDArray[np.float64]
    """[K, 9]: w, rising from 0; the weights of t1, t2, c1, c2, m, e and 1 there; one over the distance in w from the
    previous knot."""
    tempo: npt.NDArray[np.float64]
    """[2]: value of a square that both sides reach at once; the least w at which m may have a weight."""
    moves: npt.NDArray[np.int32]
    likely: npt.NDArray[np.float32]
    """Values of the moves of a position before the arrow."""
    found: npt.NDArray[np.float64]
    lanes: Lanes
    endgame: EndgameScratch


def make_evaluator(engine: AmazonsEngine | None = None, amazons: int = 4) -> AmazonsEvaluator:
    """Return an evaluator for positions with up to ``amazons`` amazons per side, by default with the default weights.

    ``evaluate(get_game("amazons").initial_state(), make_evaluator())`` is the value of the start position in squares.
    """
    engine = engine or AmazonsEngine()
    table = engine.table()
    inverse = np.zeros(len(table))
    table[0, 7] = -PARITY
    inverse[1:] = 1 / np.diff(table[:, 0])
    mobile = np.flatnonzero(table[:, 5])
    least = table[max(0, mobile[0] - 1), 0] if mobile.size else np.inf
    return AmazonsEvaluator(
        np.column_stack([table, inverse]),
        np.array([engine.tempo, least]),
        np.empty(amazons * MAX_REACH + SPARE, np.int32),
        np.empty(amazons * MAX_REACH + SPARE, np.float32),
        np.empty(LANES),
        make_lanes(),
        endgame_scratch(amazons),
    )


@njit(cache=True)
def weigh(found: Terms, knots: npt.NDArray[np.float64]) -> float:
    """Return the weighted sum of the terms. `weigh_lanes` computes the same sums in the same order."""
    total = knots[0, 1] * found.t1
    total += knots[0, 2] * found.t2
    total += knots[0, 3] * found.c1
    total += knots[0, 4] * found.c2
    total += knots[0, 5] * found.m
    total += knots[0, 6] * found.e
    total += knots[0, 7]
    for k in range(1, knots.shape[0]):
        share = (found.w - knots[k - 1, 0]) * knots[k, 8]
        share = 0.0 if share < 0.0 else 1.0 if share > 1.0 else share
        change = (knots[k, 1] - knots[k - 1, 1]) * found.t1
        change += (knots[k, 2] - knots[k - 1, 2]) * found.t2
        change += (knots[k, 3] - knots[k - 1, 3]) * found.c1
        change += (knots[k, 4] - knots[k - 1, 4]) * found.c2
        change += (knots[k, 5] - knots[k - 1, 5]) * found.m
        change += (knots[k, 6] - knots[k - 1, 6]) * found.e
        change += knots[k, 7] - knots[k - 1, 7]
        total += share * change
    return float(total)


@njit(cache=True)
def weigh_lanes(lanes: Lanes, knots: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> None:
    """Compute the weighted sum of the terms in each lane."""
    found = lanes.terms
    t1, t2, c1, c2 = knots[0, 1], knots[0, 2], knots[0, 3], knots[0, 4]
    m, e, one = knots[0, 5], knots[0, 6], knots[0, 7]
    for i in range(LANES):
        total = t1 * found[i]
        total += t2 * found[LANES + i]
        total += c1 * found[2 * LANES + i]
        total += c2 * found[3 * LANES + i]
        total += m * found[5 * LANES + i]
        total += e * found[6 * LANES + i]
        values[i] = total + one
    for k in range(1, knots.shape[0]):
        start, inverse = knots[k - 1, 0], knots[k, 8]
        t1, t2, c1 = knots[k, 1] - knots[k - 1, 1], knots[k, 2] - knots[k - 1, 2], knots[k, 3] - knots[k - 1, 3]
        c2, m, e = knots[k, 4] - knots[k - 1, 4], knots[k, 5] - knots[k - 1, 5], knots[k, 6] - knots[k - 1, 6]
        one = knots[k, 7] - knots[k - 1, 7]
        for i in range(LANES):
            share = (found[4 * LANES + i] - start) * inverse
            share = 0.0 if share < 0.0 else share
            share = 1.0 if share > 1.0 else share
            change = t1 * found[i]
            change += t2 * found[LANES + i]
            change += c1 * found[2 * LANES + i]
            change += c2 * found[3 * LANES + i]
            change += m * found[5 * LANES + i]
            change += e * found[6 * LANES + i]
            change += one
            values[i] += share * change


@njit(cache=True)
def value_lanes(evaluator: "AmazonsEvaluator") -> None:
    """Write the value of the position in each lane to ``evaluator.found``; ``-WIN`` if the side to move has no turn."""
    lanes, values = evaluator.lanes, evaluator.found
    s, terms = lanes.words, lanes.terms
    steps = king_fills(lanes)
    king_balance(lanes, steps)
    count_apart(lanes, queen_fills(lanes))
    collect(lanes, evaluator.tempo[0])
    openness = 0.0
    for i in range(LANES):
        openness = max(openness, terms[4 * LANES + i])
        terms[5 * LANES + i] = 0.0
    if openness >= evaluator.tempo[1]:  # in the other lanes m has weight 0
        mobility(lanes)
    weigh_lanes(lanes, evaluator.knots, values)
    for i in range(LANES):
        if s[OWN_ALL * LANES + i] | s[(OWN_ALL + 1) * LANES + i] == U64(0):
            values[i] = -WIN


@njit(cache=True, nogil=True)
def evaluate_words(words: npt.NDArray[np.uint64], evaluator: AmazonsEvaluator, values: npt.NDArray[np.float32]) -> None:
    """Write the values of positions given as words to ``values``, float32 [N]; ``-WIN`` if the mover has no turn.

    ``words`` is uint64 [N, 6]: the mover's amazons, the other side's and the empty squares, low and high word of each
    (see `amazons_flood`).
    """
    s, n = evaluator.lanes.words, words.shape[0]
    for first in range(0, n, LANES):
        size = min(LANES, n - first)
        for i in range(LANES):  # the last position again, to fill the lanes
            for row in range(6):
                s[row * LANES + i] = words[first + min(i, size - 1), row]
        value_lanes(evaluator)
        for i in range(size):
            values[first + i] = evaluator.found[i]


@njit(cache=True)
def _evaluate(state: AmazonsState, evaluator: AmazonsEvaluator) -> float:
    if not can_move(state):
        return -WIN
    return float(weigh(terms(state, evaluator.tempo[0], evaluator.tempo[1]), evaluator.knots))


@njit(cache=True)
def _value_turns(
    state: AmazonsState,
    evaluator: AmazonsEvaluator,
    actions: npt.NDArray[np.int32],
    n: int,
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> int:
    """Write the values of ``n`` turns, up to the first of at least ``stop_at``; return their number."""
    squares, bits = state.board.size, BITS[state.board.shape[1]]
    empty_low, empty_high = empty_squares(state.board)
    own_low, own_high = amazon_squares(state.amazons, state.turn[0], state.board.shape[1])
    other_low, other_high = amazon_squares(state.amazons, 1 - state.turn[0], state.board.shape[1])
    s, found = evaluator.lanes.words, evaluator.found
    for i in range(LANES):  # after a turn the opponent is to move
        s[OWN * LANES + i], s[(OWN + 1) * LANES + i] = other_low, other_high
    base, low, high = -squares, U64(0), U64(0)
    for first in range(0, n, LANES):
        size = min(LANES, n - first)
        for i in range(LANES):  # the last turn again, to fill the lanes
            arrow = actions[first + min(i, size - 1)] - base
            if not 0 <= arrow < squares:  # first turn of the next move, which may have a smaller number
                move = (base + arrow) // squares
                base, arrow = move * squares, base + arrow - move * squares
                start, to = np.uint64(move // squares), np.uint64(move % squares)
                low, high = bits[start, 0] ^ bits[to, 0], bits[start, 1] ^ bits[to, 1]
            s[OTHER * LANES + i], s[(OTHER + 1) * LANES + i] = own_low ^ low, own_high ^ high
            s[EMPTY * LANES + i] = empty_low ^ low ^ bits[np.uint64(arrow), 0]
            s[(EMPTY + 1) * LANES + i] = empty_high ^ high ^ bits[np.uint64(arrow), 1]
        value_lanes(evaluator)
        best = -WIN
        for i in range(size):
            values[first + i] = -found[i]
            best = max(best, float(values[first + i]))
        if best >= stop_at:
            return first + size
    return n


@njit(cache=True)
def _value_moves(state: AmazonsState, evaluator: AmazonsEvaluator, n: int) -> None:
    """Write the values of the ``n`` moves in ``evaluator.moves``, without an arrow, to ``evaluator.likely``."""
    squares, bits = state.board.size, BITS[state.board.shape[1]]
    empty_low, empty_high = empty_squares(state.board)
    own_low, own_high = amazon_squares(state.amazons, state.turn[0], state.board.shape[1])
    other_low, other_high = amazon_squares(state.amazons, 1 - state.turn[0], state.board.shape[1])
    s = evaluator.lanes.words
    for i in range(LANES):
        s[OWN * LANES + i], s[(OWN + 1) * LANES + i] = other_low, other_high
    for first in range(0, n, LANES):
        size = min(LANES, n - first)
        for i in range(LANES):
            move = evaluator.moves[first + min(i, size - 1)]
            start, to = np.uint64(move // squares), np.uint64(move % squares)
            low, high = bits[start, 0] ^ bits[to, 0], bits[start, 1] ^ bits[to, 1]
            s[OTHER * LANES + i], s[(OTHER + 1) * LANES + i] = own_low ^ low, own_high ^ high
            s[EMPTY * LANES + i], s[(EMPTY + 1) * LANES + i] = empty_low ^ low, empty_high ^ high
        value_lanes(evaluator)
        for i in range(size):
            evaluator.likely[first + i] = -evaluator.found[i]


@njit(cache=True)
def _rank(
    state: AmazonsState,
    evaluator: AmazonsEvaluator,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> int:
    n = write_turns(state, evaluator.moves, actions)
    return int(_value_turns(state, evaluator, actions, n, values, stop_at))


@njit(cache=True)
def _shortlist(
    state: AmazonsState,
    evaluator: AmazonsEvaluator,
    breadth: int,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> tuple[int, int]:
    squares, width, moves, likely = state.board.size, state.board.shape[1], evaluator.moves, evaluator.likely
    count, n = write_moves(state, moves), 0
    if breadth == 0 or count <= breadth:
        return int(_rank(state, evaluator, actions, values, stop_at)), 0
    _value_moves(state, evaluator, count)
    for i in range(breadth):
        best = i
        for k in range(i + 1, count):
            if likely[k] > likely[best]:
                best = k
        move = moves[best]
        moves[best], likely[best] = moves[i], likely[i]
        flip(state.lines, width, move // squares)
        n = reach(state.lines, width, move % squares, actions, n, move * squares)
        flip(state.lines, width, move // squares)
    return int(_value_turns(state, evaluator, actions, n, values, stop_at)), count


@njit(cache=True, nogil=True)
def rank_all(
    state: AmazonsState, evaluator: AmazonsEvaluator, actions: npt.NDArray[np.int32], values: npt.NDArray[np.float32]
) -> int:
    """`evaluator.rank` without a bound, compiled by itself for calls from Python."""
    return int(_rank(state, evaluator, actions, values, np.inf))


@njit(cache=True, nogil=True)
def value_of(state: AmazonsState, evaluator: AmazonsEvaluator) -> float:
    """`evaluator.evaluate`, compiled by itself for calls from Python."""
    return float(_evaluate(state, evaluator))


@njit(cache=True)
def _settle(state: AmazonsState, evaluator: AmazonsEvaluator) -> tuple[bool, float]:
    return settle_amazons(state, evaluator.endgame)


implement(evaluator.settle, AmazonsState, _settle)
implement(evaluator.evaluate, AmazonsState, _evaluate)
implement(evaluator.rank, AmazonsState, _rank)
implement(evaluator.shortlist, AmazonsState, _shortlist)
