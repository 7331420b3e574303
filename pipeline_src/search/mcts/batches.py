"""Many states as one: the state's own NamedTuple with a leading batch axis on every array, and rows of it as views."""

from typing import Any

import numpy as np
from numba.extending import overload


def stack(state: Any, n: int) -> Any:
    """Copies of ``state``, n of them: its arrays with a leading axis of n."""
    return type(state)(*(np.repeat(array[None], n, axis=0) for array in state))


def row(states: Any, b: int) -> Any:
    """State b of a stack: views, so what a kernel does to it is done to the stack. In and out of compiled code."""
    return type(states)(*(array[b] for array in states))


def _views(arrays: Any, b: int) -> Any:
    return tuple(array[b] for array in arrays)


@overload(_views, strict=False)
def _compiled_views(arrays: Any, _b: Any) -> Any:
    if len(arrays) == 1:
        return lambda arrays, b: (arrays[0][b],)
    return lambda arrays, b: (arrays[0][b], *_views(arrays[1:], b))


@overload(row, strict=False)
def _compiled_row(states: Any, _b: Any) -> Any:
    kind = getattr(states, "instance_class", None)
    if kind is None:
        return None
    return lambda states, b: kind(*_views(tuple(states), b))
