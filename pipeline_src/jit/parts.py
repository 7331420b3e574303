"""Compilation in parts, by classes of numba's compiler that are not public, and its cache on disk.

A part is a function as compiled code calls it: typed and translated to LLVM's intermediate code, and that is all. A
kernel is its own part and a wrapper that takes Python's arguments; both are linked with the parts that they call,
optimised together and made machine code.

numba's own cache looks only at the file of a cached function, so a search compiled for a game would survive a change in
that game's rules. Here a compiled kernel lies in a file named by the digest of all code that it can run
(`project.code`): the import closure of its own module, those of the classes of its arguments, since the game is the
type of its state, and those of the kernels that are chosen by them. An edited rule never meets a stale kernel, and an
edit anywhere else costs no compilation. Checkouts and processes share the files.
"""

import contextlib
import gc
import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core import caching, codegen, compiler, dispatcher, errors, ir, registry, types
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import IRLegalization

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.code import cache_root, digest, this_code

FOLDER = cache_root() / "kernels"
KEEP_S = 30 * 24 * 3600  # Seconds without use after which a kernel is removed
TOUCH_S = 24 * 3600
STARTED_NS = time.time_ns()  # Code that was edited later is not the code that this process runs

ModulesRun = Callable[[str, frozenset[type]], tuple[str, ...]]
"""Modules whose code the functions of a module may run for states of some classes."""
_caching: Any = caching  # without types
MAKES_ARRAYS = "a kernel that makes or returns arrays says so: @njit(allocates=True)"
_dynfunc = numba._dynfunc


def _name_args(record: types.Record) -> tuple[str, tuple[str]]:
    return "Record", (hashlib.sha256(record.name.encode()).hexdigest()[:16],)


# Part of the names of functions that take such arrays. numba counts the records of a process instead, and a kernel that
# one process wrote would then not find a part that another one wrote over the same file.
types.Record.mangling_args = property(_name_args)


class PartLibrary(codegen.JITCodeLibrary):
    """A function as intermediate code, and the libraries of its callees; neither is optimised further."""

    file_name: Any = None
    """File in the cache, once written."""
    rest: Any = None
    """Further data of the cache about it."""

    def _optimize_functions(self, module: Any) -> None:
        if not getattr(self.codegen, "raw", False):  # see `pipeline_src.jit.wasm`
            super()._optimize_functions(module)

    def finalize(self) -> None:
        """Take in what numba itself has compiled, and leave other parts to the kernel."""
        for library in dict.fromkeys(self._linking_libraries):
            if not isinstance(library, PartLibrary):
                self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def bitcode(self) -> bytes:
        """The function, without other parts."""
        code: bytes = self._final_module.as_bitcode()
        return code

    def restore(self, bitcode: bytes, parts: list["PartLibrary"]) -> None:
        """Take over what `bitcode` and `parts` returned in another process."""
        self._final_module = llvm.parse_bitcode(bitcode)
        self._linking_libraries: Any = parts
        self._finalize_dynamic_globals()
        self._finalized = True

    @property
    def parts(self) -> list["PartLibrary"]:
        """Other parts that it calls."""
        return [library for library in dict.fromkeys(self._linking_libraries) if isinstance(library, PartLibrary)]


def all_parts(library: PartLibrary) -> list[PartLibrary]:
    """A part and all that it runs."""
    found = {library: None}
    todo = [library]
    while todo:
        new = [part for part in todo.pop().parts if part not in found]
        found.update(dict.fromkeys(new))
        todo += new
    return list(found)


def part_key(fndesc: Any, env: Any, library: PartLibrary) -> Any:
    """Return the key by which numba knows a part."""
    return _dynfunc.make_function(fndesc.lookup_module(), fndesc.qualname.rpartition(".")[2], "", 0, env, (library,))


class PartCompiler(compiler.CompilerBase):
    """numba's way from Python to intermediate code, without wrappers."""

    part: "Part"

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, names: Any) -> None:
        """See `compiler.CompilerBase`."""
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        super().__init__(typing, target, library, args, result, flags, names)

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """See `compiler.CompilerBase`."""
        self.part.progress.function()
        target, nrt = self.state.targetctx, self.state.flags.nrt
        library = PartLibrary(target.codegen(), func.__qualname__)
        self.state.library = library
        try:
            part = super().compile_extra(func)
        except errors.NumbaError as error:
            if not nrt and MAKES_ARRAYS not in str(error):
                error.add_context(f"{func.__module__}.{func.__qualname__}: {MAKES_ARRAYS}")
            raise
        library.finalize()
        key = part_key(part.fndesc, part.environment, library)
        target.insert_user_function(key, part.fndesc, [library])
        return part._replace(entry_point=key, reload_init=[*part.reload_init, *library._reload_init])

    def _compile_bytecode(self) -> Any:
        # numba counts the functions of a process and names them so; processes share files of parts by these names.
        name = self.part.name_of((*self.state.args,))
        if name is not None:
            self.state.func_id.unique_id = name
        return super()._compile_bytecode()

    def define_pipelines(self) -> list[Any]:
        """See `compiler.CompilerBase`."""
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_BorrowedOnly, IRLegalization)
        passes.finalize()
        return [passes]


BORROWS = {"getattr", "getitem", "static_getitem", "build_tuple", "cast", "exhaust_iter", "pair_first", "pair_second"}
BORROWS |= {"getiter", "iternext", "phi", "null"}
"""Expressions whose arrays belong to the one that they are taken from."""


@register_pass(mutates_CFG=False, analysis_only=True)
class _BorrowedOnly(AnalysisPass):
    """Refuses a kernel without reference counts that would have to let go of an array, which it cannot.

    All that it holds is to be borrowed from its caller: arguments, and parts and views of them. numba itself refuses
    what allocates in the function's own code. It does not see results of calls: numba's functions that are
    written in Python, such as ``np.zeros_like``, count references for every caller.
    """

    _name = "borrowed_only"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        if state.flags.nrt:
            return False
        name = f"{state.func_id.modname}.{state.func_id.func_qualname}"
        models = state.targetctx.data_model_manager
        for block in state.func_ir.blocks.values():
            for assign in block.find_insts(ir.Assign):
                value = assign.value
                kind = state.typemap[assign.target.name]
                if not isinstance(value, ir.Expr) or value.op in BORROWS or not models[kind].contains_nrt_meminfo():
                    continue
                called = state.typemap[value.func.name] if value.op == "call" else None
                key = getattr(called, "typing_key", None)
                if not (isinstance(called, types.NamedTupleClass) or key in VIEWS or getattr(key, "borrows", False)):
                    raise errors.TypingError(f"{name} makes {kind}; {MAKES_ARRAYS}", assign.loc)
        if models[state.return_type].contains_nrt_meminfo():
            raise errors.TypingError(f"{name} returns {state.return_type}; {MAKES_ARRAYS}", state.func_ir.loc)
        return False


VIEWS = ("array.reshape", "array.view")  # Methods of which it is so, see `pipeline_src.jit.borrows`


class Part(registry.CPUDispatcher):
    """A function as compiled code calls it."""

    def __init__(self, py_func: Callable[..., Any], targetoptions: Any, progress: Any) -> None:
        """See numba; ``progress`` counts what is compiled."""
        super().__init__(py_func, None, targetoptions, type("Compiler", (PartCompiler,), {"part": self}))
        self.progress = progress

    def name_of(self, args: tuple[Any, ...]) -> str | None:
        """Return the name of the code for these argument types, equal in every process; None if it is not on disk."""
        key_of = getattr(self._cache, "key_of", None)
        return None if key_of is None else key_of(args, self.targetctx.codegen())

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """See numba: where a call leads.

        Signed integers of any size, and constants, are int64: else numba compiles the function once for each.
        """
        args, kws = [_as_any(kind) for kind in args], {name: _as_any(kind) for name, kind in kws.items()}
        return super().get_call_template(args, kws)


def _as_any(kind: Any) -> Any:
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind


class _Wrapping(dispatcher._FunctionCompiler):
    """Makes a part into a kernel."""

    def __init__(self, part: Part, usual: Any) -> None:
        self.__dict__.update(vars(usual))
        self._part = part

    def _compile_core(self, args: Any, return_type: Any) -> Any:  # noqa: ARG002 - numba's own name
        with self._part.progress.kernel(), _without_collection():
            self._part.compile((*args,))
            part = self._part.overloads[args]
            flags = compiler.Flags()
            self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
            context, fndesc, env = compiler._make_subtarget(part.target_context, flags), part.fndesc, part.environment
            library = context.codegen().create_library(part.library.name)
            library.enable_object_caching()
            for inner in all_parts(part.library):
                library.add_linking_library(inner)
            with context.push_code_library(library):
                context.create_cpython_wrapper(library, fndesc, env, None, flags.release_gil)
            run = context.get_executable(library, fndesc, env)
            kernel = part._replace(library=library, entry_point=run, target_context=context, metadata=None)
            for used in kernel._find_referenced_environments():
                library.codegen.set_env(used.env_name, used)
            return kernel


@contextmanager
def _without_collection() -> Iterator[None]:
    """Compiling makes a great many objects and little garbage: looking for it takes a tenth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class Kernel(registry.CPUDispatcher):
    """A function as Python calls it; compiled code that calls it takes its `part`."""

    def __init__(self, py_func: Callable[..., Any], targetoptions: Any, progress: Any) -> None:
        """See `Part`."""
        super().__init__(py_func, None, targetoptions)
        self.part = Part(py_func, targetoptions, progress)
        usual: Any = self._compiler
        self._compiler: Any = _Wrapping(self.part, usual)

    def keep(self, modules_run: ModulesRun) -> None:
        """Keep the compiled code on disk, from now on."""
        self._cache, self.part._cache = KernelCache(self.py_func, modules_run), PartCache(self.py_func, modules_run)

    @property
    def _numba_type_(self) -> Any:
        return types.Dispatcher(self.part)


class _Results(_caching.CompileResultCacheImpl):
    """numba's serialisation of compiled code, without its search for a folder next to the source file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = SimpleNamespace(_py_file=function.__code__.co_filename)


class KernelCache(_caching.FunctionCache):
    """Compiled versions of one function, a file each; the name says all, so no index is needed."""

    _kind = ""

    def __init__(self, function: Callable[..., Any], modules_run: ModulesRun) -> None:
        """Nothing is read yet."""
        self._modules_run = modules_run
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
        modules = self._modules_run(self._py_func.__module__, frozenset(owners(signature)))
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


_LIBRARIES: dict[str, PartLibrary] = {}  # Libraries of this process by file name


def owners(kind: Any) -> Iterator[type]:
    """Classes of the NamedTuples in a numba type or in a tuple of types."""
    for inner in kind if isinstance(kind, tuple) else getattr(kind, "types", ()):
        yield from owners(inner)
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
