"""The interface of a game inside compiled code: functions that pick their kernel by the type of the state.

A search that calls these functions compiles for the type of state it is given, and is cached like any kernel. A game
registers its kernels with `implement_game`. Calls from Python dispatch in the same way.

A *step* is one decision in a tree of smaller branching. In a game with moves of several parts, such as the Amazons
(from and to, then the arrow), each part is a step, and the same side may make two steps in a row. In the other games a
step is an action.
"""

import operator
from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import types
from numba.extending import lower_builtin, type_callable

from pipeline_src.jit import Need, borrows, choose, njit

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
def count_actions(state: Any, out: Ids) -> int:
    """Return the number of legal actions; ``out`` is scratch with room for `max_actions` entries."""
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
def squares(state: Any, action: int) -> tuple[int, int]:
    """Return the cells that a step names, (source, target) as y * W + x on a board [H, W]; -1 for none."""
    raise _unknown(state)


@njit(cache=True)
def _own_cell(state: Any, action: int) -> tuple[int, int]:
    """A step is the number of its cell, and the next number is a pass."""
    return -1, action if action < state.board.size else -1


@njit(cache=True)
def _side(state: Any) -> int:
    return int(state.turn[0])


@njit(cache=True)
def _hash(state: Any) -> Any:
    return state.hash[0]


_BY_ENTRY: dict[str, Callable[..., Any]] = {"to_play": _side, "position_hash": _hash, "squares": _own_cell}
_AS_ACTIONS = {
    "count_actions": "write_actions",
    "max_steps": "max_actions",
    "write_steps": "write_actions",
    "play_step": "play",
}


def implement_game(state_type: type, **own: Callable[..., Any]) -> None:
    """Register a game's kernels by the names of the functions above.

    A game needs `copy_into`, `outcome`, `max_actions`, `write_actions`, `is_legal`, `play` and `take_back`. The others
    have defaults: `to_play` is ``state.turn[0]``, `position_hash` is ``state.hash[0]``, steps are actions, and a step
    is the number of its cell (`squares`).
    """
    generics: tuple[Any, ...] = (
        *(copy_into, to_play, position_hash, outcome, max_actions, max_steps, write_actions, count_actions),
        *(is_legal, play, take_back, write_steps, play_step, squares),
    )
    for generic in generics:
        name = generic.__name__
        implement(generic, state_type, own.get(name) or _BY_ENTRY.get(name) or own[_AS_ACTIONS[name]])


def rules_need(state: Any) -> list[Need]:
    """Return the kernels that the functions of `games.rules` call, but for perft."""
    return [
        Need(outcome, (state,)),
        Need(is_legal, (state, 0)),
        Need(play, (state, 0)),
        Need(max_actions, (state,)),
        Need(write_actions, (state, np.empty(1, np.int32))),
    ]


# Stacked states: the NamedTuple of a state with a leading batch axis on every array, and its rows as views.


def stack(state: Any, n: int) -> Any:
    """Return n copies of ``state`` as one: its arrays with a leading axis of n."""
    return type(state)(*(np.repeat(array[None], n, axis=0) for array in state))


@borrows
def row(states: Any, b: int) -> Any:
    """Return state b of a stack as views, so that changes apply to the stack. Works in and out of compiled code."""
    return type(states)(*(array[b] for array in states))


@type_callable(row)
def _type_row(context: Any) -> Any:
    def view(array: Any, b: Any) -> Any:
        return context.resolve_function_type(operator.getitem, (array, b), {}).return_type

    def type_row(states: Any, b: Any) -> Any:
        kind = getattr(states, "instance_class", None)
        return None if kind is None else types.BaseTuple.from_types([view(array, b) for array in states], kind)

    return type_row


@lower_builtin(row, types.BaseNamedTuple, types.Integer)
def _lower_row(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    (arrays, b), (states, at) = signature.args, values
    views = []
    for i, (array, view) in enumerate(zip(arrays, signature.return_type, strict=True)):
        take = context.get_function(operator.getitem, view(array, b))
        views.append(take(builder, (builder.extract_value(states, i), at)))
    return context.make_tuple(builder, signature.return_type, views)


# Random numbers in kernels: a 64-bit xorshift* (Marsaglia, 2003; Vigna, 2016) with its state in an array entry.


def seeded(seed: int) -> npt.NDArray[np.uint64]:
    """Return a generator state, uint64 [1], for any int. Neighbouring seeds give unrelated numbers."""
    mixed = np.random.SeedSequence(seed & ((1 << 64) - 1)).generate_state(1, np.uint64)
    return np.array(mixed | np.uint64(1), dtype=np.uint64)


@njit(cache=True)
def below(random: npt.NDArray[np.uint64], n: int) -> int:
    """Return a number in 0..n-1, n at most 2^31; the bias is n / 2^31."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    high = (x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(33)
    return int(np.int64(high % np.uint64(n)))


@njit(cache=True)
def high_below(random: npt.NDArray[np.uint64], n: int) -> int:
    """Return a number in 0..n-1 without a division, different from `below`; the bias is n / 2^32 (Lemire, 2019)."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    high = (x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(32)
    return int(np.int64((high * np.uint64(n)) >> np.uint64(32)))
