"""Kernels: functions that numba compiles, and what their callers need of the compiler.

numba compiles every function to machine code together with all functions that it calls, and does so again in each
caller. A search of fifty functions is therefore compiled about ten times. Here, a function called by compiled code
stays LLVM intermediate code. Only functions called from Python are optimised and compiled to machine code, once, with
all their parts, and the results are kept on disk (`parts`). That builds on insides of numba that each of its releases
may change. ``ZUGWERK_PLAIN_JIT=1`` leaves all to ``numba.njit``, and so does a release of numba that was never tried:
results are the same, but every process compiles for minutes.
"""

import logging
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple, TextIO, TypeVar, overload

import numba
import numpy as np
from numba.core import types
from numba.core.typing import templates
from numba.extending import lower_builtin, type_callable

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.code import this_code

TRIED = ("0.68",)  # Releases of numba with which compilation in parts was tried
Function = TypeVar("Function", bound=Callable[..., Any])


def _is_plain() -> bool:
    """Whether numba's own ``njit`` compiles everything."""
    if asked := os.environ.get("ZUGWERK_PLAIN_JIT"):
        return asked != "0"
    if numba.__version__.startswith(tuple(f"{release}." for release in TRIED)):
        return False
    if multiprocessing.current_process().name == "MainProcess":
        words = (
            "numba %s was never tried: kernels take minutes to compile at every start, with the same results; numba %s "
        )
        logging.getLogger(__name__).warning(words + "compiles them once", numba.__version__, TRIED[-1])
    return True


PLAIN = _is_plain()
OWN = {"fastmath": False, "error_model": "python", "forceinline": False}
"""Options that a function would take from the first caller that has it compiled: another one in each process, whose
files would not fit together."""


@overload
def njit(function: Function) -> Function: ...
@overload
def njit(*, cache: bool = False, allocates: bool = False, **options: Any) -> Callable[[Function], Function]: ...
def njit(function: Any = None, *, cache: bool = False, allocates: bool = False, **options: Any) -> Any:
    """Compile a function when it is first called, once for each combination of argument types.

    Args:
        function: the function, in use without brackets.
        cache: whether to keep the compiled code on disk, see `parts`.
        allocates: whether the function makes or returns arrays, copies one into a slice of another, or passes on arrays
            of functions that do. Other functions count no references to their arrays, which saves an atomic operation
            for each array of each call; a function that would need to count is refused.
        options: options of ``numba.njit``.
    """

    def decorate(plain: Callable[..., Any]) -> Any:
        if numba.config.DISABLE_JIT:
            return plain
        if PLAIN:
            return _patient(numba.njit(**options)(plain))  # noqa: TID251 - the switch
        from pipeline_src.jit.parts import Kernel

        kernel = Kernel(plain, {"nopython": True, "boundscheck": None, "_nrt": allocates, **OWN, **options}, PROGRESS)
        if cache:
            kernel.keep(modules_run)
        return _patient(kernel)

    return decorate if function is None else decorate(function)


def borrows(function: Function) -> Function:
    """Mark a function of Python whose code numba writes into its caller's, and that gives views of its arguments."""
    function.__dict__["borrows"] = True
    return function


_PYTHON = threading.local()


@contextmanager
def plainly() -> Iterator[None]:
    """Compile nothing in this thread within the block, nor wait for it: kernels that are not there yet run as Python.

    That is a hundred times as slow, and enough for single moves while another thread compiles.
    """
    was = getattr(_PYTHON, "wanted", False)
    _PYTHON.wanted = True
    try:
        with np.errstate(over="ignore"):  # hashes and random numbers, as in compiled code
            yield
    finally:
        _PYTHON.wanted = was


def _patient(kernel: Any) -> Any:
    """Let a kernel run as Python within `plainly`."""
    compile_now = getattr(kernel, "_compile_for_args", None)
    if compile_now is None:  # with another numba, what is missing is waited for
        return kernel

    def compile_later(*args: Any, **kws: Any) -> Any:
        return kernel.py_func if getattr(_PYTHON, "wanted", False) else compile_now(*args, **kws)

    kernel._compile_for_args = compile_later
    return kernel


_CHOICES: dict[Any, dict[type, Any]] = {}
"""Kernels of generic functions by the type of their first argument, as compiled code calls them."""


def choose(function: Callable[..., Any], first: type, kernel: Any) -> None:
    """Make calls of ``function`` in compiled code run ``kernel`` where the first argument is a NamedTuple of a type.

    Args:
        function: any; compiled code does not call it.
        first: the NamedTuple's class.
        kernel: made by `njit`; where compilation is switched off, nothing happens.
    """
    if not _is_kernel(kernel):
        return
    if function not in _CHOICES:
        _CHOICES[function] = {}
        template = type(f"Choice_{function.__name__}", (_Choice,), {"key": function, "chosen": _CHOICES[function]})
        templates.infer_global(function, types.Function(template))
    _CHOICES[function][first] = getattr(kernel, "part", kernel)


class _Choice(templates.AbstractTemplate):
    chosen: dict[type, Any]

    def generic(self, args: Any, kws: Any) -> Any:
        kernel = self.chosen.get(getattr(args[0], "instance_class", type(None))) if args else None
        return None if kernel is None else types.Dispatcher(kernel).get_call_type(self.context, args, kws)

    def get_impl_key(self, signature: Any) -> Any:
        return self.chosen[signature.args[0].instance_class].get_overload(signature)


def modules_run(own: str, owners: frozenset[type]) -> tuple[str, ...]:
    """Modules whose code the functions of a module may run for states of some classes: imports, and chosen kernels."""
    return _modules_run(own, owners, sum(map(len, _CHOICES.values())))  # each import may add some


@lru_cache(maxsize=4096)
def _modules_run(own: str, owners: frozenset[type], _choices: int) -> tuple[str, ...]:
    found: set[str] = set()
    more = {own, *(owner.__module__ for owner in owners)}
    while more - found:
        found |= more
        try:
            more = set(_chosen_in(this_code().closure(*found), owners))
        except ZugwerkError:  # not first-party
            break
    return tuple(sorted(found))


def _chosen_in(modules: Collection[str], firsts: Collection[type]) -> Iterator[str]:
    """Modules of the kernels that functions of some modules run for states of some classes."""
    for function, chosen in _CHOICES.items():
        if function.__module__ in modules:
            yield from (chosen[first].py_func.__module__ for first in firsts if first in chosen)


class Need(NamedTuple):
    """A kernel that Python is going to call, and arguments of the types that it will be called with."""

    kernel: Any  # Made by `njit`; or a function of `games.kernels` and its like, which picks one by its first argument
    arguments: tuple[Any, ...]


def needs_of(evaluator: Any, state: Any) -> list[Need]:
    """Return the kernels of an evaluator's method ``needs``; empty if it has none, like a net."""
    asked = getattr(evaluator, "needs", None)
    return asked(state) if asked else []


def ready(needs: Iterable[Need], stopped: threading.Event | None = None) -> int:
    """Compile kernels that are not compiled yet, or load them from disk, without running them: before any clock runs.

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
            if not PLAIN:
                kernel.compile(types)
                continue
            with PROGRESS.kernel():
                PROGRESS.function()
                kernel.compile(types)
    return new


def distinct(needs: Iterable[Need]) -> list[tuple[Any, tuple[Any, ...]]]:
    """Each kernel with the types of its arguments, once; none where compilation is switched off."""
    return [(kernel, types) for kernel, types in dict.fromkeys(map(_typed, needs)) if kernel is not None]


def _typed(need: Need) -> tuple[Any, tuple[Any, ...]]:
    """The kernel itself and the types; None where compilation is switched off."""
    kernel = need.kernel
    if hasattr(kernel, "dispatch"):  # by the first argument
        kernel = kernel.dispatch(type(need.arguments[0]))
    if not _is_kernel(kernel):
        return None, ()
    return kernel, tuple(map(numba.typeof, need.arguments))


def _is_kernel(kernel: Any) -> bool:
    return hasattr(kernel, "overloads")


def _on_disk(kernel: Any, types: tuple[Any, ...]) -> bool:
    has = None if PLAIN else getattr(kernel._cache, "has", None)  # a kernel that is not kept has numba's empty cache
    return has is not None and bool(has(types, kernel.targetctx.codegen()))


QUIET_S = 1.0


class Progress:
    """Counts compiled kernels. On a terminal one transient line shows the progress; elsewhere two lines are written."""

    def __init__(self, stream: TextIO | None) -> None:
        """``stream`` None prints nothing."""
        self.stream, self.name = stream, ""
        self.functions, self.kernels, self.seconds = 0, 0, 0.0
        self._expected, self._began, self._told = 0, 0.0, False

    def speak_as(self, name: str) -> None:
        """Report on stderr, in permanent lines that begin with a name, since several processes share one terminal."""
        self.stream, self.name = sys.stderr, f"{name}: "

    @contextmanager
    def expecting(self, kernels: int) -> Iterator[None]:
        """Around the compilation of so many kernels; kernels that they compile are counted too."""
        self._expected, self.kernels = kernels, 0
        try:
            yield
        finally:
            if self._told and not self._moves():
                text = f"{self.name}compiled {self.kernels} kernels in {self.seconds:.1f} s"
                print(text, file=self.stream, flush=True)
            self._expected, self._told, self.functions, self.kernels, self.seconds = 0, False, 0, 0, 0.0

    @contextmanager
    def kernel(self) -> Iterator[None]:
        """Around the compilation of one."""
        self._began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - self._began
            self.kernels += 1
            if self._told and self._moves():
                print("\r\033[K", end="", file=self.stream, flush=True)

    def function(self) -> None:
        """One of the functions of a kernel comes next."""
        self.functions += 1
        if self.stream is None or self.seconds + time.perf_counter() - self._began < QUIET_S:
            return
        of = f" of {self._expected}" if self._expected else ""
        text = f"{self.name}compiling kernels, once: {self.kernels + 1}{of}, {self.functions} functions"
        if self._moves():
            print(f"\r{text}\033[K", end="", file=self.stream, flush=True)
        elif not self._told:
            print(text, file=self.stream, flush=True)
        self._told = True

    def _moves(self) -> bool:
        return self.stream is not None and self.stream.isatty() and not self.name


PROGRESS = Progress(sys.stderr if multiprocessing.current_process().name == "MainProcess" else None)
"""The progress of this process. Workers are quiet unless they call `speak_as`."""


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
