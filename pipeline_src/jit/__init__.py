"""numba's ``njit`` for kernels that call kernels: each is optimised once, with the kernel that Python calls.

numba optimises every function by itself and turns it into machine code, with all that it calls in it, then does so
again in each of its callers. A search of fifty functions that call each other is so compiled ten times over. Here a
function that is called by compiled code stays LLVM's intermediate code (`parts`); only what Python calls is optimised
and made machine code, with all its parts at once. What that takes is kept on disk (`cache`).
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
def njit(
    *, cache: bool = False, allocates: bool = False, constants: bool = False, **options: Any
) -> Callable[[Function], Function]: ...
def njit(
    function: Any = None, *, cache: bool = False, allocates: bool = False, constants: bool = False, **options: Any
) -> Any:
    """Compile a function when it is first called, once for each combination of argument types.

    Args:
        function: where it is used without brackets.
        cache: keep what was compiled on disk, see `cache`.
        allocates: whether it makes or returns arrays, copies one into a slice of another, or calls what does and hands
            it on. The others count no references to the arrays that they are given, whose callers hold them: counting
            takes an atomic operation for each array of each call. One that would need to is refused.
        constants: compile it anew for each constant that a compiled caller writes as an argument.
        options: of ``numba.njit``.
    """

    def decorate(plain: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return plain
        kernel = Kernel(plain, targetoptions={"nopython": True, "boundscheck": None, "_nrt": allocates, **options})
        kernel.part.constants = constants
        if cache:
            kernel._cache, kernel.part._cache = KernelCache(plain), PartCache(plain)
        return kernel

    return decorate if function is None else decorate(function)
