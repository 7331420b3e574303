"""Commands that answer at once: what they can do without."""

import importlib
import sys

_BLAS = "scipy.linalg.cython_blas"


def numba_without_blas() -> None:
    """Import numba without scipy's linear algebra, which takes it a quarter of a second to find.

    Only kernels with ``np.dot`` and its like need it; this package has none.
    """
    if _BLAS in sys.modules or "numba.np.arraymath" in sys.modules:
        return
    sys.modules[_BLAS] = None  # type: ignore[assignment] # an import of it fails, for now
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        del sys.modules[_BLAS]
