"""What a search asks of a game inside compiled code: functions that pick their kernel by the type of the state.

A search that calls these compiles for whatever state it is given and is cached as it stands; a game brings its kernels
with `implement`. Called from Python, they dispatch in the same way.

A *step* is what a side decides at a time in a tree of small branching: where a move has parts, as in the Amazons (from
and to, then the arrow), each part is a step, and the same side may step twice running. Elsewhere steps are actions.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba.extending import overload

from pipeline_src.jit import IMPLEMENTED, njit

Ids = npt.NDArray[np.int32]
_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])
_UNCOUNTED: dict[str, Any] = {"cache": True, "_nrt": False}
_UNLOCKED: dict[str, Any] = {"nogil": True, **_UNCOUNTED}


def uncounted(kernel: _Kernel) -> _Kernel:
    """Compile a kernel that allocates nothing without reference counts, as numba does with kernels of its own.

    Numba counts each array in and out of a function, atomically; for rules of a few dozen instructions that is half
    of their time. Slices and new arrays are refused then, when the kernel is compiled.
    """
    return cast(_Kernel, njit(**_UNCOUNTED)(kernel))


def unlocked(kernel: _Kernel) -> _Kernel:
    """`uncounted`, of a whole search: other threads of Python run beside it, such as a timer that stops it."""
    return cast(_Kernel, njit(**_UNLOCKED)(kernel))


def implement(generic: Any, state_type: type, kernel: Callable[..., Any], inline: bool = False) -> None:
    """Make ``generic(state, ...)`` run ``kernel(state, ...)`` for states of a NamedTuple type, in and out of numba.

    Inlined where ``inline`` says so: a call counts references to every array of the state, which takes 100 ns and more.
    A kernel that is `uncounted` stays so.
    """
    generic.register(state_type, kernel)
    body = getattr(kernel, "py_func", kernel)
    IMPLEMENTED.append((generic.__module__, state_type, body.__module__))

    def choose(state: Any, *_: Any) -> Callable[..., Any] | None:
        return body if getattr(state, "instance_class", None) is state_type else None

    options: Any = {"forceinline": inline, "_nrt": getattr(kernel, "targetoptions", {}).get("_nrt", True)}
    overload(generic, jit_options=options, strict=False)(choose)


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
