"""Stacked states: the NamedTuple of a state with a leading batch axis on every array, and its rows as views."""

import operator
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import lower_builtin, type_callable

from pipeline_src.jit import borrows


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
