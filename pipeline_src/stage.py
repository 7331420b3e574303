"""Run a stage of dvc.yaml: ``python -m pipeline_src.stage systems.amazons_net.train --model residual``.

The first word is a module below ``pipeline_src``, whose ``main`` is run, or ``MODULE:FUNCTION``; the others are options
of the stage. Code is imported by its own name and not as ``__main__``, so that workers and kernels find it. Started by
DVC, a stage refuses to run if ``artifacts/code.json`` has not the digest of its code.
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


def _checked(target: str) -> int:
    """Check the digest of a stage's code in another process, since that imports what is no part of the stage.

    Returns its id.
    """
    if child := os.fork():
        return child
    from pipeline_src.reference.stage_code import require_recorded

    run_main(lambda: require_recorded(target))
    os._exit(0)


def _begin(target: str, check: int) -> None:
    """Keep what makes the reports, since params.yaml may change while the stage runs; end with a failed check."""
    from pipeline_src.files import ORIGIN
    from pipeline_src.project.graph import made_by

    ORIGIN.update(made_by(target))
    if os.waitpid(check, 0)[1]:
        sys.exit(1)


def _check(own: set[str]) -> None:
    loaded = set(sys.modules) - own
    from pipeline_src.project.params import KEYS_READ
    from pipeline_src.reference.stage_code import check_stage

    check_stage(os.environ["DVC_STAGE"], loaded, KEYS_READ)


if __name__ == "__main__":
    end_on_interrupt(True)  # the modules of a stage take seconds to import
    if len(sys.argv) < 2:
        sys.exit("usage: python -m pipeline_src.stage MODULE[:FUNCTION] [OPTIONS]; dvc.yaml has those of the graph")
    target = os.environ.get("DVC_STAGE", "")
    if target:
        end_with_parent()
        check = _checked(target)
    main = main_of(sys.argv[1])
    if target:
        before = set(sys.modules)
        run_main(lambda: _begin(target, check))
        own = set(sys.modules) - before
        if os.environ.get("ZUGWERK_CHECK_CODE"):
            import atexit

            atexit.register(_check, own)
    run_main(lambda: main(*sys.argv[2:]))
