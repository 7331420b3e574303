"""A static evaluation of the Amazons: territory by queen and by king moves, and closeness.

D1(s) and D2(s) are the fewest queen and king moves in which a side reaches the empty square s. Then

- t1, t2: +1 for each square that the side to move reaches sooner (by D1, by D2), -1 for each it reaches later, +TEMPO
  for each that both reach at once;
- c1 = 2 * sum over squares of (2^-D1(own) - 2^-D1(other)).

They are added with weights that shift from t2 to t1 as the board fills (a published table by rounds, without its other
terms, brought to sum 1).

Source: Lieberum, "An evaluation function for the game of Amazons", Theoretical Computer Science 349 (2005).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.games.amazons.moves import MAX_REACH, SPARE, write_turns
from pipeline_src.games.kernels import implement
from pipeline_src.search.evaluators import evaluator
from pipeline_src.search.evaluators.amazons_flood import U64, count, empty_squares, king_step, queen_step, with_square

TEMPO = 0.2
"""Worth to the side to move of a square that both reach in the same number of moves."""
PHASES = np.array([[0.14, 0.37, 0.13], [0.30, 0.25, 0.20], [0.80, 0.10, 0.05]]) / np.array([[0.64], [0.75], [0.95]])
"""float64 [3, 3]: weights of t1, t2, c1 up to round 10, to round 25, and later; a round is a turn of each side."""


@njit(cache=True)
def territory(
    own_low: Any,
    own_high: Any,
    other_low: Any,
    other_high: Any,
    empty_low: Any,
    empty_high: Any,
    stride: int,
    queen: bool,
) -> tuple[float, float]:
    """(t, c) by queen moves (t1, c1), or by king moves (t2 and the same closeness by D2)."""
    left_low, left_high = empty_low, empty_high  # squares that neither side has reached
    mine_low, mine_high, their_low, their_high = own_low, own_high, other_low, other_high  # all reached so far
    new_low, new_high, far_low, far_high = own_low, own_high, other_low, other_high  # reached at the last step
    t, c, share = 0.0, 0.0, 2.0
    while (new_low | new_high | far_low | far_high) != U64(0):
        if queen:
            new_low, new_high = queen_step(new_low, new_high, empty_low, empty_high, stride)
            far_low, far_high = queen_step(far_low, far_high, empty_low, empty_high, stride)
        else:
            new_low, new_high = king_step(new_low, new_high, empty_low, empty_high, stride)
            far_low, far_high = king_step(far_low, far_high, empty_low, empty_high, stride)
        new_low, new_high = new_low & ~mine_low, new_high & ~mine_high
        far_low, far_high = far_low & ~their_low, far_high & ~their_high
        share *= 0.5
        mine, theirs = count(new_low, new_high), count(far_low, far_high)
        c += share * (mine - theirs)
        first_mine = count(new_low & left_low, new_high & left_high)
        first_theirs = count(far_low & left_low, far_high & left_high)
        both = count(new_low & far_low & left_low, new_high & far_high & left_high)
        t += (first_mine - both) - (first_theirs - both) + TEMPO * both
        left_low, left_high = left_low & ~(new_low | far_low), left_high & ~(new_high | far_high)
        mine_low, mine_high = mine_low | new_low, mine_high | new_high
        their_low, their_high = their_low | far_low, their_high | far_high
    return t, c


@njit(cache=True)
def weigh(
    own_low: Any, own_high: Any, other_low: Any, other_high: Any, empty_low: Any, empty_high: Any, stride: int, ply: int
) -> float:
    """The weighted sum of the terms for the side whose amazons are ``own`` and who is to move."""
    t1, c1 = territory(own_low, own_high, other_low, other_high, empty_low, empty_high, stride, True)
    t2, _ = territory(own_low, own_high, other_low, other_high, empty_low, empty_high, stride, False)
    weights = PHASES[0 if ply < 20 else 1 if ply < 50 else 2]
    return float(weights[0] * t1 + weights[1] * t2 + weights[2] * c1)


@njit(cache=True)
def _sides(state: AmazonsState) -> tuple[Any, Any, Any, Any]:
    width = state.board.shape[1]
    own_low, own_high, other_low, other_high = U64(0), U64(0), U64(0), U64(0)
    for square in state.amazons[state.turn[0]]:
        if square >= 0:
            own_low, own_high = with_square(own_low, own_high, square, width)
    for square in state.amazons[1 - state.turn[0]]:
        if square >= 0:
            other_low, other_high = with_square(other_low, other_high, square, width)
    return own_low, own_high, other_low, other_high


@njit(cache=True)
def evaluate(state: AmazonsState) -> float:
    """Value of a position between turns, in squares, seen from the side to move."""
    empty_low, empty_high = empty_squares(state.board)
    own_low, own_high, other_low, other_high = _sides(state)
    stride = state.board.shape[1] + 1
    return weigh(own_low, own_high, other_low, other_high, empty_low, empty_high, stride, state.turn[2])


@njit(cache=True)
def evaluate_turns(
    state: AmazonsState, scratch: npt.NDArray[np.int32], turns: npt.NDArray[np.int32], values: npt.NDArray[np.float64]
) -> int:
    """Write all legal turns and the value of each to its player; return how many.

    The value is minus the opponent's of the position after the turn: the one turn of the sign in a one-ply search.
    """
    n, squares, width = write_turns(state, scratch, turns), state.board.size, state.board.shape[1]
    empty_low, empty_high = empty_squares(state.board)
    own_low, own_high, other_low, other_high = _sides(state)
    for i in range(n):
        start, to, arrow = turns[i] // (squares * squares), turns[i] // squares % squares, turns[i] % squares
        low, high = with_square(own_low, own_high, start, width)
        low, high = with_square(low, high, to, width)
        left_low, left_high = with_square(empty_low, empty_high, start, width)
        left_low, left_high = with_square(left_low, left_high, to, width)
        left_low, left_high = with_square(left_low, left_high, arrow, width)
        values[i] = -weigh(other_low, other_high, low, high, left_low, left_high, width + 1, state.turn[2] + 1)
    return n


class AmazonsEvaluator(NamedTuple):
    """The evaluation as searches take it: scratch space for one thread."""

    moves: npt.NDArray[np.int32]
    turns: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]


def make_evaluator(amazons: int = 4) -> AmazonsEvaluator:
    """An evaluator for positions with up to so many amazons a side."""
    moves = amazons * MAX_REACH
    turns = moves * MAX_REACH + SPARE
    return AmazonsEvaluator(np.empty(moves + SPARE, np.int32), np.empty(turns, np.int32), np.empty(turns, np.float64))


@njit(cache=True)
def _evaluate(state: AmazonsState, evaluator: AmazonsEvaluator) -> float:
    return float(evaluate(state))


@njit(cache=True)
def _rank(
    state: AmazonsState,
    evaluator: AmazonsEvaluator,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> int:
    n = evaluate_turns(state, evaluator.moves, actions, evaluator.values)
    for i in range(n):
        values[i] = evaluator.values[i]
    return n


@njit(cache=True)
def _settle(state: AmazonsState, evaluator: AmazonsEvaluator) -> tuple[bool, float]:
    return False, 0.0


implement(evaluator.settle, AmazonsState, _settle)
implement(evaluator.evaluate, AmazonsState, _evaluate)
implement(evaluator.rank, AmazonsState, _rank)
