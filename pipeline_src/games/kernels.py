"""What a search asks of a game inside compiled code: functions that pick their kernel by the type of the state.

A search that calls these compiles for whatever state it is given and is cached as it stands; a game brings its kernels
with `implement`. Called from Python, they dispatch in the same way.

A *step* is what a side decides at a time in a tree of small branching: where a move has parts, as in the Amazons (from
and to, then the arrow), each part is a step, and the same side may step twice running. Elsewhere steps are actions.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.jit.choice import choose
from pipeline_src.jit.needs import Need

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
    """Side to move, 0 or 1."""
    raise _unknown(state)


@singledispatch
def position_hash(state: Any) -> Any:
    """uint64 that equal positions share, whatever moves led there."""
    raise _unknown(state)


@singledispatch
def outcome(state: Any) -> tuple[bool, float]:
    """(whether the game is over, its result for the side to move: 1 won, 0 drawn, -1 lost; 0 while it goes on)."""
    raise _unknown(state)


@singledispatch
def write_actions(state: Any, out: Ids) -> int:
    """Write all legal actions to ``out``; return how many. ``out`` has room for `max_actions` entries."""
    raise _unknown(state)


@singledispatch
def is_legal(state: Any, action: int) -> bool:
    """Whether an action is legal; any int may be asked."""
    raise _unknown(state)


@singledispatch
def play(state: Any, action: int) -> None:
    """Play a legal action, in place."""
    raise _unknown(state)


@singledispatch
def take_back(state: Any, action: int) -> None:
    """Undo the action just played, in place."""
    raise _unknown(state)


@singledispatch
def write_steps(state: Any, out: Ids) -> int:
    """Write all legal steps to ``out``; return how many. ``out`` has room for `max_steps` entries."""
    raise _unknown(state)


@singledispatch
def play_step(state: Any, step: int) -> None:
    """Play a legal step, in place."""
    raise _unknown(state)


@singledispatch
def max_actions(state: Any) -> int:
    """Room that `write_actions` needs."""
    raise _unknown(state)


@singledispatch
def max_steps(state: Any) -> int:
    """Room that `write_steps` needs."""
    raise _unknown(state)


@singledispatch
def rules_need(state: Any) -> list[Need]:
    """Kernels that the functions of a game's module call; a game whose functions call others registers its own list."""
    return [
        Need(outcome, (state,)),
        Need(is_legal, (state, 0)),
        Need(play, (state, 0)),
        Need(max_actions, (state,)),
        Need(write_actions, (state, np.empty(1, np.int32))),
    ]
