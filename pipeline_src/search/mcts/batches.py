"""Many states as one: the state's own NamedTuple with a leading batch axis on every array, and rows of it as views."""

from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic, overload


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


def _borrow_array(_context: Any, array: Any) -> Any:
    if not isinstance(array, types.Array):
        return None

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        found = context.make_array(signature.args[0])(context, builder, values[0])
        null: Any = cgutils.get_null_value
        found.meminfo, found.parent = null(found.meminfo.type), null(found.parent.type)
        return found._getvalue()

    return array(array), generate


borrowed_array: Any = intrinsic(_borrow_array)
"""In compiled code: an array as one that owns nothing."""


def borrowed(arrays: Any) -> Any:
    """A NamedTuple of arrays whose references compiled code does not count: views of it are free to make.

    Only for arguments of a kernel, while it runs: its caller holds them. Counting is an atomic operation, and a view of
    each array of a state twice in a descent would take as long as the descent.
    """
    return arrays


def _borrow_all(arrays: Any) -> Any:
    return arrays


@overload(_borrow_all, strict=False)
def _compiled_borrow_all(arrays: Any) -> Any:
    if len(arrays) == 1:
        return lambda arrays: (borrowed_array(arrays[0]),)
    return lambda arrays: (borrowed_array(arrays[0]), *_borrow_all(arrays[1:]))


@overload(borrowed, strict=False)
def _compiled_borrowed(arrays: Any) -> Any:
    kind = getattr(arrays, "instance_class", None)
    if kind is None:
        return None
    return lambda arrays: kind(*_borrow_all(tuple(arrays)))
