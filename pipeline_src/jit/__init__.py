"""A version of numba's ``njit`` for kernels that call kernels: each is optimised once, with its caller from Python.

numba compiles every function to machine code together with all functions that it calls, and does so again in each
caller. A search of fifty functions is therefore compiled about ten times. Here, a function called by compiled code
stays LLVM intermediate code (`parts`). Only functions called from Python are optimised and compiled to machine code,
once, with all their parts. The results are kept on disk (`cache`).
"""

from collections.abc import Callable
from typing import Any, TypeVar, overload

from numba.core import config

from pipeline_src.jit.cache import KernelCache, PartCache
from pipeline_src.jit.parts import Kernel

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def njit(function: Function) -> Function: ...
@overload
def njit(*, cache: bool = False, allocates: bool = False, **options: Any) -> Callable[[Function], Function]: ...
def njit(function: Any = None, *, cache: bool = False, allocates: bool = False, **options: Any) -> Any:
    """Compile a function when it is first called, once for each combination of argument types.

    Args:
        function: the function, in use without brackets.
        cache: whether to keep the compiled code on disk, see `cache`.
        allocates: whether the function makes or returns arrays, copies one into a slice of another, or passes on arrays
            of functions that do. Other functions count no references to their arrays, which saves an atomic operation
            for each array of each call; a function that would need to count is refused.
        options: options of ``numba.njit``.
    """

    def decorate(plain: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return plain
        kernel = Kernel(plain, targetoptions={"nopython": True, "boundscheck": None, "_nrt": allocates, **options})
        if cache:
            kernel._cache, kernel.part._cache = KernelCache(plain), PartCache(plain)
        return kernel

    return decorate if function is None else decorate(function)
