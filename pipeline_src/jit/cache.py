"""The disk cache of compiled kernels, with file names that depend on the code behind each kernel.

numba looks only at the file of a cached function, so a search compiled for a game would survive a change in that game's
rules. Here a compiled kernel lies in a file named by the digest of all code that it can run (`project.code`): the
import closure of its own module, those of the classes of its arguments, since the game is the type of its state, and
those of the kernels that `choice` picks by them. An edited rule never meets a stale kernel, and an edit anywhere else
costs no compilation. Checkouts and processes share the files.
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
from typing import Any

import numba
from numba.core import caching, compiler

from pipeline_src.errors import ZugwerkError
from pipeline_src.jit.choice import choices, chosen_in
from pipeline_src.jit.parts import PartLibrary, part_key
from pipeline_src.project.code import cache_root, digest, this_code

FOLDER = cache_root() / "kernels"
KEEP_S = 30 * 24 * 3600
"""Seconds without use after which a kernel is removed."""
TOUCH_S = 24 * 3600
STARTED_NS = time.time_ns()
"""Code that was edited later is not the code that this process runs."""

_caching: Any = caching  # without types


class _Results(_caching.CompileResultCacheImpl):
    """numba's serialisation of compiled code, without its search for a folder next to the source file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = SimpleNamespace(_py_file=function.__code__.co_filename)


class KernelCache(_caching.FunctionCache):
    """Compiled versions of one function, a file each; the name says all, so no index is needed."""

    _kind = ""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Nothing is read yet."""
        self._name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
        self._py_func, self._impl, self._cache_path = function, _Results(function), str(FOLDER)
        self._cache_file = _caching.IndexDataCacheFile(self._cache_path, "unused", None)
        self.enable()

    def has(self, signature: Any, codegen: Any) -> bool:
        """Whether a version is on disk."""
        name = self._file_name(signature, codegen)
        return name is not None and (FOLDER / name).exists()

    def _load_overload(self, signature: Any, target: Any) -> Any:
        name = self._file_name(signature, target.codegen())
        if name is None:
            return None
        try:
            return self._read(name, target)
        except Exception:  # a missing or torn file; for the latter the unpickler can raise any error
            return None

    def _save_overload(self, signature: Any, data: Any) -> None:
        name = self._file_name(signature, data.codegen)
        if name is None or not self._impl.check_cachable(data):
            return
        with contextlib.suppress(OSError):  # with a full or read-only disk, the run continues without a cache
            FOLDER.mkdir(parents=True, exist_ok=True)
            self._write(name, data)
            _prune()

    def _read(self, name: str, target: Any) -> Any:
        data = self._cache_file._load_data(name)
        _touch(FOLDER / name)
        return self._impl.rebuild(target, data)

    def _write(self, name: str, result: Any) -> None:
        self._cache_file._save_data(name, self._impl.reduce(result))

    def _file_name(self, signature: Any, codegen: Any) -> str | None:
        """Name of the file; None where there is none."""
        key = self.key_of(signature, codegen)
        return None if key is None else f"{self._name}{self._kind}-{key}.nbc"

    def key_of(self, signature: Any, codegen: Any) -> str | None:
        """24 hex digits of everything that decides the compiled code: sources and machine.

        None where the kernel runs code that is not first-party, or that was edited meanwhile.
        """
        modules = _modules(self._py_func.__module__, frozenset(_owners(signature)), choices())
        try:
            if this_code().changed_ns(*modules) > STARTED_NS:
                return None
            own = digest(*modules)
        except ZugwerkError:
            return None
        _, machine, body = self._index_key(signature, codegen)
        key = repr((numba.__version__, sys.version_info[:2], str(signature), machine, body, own))
        return hashlib.sha256(key.encode()).hexdigest()[:24]


class PartCache(KernelCache):
    """Likewise of parts, each without its callees, whose files it names."""

    _kind = ".part"

    def _read(self, name: str, target: Any) -> Any:
        library = self._library(name, target.codegen())
        fndesc, env, signature, reload_init = library.rest
        for reload in reload_init:
            reload()
        return compiler.compile_result(
            typing_context=target.typing_context,
            target_context=target,
            library=library,
            environment=env,
            entry_point=part_key(fndesc, env, library),
            fndesc=fndesc,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=reload_init,
        )

    def _library(self, name: str, codegen: Any) -> PartLibrary:
        """Return the content of a file, with the parts that it names."""
        if name not in _LIBRARIES:
            own_name, code, callees, rest = self._cache_file._load_data(name)
            _touch(FOLDER / name)
            library = PartLibrary(codegen, own_name)
            library.restore(code, [self._library(callee, codegen) for callee in callees])
            library.file_name, library.rest = name, rest
            _LIBRARIES[name] = library
        return _LIBRARIES[name]

    def _write(self, name: str, result: Any) -> None:
        library, fndesc = result.library, result.fndesc
        callees = [part.file_name for part in library.parts]
        if None in callees:  # code that is not on disk
            return
        fndesc.typemap = fndesc.calltypes = None  # as numba does it
        rest = (fndesc, result.environment, result.signature, result.reload_init)
        self._cache_file._save_data(name, (library.name, library.bitcode(), callees, rest))
        library.file_name, _LIBRARIES[name] = name, library


_LIBRARIES: dict[str, PartLibrary] = {}
"""Libraries of this process by file name."""


@lru_cache(maxsize=4096)
def _modules(own: str, owners: frozenset[type], _choices: int) -> tuple[str, ...]:
    """Modules whose code a function may run for states of some classes: imports, and implementations by class.

    ``_choices`` is how many there are so far, since each import may add some.
    """
    found: set[str] = set()
    more = {own, *(owner.__module__ for owner in owners)}
    while more - found:
        found |= more
        try:
            more = set(chosen_in(this_code().closure(*found), owners))
        except ZugwerkError:  # not first-party
            break
    return tuple(sorted(found))


def _owners(kind: Any) -> Iterator[type]:
    """Classes of the NamedTuples in a numba type or in a tuple of types."""
    for inner in kind if isinstance(kind, tuple) else getattr(kind, "types", ()):
        yield from _owners(inner)
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
