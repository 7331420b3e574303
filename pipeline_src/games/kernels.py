"""The interface of a game inside compiled code: functions that pick their kernel by the type of the state.

A search that calls these functions compiles for the type of state it is given, and is cached like any kernel. A game
registers its kernels with `implement`. Calls from Python dispatch in the same way.

A *step* is one decision in a tree of smaller branching. In a game with moves of several parts, such as the Amazons
(from and to, then the arrow), each part is a step, and the same side may make two steps in a row. In the other games a
step is an action.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.jit import Need, choose, njit

Ids = npt.NDArray[np.int32]


def implement(generic: Any, state_type: type, kernel: Callable[..., Any]) -> None:
    """Make ``generic(state, ...)`` run ``kernel(state, ...)`` for states of a NamedTuple type, in and out of numba."""
    generic.register(state_type, kernel)
    choose(generic, state_type, kernel)


def _unknown(state: Any) -> TypeError:
    return TypeError(f"no game has states of type {type(state).__name__}, or its kernels are not imported")


@singledispatch
def copy_into(state: Any, other: Any) -> None:
    """Make ``other``, a state of the same shape, equal to ``state``."""
    raise _unknown(state)


@singledispatch
def to_play(state: Any) -> int:
    """Return the side to move, 0 or 1."""
    raise _unknown(state)


@singledispatch
def position_hash(state: Any) -> Any:
    """Return the hash of a position, uint64. Equal positions have equal hashes, by any order of moves."""
    raise _unknown(state)


@singledispatch
def outcome(state: Any) -> tuple[bool, float]:
    """Return (whether the game is over, its result for the side to move: 1 won, 0 drawn or not over, -1 lost)."""
    raise _unknown(state)


@singledispatch
def write_actions(state: Any, out: Ids) -> int:
    """Write all legal actions to ``out``; return their number. ``out`` has room for `max_actions` entries."""
    raise _unknown(state)


@singledispatch
def is_legal(state: Any, action: int) -> bool:
    """Whether an action is legal. Any int is accepted."""
    raise _unknown(state)


@singledispatch
def play(state: Any, action: int) -> None:
    """Play a legal action, in place."""
    raise _unknown(state)


@singledispatch
def take_back(state: Any, action: int) -> None:
    """Undo the last action, in place."""
    raise _unknown(state)


@singledispatch
def write_steps(state: Any, out: Ids) -> int:
    """Write all legal steps to ``out``; return their number. ``out`` has room for `max_steps` entries."""
    raise _unknown(state)


@singledispatch
def play_step(state: Any, step: int) -> None:
    """Play a legal step, in place."""
    raise _unknown(state)


@singledispatch
def max_actions(state: Any) -> int:
    """Return the number of entries that `write_actions` needs."""
    raise _unknown(state)


@singledispatch
def max_steps(state: Any) -> int:
    """Return the number of entries that `write_steps` needs."""
    raise _unknown(state)


@singledispatch
def rules_need(state: Any) -> list[Need]:
    """Return the kernels that a game's Python functions call. A game that calls others registers its own list."""
    return [
        Need(outcome, (state,)),
        Need(is_legal, (state, 0)),
        Need(play, (state, 0)),
        Need(max_actions, (state,)),
        Need(write_actions, (state, np.empty(1, np.int32))),
    ]


# Perft of any game with kernels: the number of action sequences of a given length.


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
    counts[0], at[0] = write_actions(state, actions[0]), 0
    while True:
        if ply == last:
            total += counts[ply]
        elif at[ply] < counts[ply]:
            play(state, actions[ply, at[ply]])
            ply += 1
            counts[ply], at[ply] = write_actions(state, actions[ply]), 0
            continue
        if ply == 0:
            return total
        ply -= 1
        take_back(state, actions[ply, at[ply]])
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
    room = np.empty((depth, max_actions(state)), np.int32)
    return int(count_sequences(_copy(state), room, np.empty(depth, np.int64), np.empty(depth, np.int64)))


def divide(state: Any, depth: int) -> dict[int, int]:
    """Return, for each legal action, the perft of ``depth - 1`` after it.

    Raises:
        ZugwerkError: depth outside 1..12.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise ZugwerkError(f"divide needs a depth of 1 to {MAX_DEPTH}, not {depth}")
    actions = np.empty(max_actions(state), np.int32)
    found, after = {}, _copy(state)
    for action in actions[: write_actions(state, actions)]:
        play(after, int(action))
        found[int(action)] = perft(after, depth - 1)
        take_back(after, int(action))
    return found


def _copy(state: Any) -> Any:
    return type(state)(*(array.copy() for array in state))
