"""An integer that threads in compiled code share, the first entry of an int64 array, as a lock needs it.

What a thread wrote before `put` or `swap`, another sees once it has read their number by `peek` or `swap`.
"""

import threading
from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.extending import lower_builtin, type_callable

_ONE_BY_ONE = threading.Lock()


def peek(array: Any) -> Any:
    """Return the number."""
    return array[0]


def put(array: Any, new: int) -> None:
    """Set the number."""
    array[0] = new


def swap(array: Any, old: int, new: int) -> bool:
    """Set the number to ``new`` if it is ``old``, in one step; return whether it was."""
    with _ONE_BY_ONE:
        was = bool(array[0] == old)
        if was:
            array[0] = new
        return was


def _compiled(function: Callable[..., Any], typer: Callable[..., Any]) -> Callable[[Any], Any]:
    """Register what writes a function's code: of (builder, pointer to the number, further int64 arguments)."""
    type_callable(function)(lambda context: typer)  # noqa: ARG005

    def register(write: Callable[..., Any]) -> Any:
        def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            place = context.make_array(signature.args[0])(context, builder, values[0]).data
            numbers = zip(values[1:], signature.args[1:], strict=True)
            found = write(builder, place, *(context.cast(builder, value, kind, types.int64) for value, kind in numbers))
            return context.get_dummy_value() if signature.return_type == types.none else found

        lower_builtin(function, *[types.Any] * typer.__code__.co_argcount)(lower)
        return write

    return register


@_compiled(peek, lambda array: types.int64)  # noqa: ARG005
def _peek(builder: Any, place: Any) -> Any:
    return builder.load_atomic(place, "acquire", 8)


@_compiled(put, lambda array, new: types.none)  # noqa: ARG005
def _put(builder: Any, place: Any, new: Any) -> Any:
    return builder.store_atomic(new, place, "release", 8)


@_compiled(swap, lambda array, old, new: types.boolean)  # noqa: ARG005
def _swap(builder: Any, place: Any, old: Any, new: Any) -> Any:
    return builder.extract_value(builder.cmpxchg(place, old, new, "acq_rel", "acquire"), 1)
