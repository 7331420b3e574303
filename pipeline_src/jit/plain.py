"""Kernels that call functions of plain Python: rules of a game without ``@njit``, for searches that are compiled.

A kernel writes where its arrays are, their shapes and its numbers to a buffer, and calls the function through a symbol
that each process defines; the function gets views of the same memory.
"""

import ctypes
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from pipeline_src.errors import INTERRUPTED
from pipeline_src.jit import njit

WORD, RESULTS, MOST_VIEWS = 8, 2, 1 << 14
_DEFINED: dict[str, Any] = {}
"""Callbacks by their symbols, which machine code may call as long as the process lives."""
_MAKE = "def kernel({names}):\n    return call(({names},))\n"


def calling(function: Callable[..., Any], symbol: str, arrays: Sequence[Any], names: Sequence[str], result: Any) -> Any:
    """Return a kernel that calls a function of Python.

    Args:
        function: takes ``arrays``, then integers. What it raises ends the process, after a message.
        symbol: a name for it, the same in all processes that share compiled files, and no other function's.
        arrays: examples of its first arguments, arrays or NamedTuples of arrays; shapes may differ.
        names: of all its arguments.
        result: what it returns, as a type of numba: none, a boolean, an integer, or a tuple of two.
    """
    _define(function, symbol, arrays, len(names) - len(arrays), result)

    @intrinsic
    def call(context: Any, given: Any) -> Any:  # noqa: ARG001
        return result(given), _lower(symbol)

    made: dict[str, Any] = {"call": call, "__name__": __name__}
    exec(_MAKE.format(names=", ".join(names)), made)  # noqa: S102 - numba wants as many arguments
    return njit(made["kernel"])


def _define(function: Callable[..., Any], symbol: str, arrays: Sequence[Any], numbers: int, result: Any) -> None:
    """Define the symbol: a function of C that gets the address of the buffer."""
    kinds = [[(a.dtype, a.ndim) for a in (one if isinstance(one, tuple) else (one,))] for one in arrays]
    size = WORD * sum(1 + ndim for one in kinds for _, ndim in one)
    at = WORD * RESULTS
    made: list[Any] = [getattr(type(one), "_make", next) for one in arrays]
    views: dict[bytes, list[Any]] = {}
    floats = isinstance(result, types.BaseTuple) and result[1] == types.float64

    def see(key: bytes) -> list[Any]:
        """Views of the arrays at these addresses, which other arrays of the same shapes may have later."""
        words, found = iter(np.frombuffer(key, np.int64).tolist()), []
        for one, make in zip(kinds, made, strict=True):
            inner = []
            for dtype, ndim in one:
                place, shape = next(words), [next(words) for _ in range(ndim)]
                room = (ctypes.c_byte * (int(np.prod(shape)) * dtype.itemsize)).from_address(place)
                inner.append(np.frombuffer(room, dtype).reshape(shape))
            found.append(make(iter(inner)))
        if len(views) >= MOST_VIEWS:
            views.clear()
        views[key] = found
        return found

    def run(address: int) -> None:
        try:
            key = ctypes.string_at(address + at, size)
            given = (ctypes.c_int64 * numbers).from_address(address + at + size)
            found = function(*(views.get(key) or see(key)), *given)
            if isinstance(result, types.BaseTuple):
                first, second = found
                ctypes.c_int64.from_address(address).value = int(first)
                if floats:
                    ctypes.c_double.from_address(address + WORD).value = second
                else:
                    ctypes.c_int64.from_address(address + WORD).value = int(second)
            elif result != types.none:
                ctypes.c_uint64.from_address(address).value = int(found) & (1 << 64) - 1
        except KeyboardInterrupt:  # what is kept is whole at any moment
            _end("interrupted", INTERRUPTED)
        except BaseException as error:  # nothing may be raised through compiled code
            frame = traceback.extract_tb(error.__traceback__)[-1]
            _end(f"error: {frame.filename}, line {frame.lineno}: {type(error).__name__}: {error}", 1)

    _DEFINED[symbol] = callback = ctypes.CFUNCTYPE(None, ctypes.c_int64)(run)
    llvmlite.binding.add_symbol(symbol, ctypes.cast(callback, ctypes.c_void_p).value)


def _end(words: str, status: int) -> None:
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()
    os._exit(status)


def _lower(symbol: str) -> Callable[..., Any]:
    """Return the writer of the call: addresses and shapes of all arrays to the buffer, then the numbers."""

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word, places, numbers = ir.IntType(64), list[Any](), list[Any]()

        def take(kind: Any, value: Any) -> None:
            if isinstance(kind, types.BaseTuple):
                for inner, part in zip(kind, cgutils.unpack_tuple(builder, value), strict=True):
                    take(inner, part)
            elif isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, value)
                places.extend([builder.ptrtoint(array.data, word), *cgutils.unpack_tuple(builder, array.shape)])
            else:
                numbers.append(context.cast(builder, value, kind, types.int64))

        take(signature.args[0], values[0])
        room = cgutils.alloca_once(builder, word, RESULTS + len(places) + len(numbers))
        for i, number in enumerate([*places, *numbers]):
            builder.store(number, builder.gep(room, [word(RESULTS + i)]))
        kind = ir.FunctionType(ir.VoidType(), [word])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, symbol), [builder.ptrtoint(room, word)])
        wanted = signature.return_type
        if wanted == types.none:
            return context.get_dummy_value()
        read = []
        for i, one in enumerate(wanted if isinstance(wanted, types.BaseTuple) else (wanted,)):
            number = builder.load(builder.gep(room, [word(i)]))
            read.append(
                builder.bitcast(number, ir.DoubleType())
                if one == types.float64
                else context.cast(builder, number, types.int64, one)
            )
        return context.make_tuple(builder, wanted, read) if isinstance(wanted, types.BaseTuple) else read[0]

    return lower
