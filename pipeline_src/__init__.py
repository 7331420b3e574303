"""Zugwerk: one reproducible pipeline for board-game AI.

docs/reference/api.md shows the calls that a notebook needs. The engine packages (`games`, `records`, `search`,
`players`, `arena`) offer their main names at the top and import the module behind a name when it is first used.

Importing the package turns off onnxruntime's telemetry: from version 1.29 on, its builds for Linux send events to their
maker, the first of them at import, before `onnxruntime.disable_telemetry_events` can be called. So the environment
variable is set here.
"""

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__version__ = "0.2.0"

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def exports(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__``, which imports the module behind a name when the name is first used.

    Args:
        package: full name of the package.
        modules: for each exported name, its module below the package.
    """

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return find
