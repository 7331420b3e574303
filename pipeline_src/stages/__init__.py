"""The commands of the DVC stages, one module each: ``python -m pipeline_src.stages.<system>_<verb>``."""

import os
import sys

from pipeline_src.errors import end_on_interrupt
from pipeline_src.processes import end_with_parent


def _check() -> None:
    loaded = set(sys.modules)
    from pipeline_src.project.params import KEYS_READ
    from pipeline_src.reference.stage_code import check_stage

    check_stage(os.environ["DVC_STAGE"], loaded, KEYS_READ)


# Here, since the modules of a stage take seconds to import.
if sys.argv[0] == "-m":  # Python is looking for the stage to run; no other code imports one
    end_on_interrupt(True)
if "DVC_STAGE" in os.environ:
    end_with_parent()
    if os.environ.get("ZUGWERK_CHECK_CODE"):
        import atexit

        atexit.register(_check)
