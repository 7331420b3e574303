"""Evaluation of Connect Four: a point for each line of four cells that one side can still fill, more with stones in it.

A random playout is a uniformly random game to its end. Importing this module makes the searches know both.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from pipeline_src.games.connect_four import ConnectFourState

from pipeline_src.games import kernels
from pipeline_src.games.kernels import implement
from pipeline_src.jit import njit
from pipeline_src.search import evaluator
from pipeline_src.search.evaluator import WIN
from pipeline_src.search.mcts.playouts import playout


class ConnectFourEvaluator(NamedTuple):
    """Weights."""

    weights: npt.NDArray[np.float64]
    """[4]: worth of an open line with 0, 1, 2 and 3 stones in it."""


def make_evaluator() -> ConnectFourEvaluator:
    """An evaluator, which any number of threads may share: it has no scratch space."""
    return ConnectFourEvaluator(np.array([0.0, 1.0, 4.0, 16.0]))


@njit(cache=True)
def _evaluate(state: ConnectFourState, evaluator: ConnectFourEvaluator) -> float:
    board, total = state.board, 0.0
    height, width = board.shape
    own = kernels.to_play(state) + 1
    for row in range(height):
        for column in range(width):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                if row + 3 * down >= height or not 0 <= column + 3 * right < width:
                    continue
                ours = theirs = 0
                for i in range(4):
                    stone = board[row + i * down, column + i * right]
                    ours += stone == own
                    theirs += stone == 3 - own
                if theirs == 0:
                    total += evaluator.weights[ours]
                elif ours == 0:
                    total -= evaluator.weights[theirs]
    return total


@njit(cache=True)
def _rank(
    state: ConnectFourState,
    evaluator: ConnectFourEvaluator,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> int:
    n = kernels.write_actions(state, actions)
    for i in range(n):
        kernels.play(state, actions[i])
        over, result = kernels.outcome(state)
        values[i] = -result * WIN if over else -_evaluate(state, evaluator)
        kernels.take_back(state, actions[i])
        if values[i] >= stop_at:
            return i + 1
    return n


@njit(cache=True)
def _shortlist(
    state: ConnectFourState,
    evaluator: ConnectFourEvaluator,
    breadth: int,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> tuple[int, int]:
    return _rank(state, evaluator, actions, values, stop_at), 0


@njit(cache=True)
def _settle(state: ConnectFourState, evaluator: ConnectFourEvaluator) -> tuple[bool, float]:
    return False, 0.0


@njit(cache=True)
def _playout(state: ConnectFourState, actions: npt.NDArray[np.int32], random: npt.NDArray[np.uint64]) -> float:
    game = ConnectFourState(state.board.copy(), state.turn.copy(), state.hash.copy())
    over, result = kernels.outcome(game)
    while not over:
        count = kernels.write_actions(game, actions)
        kernels.play(game, actions[kernels.below(random, count)])
        over, result = kernels.outcome(game)
    return result if kernels.to_play(game) == kernels.to_play(state) else -result


implement(evaluator.evaluate, ConnectFourState, _evaluate)
implement(evaluator.rank, ConnectFourState, _rank)
implement(evaluator.shortlist, ConnectFourState, _shortlist)
implement(evaluator.settle, ConnectFourState, _settle)
implement(playout, ConnectFourState, _playout)
