"""Sixteen numbers at once in compiled code: a vector of 16 floats, which LLVM maps to the processor's registers.

numba vectorizes simple loops by itself, but keeps a running sum of several values in memory. A kernel that names its
vectors keeps them in registers: the heads of a line net take a seventh of the time. Sums have one fixed order, so that
all processors that multiply and add in one step give the same bits. Arrays are flat, and an index is that of the first
of sixteen entries. Outside of compiled code the same functions work on NumPy arrays.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, models, register_model, type_callable

COUNT = 16


def load(array: Any, index: int) -> Any:
    """Sixteen entries of a float32 array."""
    return array[index : index + COUNT].copy()


def load_positive(array: Any, index: int) -> Any:
    """Sixteen entries of an int16 array as floats, 0 for those below 0."""
    return np.maximum(array[index : index + COUNT], 0).astype(np.float32)


def sum_positive(array: Any, a: int, b: int, c: int, d: int, e: int) -> Any:
    """Sums of sixteen entries each of an int16 array at five places, as floats, 0 for those below 0."""
    return np.maximum(sum(array[index : index + COUNT] for index in (a, b, c, d, e)), 0).astype(np.float32)


def store(array: Any, index: int, lanes: Any) -> None:
    """Write sixteen entries of a float32 array."""
    array[index : index + COUNT] = lanes


def exchange(sums: Any, index: int, table: Any, new: int, old: int) -> None:
    """Add the entries of an int16 table at ``new`` to those of ``sums`` at ``index``, and subtract those at ``old``."""
    sums[index : index + COUNT] += table[new : new + COUNT] - table[old : old + COUNT]


def splat(number: Any) -> Any:
    """Sixteen times the same number."""
    return np.full(COUNT, number, np.float32)


def add(x: Any, y: Any) -> Any:
    """Return x + y."""
    return x + y


def multiply_add(x: Any, y: Any, z: Any) -> Any:
    """Return x * y + z, in one step where the processor has one."""
    return x * y + z


def larger(x: Any, y: Any) -> Any:
    """Return the larger of x and y in each lane."""
    return np.maximum(x, y)


def where_positive(x: Any, y: Any) -> Any:
    """Return y in the lanes in which x is above 0, and 0 in the others."""
    return np.where(x > 0, y, np.float32(0))


def total(x: Any) -> Any:
    """Sum of the sixteen numbers: of halves, quarters and so on."""
    while len(x) > 1:
        x = x[: len(x) // 2] + x[len(x) // 2 :]
    return x[0]


_FLOATS = ir.VectorType(ir.FloatType(), COUNT)
_SHORTS = ir.VectorType(ir.IntType(16), COUNT)
_INDEX = ir.IntType(32)


class _LanesType(types.Type):
    """The type of such a vector."""


_LANES = _LanesType("Lanes")


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _FLOATS)


def _compiled(function: Callable[..., Any], arity: int, result: Any) -> Callable[[Any], Any]:
    """Register what writes a function's code: of (context, builder, types, values), to the value of type ``result``."""
    typers: dict[int, Any] = {
        1: lambda _: lambda a: result,  # noqa: ARG005
        2: lambda _: lambda a, b: result,  # noqa: ARG005
        3: lambda _: lambda a, b, c: result,  # noqa: ARG005
        5: lambda _: lambda a, b, c, d, e: result,  # noqa: ARG005
        6: lambda _: lambda a, b, c, d, e, f: result,  # noqa: ARG005
    }

    def register(write: Callable[..., Any]) -> Any:
        type_callable(function)(typers[arity])
        lower_builtin(function, *[types.Any] * arity)(
            lambda context, builder, signature, values: write(context, builder, signature.args, values)
        )
        return write

    return register


def _place(context: Any, builder: Any, kinds: Any, values: Any, vector: Any) -> Any:
    """Pointer to the vector that begins at an index of a flat array."""
    data = context.make_array(kinds[0])(context, builder, values[0]).data
    index = context.cast(builder, values[1], kinds[1], types.intp)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _read(context: Any, builder: Any, kinds: Any, values: Any, vector: Any) -> Any:
    loaded = builder.load(_place(context, builder, kinds, values, vector))
    loaded.align = 2 if vector is _SHORTS else 4
    return loaded


@_compiled(load, 2, _LANES)
def _load(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    return _read(context, builder, kinds, values, _FLOATS)


@_compiled(load_positive, 2, _LANES)
def _load_positive(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    return _positive(builder, _read(context, builder, kinds, values, _SHORTS))


def _positive(builder: Any, shorts: Any) -> Any:
    zero = ir.Constant(_SHORTS, None)
    return builder.sitofp(builder.select(builder.icmp_signed(">", shorts, zero), shorts, zero), _FLOATS)


@_compiled(sum_positive, 6, _LANES)
def _sum_positive(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    rows = [_read(context, builder, (kinds[0], kinds[i]), (values[0], values[i]), _SHORTS) for i in range(1, 6)]
    return _positive(builder, reduce(builder.add, rows))


@_compiled(store, 3, types.none)
def _store(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    builder.store(values[2], _place(context, builder, kinds, values, _FLOATS)).align = 4
    return context.get_dummy_value()


@_compiled(exchange, 5, types.none)
def _exchange(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    new, old = (_read(context, builder, (kinds[2], kinds[i]), (values[2], values[i]), _SHORTS) for i in (3, 4))
    sums = builder.add(_read(context, builder, kinds, values, _SHORTS), builder.sub(new, old))
    builder.store(sums, _place(context, builder, kinds, values, _SHORTS)).align = 2
    return context.get_dummy_value()


@_compiled(splat, 1, _LANES)
def _splat(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    number = context.cast(builder, values[0], kinds[0], types.float32)
    one = builder.insert_element(ir.Constant(_FLOATS, ir.Undefined), number, _INDEX(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INDEX, COUNT), None))


@_compiled(add, 2, _LANES)
def _add(_context: Any, builder: Any, _kinds: Any, values: Any) -> Any:
    return builder.fadd(*values)


@_compiled(multiply_add, 3, _LANES)
def _multiply_add(_context: Any, builder: Any, _kinds: Any, values: Any) -> Any:
    kind = ir.FunctionType(_FLOATS, [_FLOATS] * 3)
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.fmuladd.v16f32"), values)


@_compiled(larger, 2, _LANES)
def _larger(_context: Any, builder: Any, _kinds: Any, values: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", *values), *values)


@_compiled(where_positive, 2, _LANES)
def _where_positive(_context: Any, builder: Any, _kinds: Any, values: Any) -> Any:
    zero = ir.Constant(_FLOATS, None)
    return builder.select(builder.fcmp_ordered(">", values[0], zero), values[1], zero)


@_compiled(total, 1, types.float32)
def _total(_context: Any, builder: Any, _kinds: Any, values: Any) -> Any:
    vector, count = values[0], COUNT
    while count > 1:
        count //= 2
        halves = [ir.Constant(ir.VectorType(_INDEX, count), [*range(at, at + count)]) for at in (0, count)]
        vector = builder.fadd(*(builder.shuffle_vector(vector, vector, half) for half in halves))
    return builder.extract_element(vector, _INDEX(0))
