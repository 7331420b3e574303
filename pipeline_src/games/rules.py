"""The rules of every game as Python functions, over its kernels. They take a state as a value and do not change it.

A game's module imports these names, which are part of its interface (`games.game.Game`).
"""

from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.jit import njit

MAX_DEPTH = 12
State = TypeVar("State", bound=tuple[Any, ...])


def copy_state(state: State) -> State:
    """Return a copy that shares no array with ``state``."""
    return type(state)(*(array.copy() for array in state))


def to_play(state: Any) -> int:
    """Return the side to move: 0 (first) or 1 (second)."""
    return int(state.turn[0])


def legal_actions(state: Any) -> npt.NDArray[np.int32]:
    """Return all legal actions, int32 [A], in the order of `kernels.write_actions`; none if the game is over."""
    out = np.empty(int(kernels.max_actions(state)), np.int32)
    return out[: kernels.write_actions(state, out)]


def is_legal(state: Any, action: int) -> bool:
    """Whether an action is legal. Any int is accepted."""
    return -(1 << 63) <= action < 1 << 63 and bool(kernels.is_legal(state, int(action)))


def play(state: State, action: int) -> State:
    """Return the state after a legal action.

    Raises:
        ZugwerkError: the action is not legal.
    """
    if not is_legal(state, action):
        raise ZugwerkError(f"action {action} is not legal here")
    after = copy_state(state)
    kernels.play(after, int(action))
    return after


def winner(state: Any) -> Literal["first", "second", "draw"] | None:
    """Return the result of a finished game; None for an unfinished game."""
    over, result = kernels.outcome(state)
    if not over:
        return None
    if result == 0:
        return "draw"
    return "first" if (result > 0) == (to_play(state) == 0) else "second"


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
    last, total, ply = counts.size - 1, 0, 0
    if last == 0:
        return int(kernels.count_actions(state, actions[0]))
    counts[0], at[0] = kernels.write_actions(state, actions[0]), 0
    while True:
        if at[ply] < counts[ply]:
            kernels.play(state, actions[ply, at[ply]])
            if ply + 1 < last:
                ply += 1
                counts[ply], at[ply] = kernels.write_actions(state, actions[ply]), 0
                continue
            total += kernels.count_actions(state, actions[last])
        elif ply == 0:
            return total
        else:
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
    room = np.empty((depth, int(kernels.max_actions(state))), np.int32)
    return int(count_sequences(copy_state(state), room, np.empty(depth, np.int64), np.empty(depth, np.int64)))


def divide(state: Any, depth: int) -> dict[int, int]:
    """Return, for each legal action, the perft of ``depth - 1`` after it.

    Raises:
        ZugwerkError: depth outside 1..12.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise ZugwerkError(f"divide needs a depth of 1 to {MAX_DEPTH}, not {depth}")
    return {int(action): perft(play(state, int(action)), depth - 1) for action in legal_actions(state)}
