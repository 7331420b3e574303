"""The commands of the DVC stages, one module each: ``python -m pipeline_src.stages.<system>_<verb>``."""

import os
import sys

from pipeline_src.orphans import end_with_parent


def _check() -> None:
    loaded = set(sys.modules)
    from pipeline_src.project.loaded import check_loaded

    check_loaded(os.environ["DVC_STAGE"], loaded)


if "DVC_STAGE" in os.environ:  # here, since the modules of a stage take seconds to import
    end_with_parent()
    if os.environ.get("ZUGWERK_CHECK_CODE"):
        import atexit

        atexit.register(_check)
