"""Settings for all tests."""

from hypothesis import HealthCheck, settings
from numba.core.caching import CompileResultCacheImpl

# On a fresh machine the first example also compiles the kernels, which takes far longer than all the others.
settings.register_profile("zugwerk", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("zugwerk")

_cachable = CompileResultCacheImpl.check_cachable


def _of_tests(kind):
    """Whether a numba type is, or holds, a class that only tests can import: the state of a toy game."""
    inner = getattr(kind, "types", None) or getattr(kind, "args", None) or ()
    owner = getattr(getattr(kind, "instance_class", None), "__module__", "")
    return owner.split(".")[0] == "tests" or (isinstance(inner, tuple) and any(map(_of_tests, inner)))


def _check_cachable(self, compiled):
    """A kernel for a toy game stays in memory: a program without the tests could not read the index that names it."""
    return not _of_tests(compiled.signature) and _cachable(self, compiled)


CompileResultCacheImpl.check_cachable = _check_cachable
