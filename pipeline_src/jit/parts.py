"""The results of our `njit`: the kernel that Python calls, and the part that other kernels link.

A part is typed and translated to LLVM's intermediate code, and that is all. A kernel is its own part and a wrapper that
takes Python's arguments; both are linked with the parts that they call, optimised together and made machine code.
"""

import gc
import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import codegen, compiler, dispatcher, errors, ir, registry, types
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import IRLegalization

from pipeline_src.jit.progress import PROGRESS

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
        PROGRESS.function()
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
                if not isinstance(called, types.NamedTupleClass) and getattr(called, "typing_key", None) not in VIEWS:
                    raise errors.TypingError(f"{name} makes {kind}; {MAKES_ARRAYS}", assign.loc)
        if models[state.return_type].contains_nrt_meminfo():
            raise errors.TypingError(f"{name} returns {state.return_type}; {MAKES_ARRAYS}", state.func_ir.loc)
        return False


VIEWS: set[Any] = {"array.reshape", "array.view"}
"""Functions that numba writes into their caller's own code (`lower_builtin`) and that give views of their arguments."""


class Part(registry.CPUDispatcher):
    """A function as compiled code calls it."""

    def __init__(self, py_func: Callable[..., Any], targetoptions: Any) -> None:
        """See numba."""
        super().__init__(py_func, None, targetoptions, type("Compiler", (PartCompiler,), {"part": self}))

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
        with PROGRESS.kernel(), _without_collection():
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


_PLAIN = threading.local()


@contextmanager
def plainly() -> Iterator[None]:
    """Compile nothing in this thread within the block, nor wait for it: kernels that are not there yet run as Python.

    That is a hundred times as slow, and enough for single moves while another thread compiles.
    """
    was = getattr(_PLAIN, "wanted", False)
    _PLAIN.wanted = True
    try:
        with np.errstate(over="ignore"):  # hashes and random numbers, as in compiled code
            yield
    finally:
        _PLAIN.wanted = was


class Kernel(registry.CPUDispatcher):
    """A function as Python calls it; compiled code that calls it takes its `part`."""

    def __init__(self, py_func: Callable[..., Any], targetoptions: Any) -> None:
        """See numba."""
        super().__init__(py_func, None, targetoptions)
        self.part = Part(py_func, targetoptions)
        usual: Any = self._compiler
        self._compiler: Any = _Wrapping(self.part, usual)

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        return self.py_func if getattr(_PLAIN, "wanted", False) else super()._compile_for_args(*args, **kws)

    @property
    def _numba_type_(self) -> Any:
        return types.Dispatcher(self.part)
