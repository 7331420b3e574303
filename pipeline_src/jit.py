"""numba's ``njit`` with a cache that knows which code a kernel was made from.

numba looks only at the file of a cached function, so a search compiled for a game would survive a change in that game's
rules. Here a compiled kernel lies in a file named by the digest of all code that it can run (`project.code`): the
import closure of its own module, of the classes of its arguments, since the game is the type of its state, and of what
was implemented for them (`games.kernels.implement`). An edited rule never meets a stale kernel, and an edit anywhere
else costs no compilation. Checkouts share the files.
"""

import contextlib
import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, overload

import numba
from numba.core import caching
from numba.core.dispatcher import Dispatcher

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.code import cache_root, digest, this_code

FOLDER = cache_root() / "kernels"
KEEP_S = 30 * 24 * 3600
"""A kernel that no process has loaded for so long is removed."""
TOUCH_S = 24 * 3600
STARTED_NS = time.time_ns()
"""Code that was edited later is not the code that this process runs."""

IMPLEMENTED: list[tuple[str, type, str]] = []
"""(module of a generic function, type of states, module of the kernel that it runs for them)."""

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
_caching: Any = caching  # without types


@overload
def njit(function: Kernel) -> Kernel: ...
@overload
def njit(*, cache: bool = False, **options: Any) -> Callable[[Kernel], Kernel]: ...
def njit(function: Any = None, *, cache: bool = False, **options: Any) -> Any:
    """As ``numba.njit``; with ``cache`` the compiled kernel is kept as described above."""

    def decorate(plain: Callable[..., Any]) -> Any:
        kernel: Any = numba.njit(**options)(plain)
        if cache and isinstance(kernel, Dispatcher):  # with NUMBA_DISABLE_JIT it is the plain function
            compiled: Any = kernel
            compiled._cache = KernelCache(plain)
        return kernel

    return decorate if function is None else decorate(function)


class _Results(_caching.CompileResultCacheImpl):  # type: ignore[misc]
    """numba's own packing of what it compiled, without its search for a folder beside the source file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = SimpleNamespace(_py_file=function.__code__.co_filename)


class KernelCache(_caching.FunctionCache):  # type: ignore[misc]
    """Compiled versions of one function, a file each; the name says all, so no index is needed."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Nothing is read yet."""
        self._name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
        self._py_func, self._impl, self._cache_path = function, _Results(function), str(FOLDER)
        self._cache_file = _caching.IndexDataCacheFile(self._cache_path, "unused", None)
        self.enable()

    def _load_overload(self, signature: Any, target: Any) -> Any:
        name = self._file_name(signature, target.codegen())
        if name is None:
            return None
        try:
            data = self._cache_file._load_data(name)
        except Exception:  # none there, or a torn one, of which the unpickler raises whatever its bytes happen to say
            return None
        _touch(FOLDER / name)
        return self._impl.rebuild(target, data)

    def _save_overload(self, signature: Any, data: Any) -> None:
        name = self._file_name(signature, data.codegen)
        if name is None or not self._impl.check_cachable(data):
            return
        with contextlib.suppress(OSError):  # a full or read-only disk costs the cache, not the run
            FOLDER.mkdir(parents=True, exist_ok=True)
            self._cache_file._save_data(name, self._impl.reduce(data))
            _prune()

    def _file_name(self, signature: Any, codegen: Any) -> str | None:
        """Name of the file; None where the kernel runs code that is not first-party, or that was edited meanwhile."""
        try:
            modules = _modules(self._py_func.__module__, signature)
            if this_code().changed_ns(*modules) > STARTED_NS:
                return None
            own = digest(*modules)
        except ZugwerkError:
            return None
        _, machine, body = self._index_key(signature, codegen)
        key = repr((numba.__version__, sys.version_info[:2], str(signature), machine, body, own))
        return f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.nbc"


def _modules(own: str, signature: Any) -> list[str]:
    """Modules whose closure a kernel of module ``own`` runs for arguments of such types, in the order of their names.

    What was implemented for the types counts where the kernel's own code can call it.
    """
    classes = set(_classes(signature))
    called = set(this_code().closure(own))
    found = {module for generic, kind, module in IMPLEMENTED if kind in classes and generic in called}
    return sorted({own, *(kind.__module__ for kind in classes), *found})


def _classes(kind: Any) -> Iterator[type]:
    """The NamedTuples in a numba type or in a tuple of types."""
    for inner in kind if isinstance(kind, tuple) else getattr(kind, "types", ()):
        yield from _classes(inner)
    owner = getattr(kind, "instance_class", None)
    if owner is not None:
        yield owner


def _touch(path: Path) -> None:
    """Note that a kernel is in use, once a day."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > TOUCH_S:
            os.utime(path)


@lru_cache(maxsize=1)
def _prune() -> None:
    """Remove kernels out of use, once a process."""
    for path in FOLDER.glob("*.nbc"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > KEEP_S:
                path.unlink()
