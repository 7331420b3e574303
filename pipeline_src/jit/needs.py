"""Kernels that Python is going to call: declared in advance, to be compiled or loaded before any clock runs."""

import threading
from collections.abc import Iterable
from typing import Any, NamedTuple

from pipeline_src.jit.parts import Kernel
from pipeline_src.jit.progress import PROGRESS


class Need(NamedTuple):
    """A kernel, and arguments of the types that it will be called with."""

    kernel: Any
    """Made by `njit`; or a function of `games.kernels` and its like, which picks one by its first argument."""
    arguments: tuple[Any, ...]


def needs_of(evaluator: Any, state: Any) -> list[Need]:
    """Return the kernels of an evaluator's method ``needs``; empty if it has none, like a net."""
    asked = getattr(evaluator, "needs", None)
    return asked(state) if asked else []


def ready(needs: Iterable[Need], stopped: threading.Event | None = None) -> int:
    """Compile kernels that are not compiled yet, or load them from disk, without running them.

    Args:
        needs: the same kernel may be among them several times.
        stopped: once it is set, the rest is left out.

    Returns:
        The number of kernels that were not on disk.
    """
    missing = [(kernel, types) for kernel, types in distinct(needs) if types not in kernel.overloads]
    new = sum(not _on_disk(kernel, types) for kernel, types in missing)
    with PROGRESS.expecting(new):
        for kernel, types in missing:
            if stopped is not None and stopped.is_set():
                break
            kernel.compile(types)
    return new


def distinct(needs: Iterable[Need]) -> list[tuple[Kernel, tuple[Any, ...]]]:
    """Each kernel with the types of its arguments, once; none where compilation is switched off."""
    return [(kernel, types) for kernel, types in dict.fromkeys(map(_typed, needs)) if kernel is not None]


def _typed(need: Need) -> tuple[Kernel | None, tuple[Any, ...]]:
    """The kernel itself and the types; None where compilation is switched off."""
    kernel = need.kernel
    if hasattr(kernel, "dispatch"):  # by the first argument
        kernel = kernel.dispatch(type(need.arguments[0]))
    if not isinstance(kernel, Kernel):
        return None, ()
    return kernel, tuple(kernel.typeof_pyval(argument) for argument in need.arguments)


def _on_disk(kernel: Kernel, types: tuple[Any, ...]) -> bool:
    has = getattr(kernel._cache, "has", None)  # a kernel that is not kept has numba's empty cache
    return has is not None and bool(has(types, kernel.targetctx.codegen()))
