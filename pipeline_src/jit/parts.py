"""What our `njit` makes of a function: the kernel that Python calls, and the part that other kernels take in.

A part is typed and translated to LLVM's intermediate code, and that is all. A kernel is its own part and a wrapper that
takes Python's arguments; both are linked with the parts that they call, optimised together and made machine code.
"""

from collections.abc import Callable
from typing import Any

import numba
from numba.core import codegen, compiler, dispatcher, registry, types

_dynfunc: Any = numba._dynfunc  # type: ignore[attr-defined]


class _Library(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Functions that are linked with what they call, and not optimised."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class PartCompiler(compiler.CompilerBase):  # type: ignore[misc]
    """numba's way from Python to intermediate code, without wrappers."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, names: Any) -> None:
        """See `compiler.CompilerBase`."""
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        super().__init__(typing, target, library, args, result, flags, names)

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """See `compiler.CompilerBase`. The part gets a key by which numba finds what calls of it lead to."""
        target, library = self.state.targetctx, _Library(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library = library
        part = super().compile_extra(func)
        key = _dynfunc.make_function(part.fndesc.lookup_module(), func.__name__, "", 0, part.environment, (library,))
        target.insert_user_function(key, part.fndesc, [library])
        return part._replace(entry_point=key, reload_init=[*part.reload_init, *library._reload_init])

    def define_pipelines(self) -> list[Any]:
        """See `compiler.CompilerBase`."""
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        return [passes]


class Part(registry.CPUDispatcher):  # type: ignore[misc]
    """A function as compiled code calls it."""

    constants = False

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """See numba: where a call leads; constants as any numbers of their type, unless they are asked for."""
        if not self.constants:
            args = [types.unliteral(kind) for kind in args]
            kws = {name: types.unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(args, kws)


class _Wrapping(dispatcher._FunctionCompiler):  # type: ignore[misc]
    """Makes a part into a kernel."""

    def __init__(self, part: Part, compiler: Any) -> None:
        self.__dict__.update(vars(compiler))
        self._part = part

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        self._part.compile((*args,))
        part = self._part.overloads[args]
        context, fndesc, env = part.target_context, part.fndesc, part.environment
        library = context.codegen().create_library(part.library.name)
        library.enable_object_caching()
        library.add_linking_library(part.library)
        with context.push_code_library(library):
            context.create_cpython_wrapper(library, fndesc, env, None, self.targetoptions.get("nogil", False))
        kernel = part._replace(library=library, entry_point=context.get_executable(library, fndesc, env), metadata=None)
        for inner in kernel._find_referenced_environments():
            library.codegen.set_env(inner.env_name, inner)
        return kernel


class Kernel(registry.CPUDispatcher):  # type: ignore[misc]
    """A function as Python calls it; compiled code that calls it takes its `part`."""

    def __init__(self, py_func: Callable[..., Any], locals: Any = None, targetoptions: Any = None) -> None:
        """See numba."""
        super().__init__(py_func, locals, targetoptions)
        self.part = Part(py_func, locals, targetoptions, PartCompiler)
        self._compiler = _Wrapping(self.part, self._compiler)

    @property
    def _numba_type_(self) -> Any:
        return types.Dispatcher(self.part)
