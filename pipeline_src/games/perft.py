"""Perft of any game with kernels: the number of action sequences of a given length."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.jit import njit

MAX_DEPTH = 12


@njit(cache=True, nogil=True)
def count_sequences(
    state: Any, actions: npt.NDArray[np.int32], counts: npt.NDArray[np.int64], at: npt.NDArray[np.int64]
) -> int:
    """Count the sequences of D legal actions. The last action of each is counted, not played.

    Args:
        state: changed in place during the call and restored at its end.
        actions: scratch space for the actions of each ply, [D, A]; D is at least 1.
        counts: scratch space, [D].
        at: scratch space, [D].
    """
    last = counts.size - 1
    total, ply = 0, 0
    counts[0], at[0] = kernels.write_actions(state, actions[0]), 0
    while True:
        if ply == last:
            total += counts[ply]
        elif at[ply] < counts[ply]:
            kernels.play(state, actions[ply, at[ply]])
            ply += 1
            counts[ply], at[ply] = kernels.write_actions(state, actions[ply]), 0
            continue
        if ply == 0:
            return total
        ply -= 1
        kernels.take_back(state, actions[ply, at[ply]])
        at[ply] += 1


def perft(state: Any, depth: int) -> int:
    """Count the sequences of ``depth`` legal actions from ``state``.

    >>> from pipeline_src.games import get_game
    >>> perft(get_game("gomoku").initial_state(3, "freestyle-3"), 2)
    72

    Raises:
        ZugwerkError: depth outside 0..12.
    """
    if not 0 <= depth <= MAX_DEPTH:
        raise ZugwerkError(f"perft depth must be 0 to {MAX_DEPTH}, not {depth}")
    if depth == 0:
        return 1
    room = np.empty((depth, kernels.max_actions(state)), np.int32)
    return int(count_sequences(_copy(state), room, np.empty(depth, np.int64), np.empty(depth, np.int64)))


def divide(state: Any, depth: int) -> dict[int, int]:
    """Return, for each legal action, the perft of ``depth - 1`` after it.

    Raises:
        ZugwerkError: depth outside 1..12.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise ZugwerkError(f"divide needs a depth of 1 to {MAX_DEPTH}, not {depth}")
    actions = np.empty(kernels.max_actions(state), np.int32)
    found, after = {}, _copy(state)
    for action in actions[: kernels.write_actions(state, actions)]:
        kernels.play(after, int(action))
        found[int(action)] = perft(after, depth - 1)
        kernels.take_back(after, int(action))
    return found


def _copy(state: Any) -> Any:
    return type(state)(*(array.copy() for array in state))
