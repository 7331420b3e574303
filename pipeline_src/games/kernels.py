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

from pipeline_src.jit import Need, choose

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
