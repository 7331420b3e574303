"""Perft of Gomoku: the number of sequences of stones of a given length."""

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku import moves
from pipeline_src.games.gomoku.board import GomokuState, copy_state
from pipeline_src.games.gomoku.turns import legal_actions, play

MAX_DEPTH = 12


@njit(cache=True)
def _perft(state: GomokuState, depth: int, out: npt.NDArray[np.int32]) -> int:
    if depth == 0:
        return 1
    count = moves.write_actions(state, out[depth])
    if depth == 1:
        return count
    total = 0
    for i in range(count):
        action = out[depth, i]
        moves.play(state, action)
        total += _perft(state, depth - 1, out)
        moves.take_back(state, action)
    return total


def perft(state: GomokuState, depth: int) -> int:
    """Number of sequences of ``depth`` legal actions from ``state``.

    Raises:
        ZugwerkError: depth outside 0..12.
    """
    if not 0 <= depth <= MAX_DEPTH:
        raise ZugwerkError(f"perft depth must be 0 to {MAX_DEPTH}, not {depth}")
    return int(_perft(copy_state(state), depth, np.empty((depth + 1, state.board.size), np.int32)))


def divide(state: GomokuState, depth: int) -> dict[int, int]:
    """Perft of ``depth - 1`` behind each legal action, by action.

    Raises:
        ZugwerkError: depth outside 1..12.
    """
    if depth < 1:
        raise ZugwerkError(f"divide needs a depth of at least 1, not {depth}")
    return {int(action): perft(play(state, int(action)), depth - 1) for action in legal_actions(state)}
