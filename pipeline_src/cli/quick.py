"""Faster start of commands: skip imports that they do not need."""

import importlib
import sys

_BLAS = "scipy.linalg.cython_blas"


def numba_without_blas() -> None:
    """Import numba without scipy's linear algebra, which saves a quarter of a second.

    Only kernels with ``np.dot`` and similar functions need it, and this package has none.
    """
    if _BLAS in sys.modules or "numba.np.arraymath" in sys.modules:
        return
    sys.modules[_BLAS] = None  # type: ignore[assignment] # an import of it fails, for now
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        del sys.modules[_BLAS]
