"""Run a stage of dvc.yaml: ``python -m pipeline_src.stage systems.amazons_net.train --model residual``.

The first word is a module below ``pipeline_src``, whose ``main`` is run, or ``MODULE:FUNCTION``; the others are options
of the stage. Code is imported by its own name and not as ``__main__``, so that workers and kernels find it.
"""

import importlib
import os
import sys
from collections.abc import Callable

from pipeline_src.errors import end_on_interrupt, run_main
from pipeline_src.processes import end_with_parent


def main_of(name: str) -> Callable[..., None]:
    """Return the function that ``MODULE`` or ``MODULE:FUNCTION`` names."""
    module, _, function = name.partition(":")
    main: Callable[..., None] = getattr(importlib.import_module(f"pipeline_src.{module}"), function or "main")
    return main


def _check() -> None:
    loaded = set(sys.modules)
    from pipeline_src.project.params import KEYS_READ
    from pipeline_src.reference.stage_code import check_stage

    check_stage(os.environ["DVC_STAGE"], loaded, KEYS_READ)


if __name__ == "__main__":
    end_on_interrupt(True)  # the modules of a stage take seconds to import
    if "DVC_STAGE" in os.environ:
        end_with_parent()
        if os.environ.get("ZUGWERK_CHECK_CODE"):
            import atexit

            atexit.register(_check)
    if len(sys.argv) < 2:
        sys.exit("usage: python -m pipeline_src.stage MODULE[:FUNCTION] [OPTIONS]; dvc.yaml has those of the graph")
    main = main_of(sys.argv[1])
    run_main(lambda: main(*sys.argv[2:]))
