"""Sixteen numbers at once in compiled code: a vector of 16 floats, which LLVM maps to the processor's registers.

numba vectorizes simple loops by itself, but keeps a running sum of several values in memory. A kernel that names its
vectors keeps them in registers: the heads of a line net take a seventh of the time. Sums have one fixed order, so that
all processors that multiply and add in one step give the same bits. Arrays are flat, and an index is that of the first
of sixteen entries. Outside of compiled code the same functions work on NumPy arrays.
"""

from collections.abc import Callable
from functools import reduce
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.registry import cpu_target
from numba.extending import lower_builtin, models, register_model, type_callable

from pipeline_src.jit import njit

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


def part() -> int:
    """How many lanes a kernel takes at a time that needs many registers: sixteen, or the four of WebAssembly's.

    `store`, `add`, `multiply_add` and `larger` take parts too.
    """
    return COUNT


def load_part(array: Any, index: int) -> Any:
    """`part()` entries of a float32 array."""
    return load(array, index)


def splat_part(number: Any) -> Any:
    """`part()` times the same number."""
    return splat(number)


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


_REGISTER = 4  # Floats of a register of WebAssembly
_FLOATS = ir.VectorType(ir.FloatType(), COUNT)
_PART = ir.VectorType(ir.FloatType(), _REGISTER)
_SHORTS = ir.VectorType(ir.IntType(16), COUNT)
_INDEX = ir.IntType(32)


class _LanesType(types.Type):
    """The type of such a vector, or of a part of it."""

    def __init__(self, vector: ir.VectorType) -> None:
        super().__init__(f"Lanes{vector.count}")
        self.vector = vector


_LANES, _PARTS = _LanesType(_FLOATS), _LanesType(_PART)


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.vector)


def _register(*_: Any) -> Any:
    """The type of a part: by whether the kernels of this process are for a browser, see `jit.wasm.raw`."""
    return _PARTS if getattr(cpu_target.target_context.codegen(), "raw", False) else _LANES


def _same(kind: Any, *_: Any) -> Any:
    return kind


def _compiled(function: Callable[..., Any], result: Any) -> Callable[[Any], Any]:
    """Register what writes a function's code: (context, builder, types, values), to a value.

    ``result`` is the value's type, or what returns it for the arguments' types.
    """
    pysig = signature(function)

    def typer(*kinds: Any) -> Any:
        return result if isinstance(result, types.Type) else result(*kinds)

    typer.pysig = pysig  # type: ignore[attr-defined] # numba asks for it

    def register(write: Callable[..., Any]) -> Any:
        type_callable(function)(lambda _: typer)
        lower_builtin(function, *[types.Any] * len(pysig.parameters))(
            lambda context, builder, typed, values: write(context, builder, typed.args, values)
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


@_compiled(load, _LANES)
def _load(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    return _read(context, builder, kinds, values, _FLOATS)


@_compiled(part, types.intp)
def _part(context: Any, _builder: Any, _kinds: Any, _values: Any) -> Any:
    return context.get_constant(types.intp, _register().vector.count)


@_compiled(load_part, _register)
def _load_part(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    return _read(context, builder, kinds, values, _register().vector)


@_compiled(load_positive, _LANES)
def _load_positive(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    return _positive(builder, _read(context, builder, kinds, values, _SHORTS))


def _positive(builder: Any, shorts: Any) -> Any:
    zero = ir.Constant(_SHORTS, None)
    return builder.sitofp(builder.select(builder.icmp_signed(">", shorts, zero), shorts, zero), _FLOATS)


@_compiled(sum_positive, _LANES)
def _sum_positive(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    rows = [_read(context, builder, (kinds[0], kinds[i]), (values[0], values[i]), _SHORTS) for i in range(1, 6)]
    return _positive(builder, reduce(builder.add, rows))


@_compiled(store, types.none)
def _store(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    builder.store(values[2], _place(context, builder, kinds, values, kinds[2].vector)).align = 4
    return context.get_dummy_value()


@_compiled(exchange, types.none)
def _exchange(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    new, old = (_read(context, builder, (kinds[2], kinds[i]), (values[2], values[i]), _SHORTS) for i in (3, 4))
    sums = builder.add(_read(context, builder, kinds, values, _SHORTS), builder.sub(new, old))
    builder.store(sums, _place(context, builder, kinds, values, _SHORTS)).align = 2
    return context.get_dummy_value()


@_compiled(splat, _LANES)
def _splat(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    return _copies(context, builder, kinds, values, _FLOATS)


@_compiled(splat_part, _register)
def _splat_part(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    return _copies(context, builder, kinds, values, _register().vector)


def _copies(context: Any, builder: Any, kinds: Any, values: Any, vector: Any) -> Any:
    number = context.cast(builder, values[0], kinds[0], types.float32)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, _INDEX(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INDEX, vector.count), None))


@_compiled(add, _same)
def _add(_context: Any, builder: Any, _kinds: Any, values: Any) -> Any:
    return builder.fadd(*values)


@_compiled(multiply_add, _same)
def _multiply_add(_context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    vector = kinds[0].vector
    kind, name = ir.FunctionType(vector, [vector] * 3), f"llvm.fmuladd.v{vector.count}f32"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)


@_compiled(larger, _same)
def _larger(_context: Any, builder: Any, _kinds: Any, values: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", *values), *values)


@_compiled(where_positive, _LANES)
def _where_positive(_context: Any, builder: Any, _kinds: Any, values: Any) -> Any:
    zero = ir.Constant(_FLOATS, None)
    return builder.select(builder.fcmp_ordered(">", values[0], zero), values[1], zero)


@_compiled(total, types.float32)
def _total(_context: Any, builder: Any, _kinds: Any, values: Any) -> Any:
    vector, count = values[0], COUNT
    while count > 1:
        count //= 2
        halves = [ir.Constant(ir.VectorType(_INDEX, count), [*range(at, at + count)]) for at in (0, count)]
        vector = builder.fadd(*(builder.shuffle_vector(vector, vector, half) for half in halves))
    return builder.extract_element(vector, _INDEX(0))


# Layers of nets that play from a table: dense ones, and the softmax of a policy.

LINE = 64  # Bytes of a cache line
At: Any = np.uint64
Floats = npt.NDArray[np.float32]


def aligned(array: npt.NDArray[Any]) -> Any:
    """A copy that begins with a cache line: a row that lies in two of them takes twice as long."""
    memory = np.empty(array.nbytes + LINE, np.uint8)
    copy = memory[-memory.ctypes.data % LINE :][: array.nbytes].view(array.dtype)
    copy[:] = array
    return copy


@njit(cache=True)
def layer(inputs: Floats, weights: Floats, outputs: Floats, least: float) -> None:
    """Write the outputs of a layer, by bias and weights, or ``least`` where they are below it."""
    zero, floor, many = splat_part(0.0), splat_part(least), outputs.size
    for o in range(0, many, part()):
        a, b, c, d = load_part(weights, o), zero, zero, zero
        for i in range(0, inputs.size, 4):
            at = (1 + i) * many + o
            a = multiply_add(splat_part(inputs[At(i)]), load_part(weights, at), a)
            b = multiply_add(splat_part(inputs[At(i + 1)]), load_part(weights, at + many), b)
            c = multiply_add(splat_part(inputs[At(i + 2)]), load_part(weights, at + 2 * many), c)
            d = multiply_add(splat_part(inputs[At(i + 3)]), load_part(weights, at + 3 * many), d)
        store(outputs, o, larger(add(add(a, b), add(c, d)), floor))


LOG2_E = np.float32(np.log2(np.e))
_F = np.float32
_nodes = (np.cos(np.pi * (np.arange(64) + 0.5) / 64) - 1) / 2
EXP2 = tuple(_F(c) for c in np.polyfit(_nodes, np.exp2(_nodes), 6))  # 2^x for x in -1..0, within 1e-7
LOWEST = _F(-126)


@njit(cache=True)
def soften(logits: Floats, count: int, priors: Floats) -> None:
    """Write the softmax of ``count`` logits, in loops that become vector code: a sixth of the time of `math.exp`."""
    top, bits, weights = logits[0], priors.view(np.int32), 0.0
    for i in range(count):
        top = max(top, logits[At(i)])
    for i in range(count):
        x = max((logits[At(i)] - top) * LOG2_E, LOWEST)
        whole = np.int32(x)
        f = x - _F(whole)
        p = (((((EXP2[0] * f + EXP2[1]) * f + EXP2[2]) * f + EXP2[3]) * f + EXP2[4]) * f + EXP2[5]) * f + EXP2[6]
        bits[At(i)] = (whole + np.int32(127)) << np.int32(23)
        logits[At(i)] = p
    for i in range(count):
        priors[At(i)] *= logits[At(i)]
    for i in range(count):
        weights += priors[At(i)]
    share = _F(1.0 / weights)
    for i in range(count):
        priors[At(i)] *= share
