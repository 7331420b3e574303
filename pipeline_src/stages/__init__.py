"""One thin command a DVC stage: ``python -m pipeline_src.stages.<system>_<verb>``."""

import os

from pipeline_src.orphans import end_with_parent

if "DVC_STAGE" in os.environ:  # here, since the modules of a stage take seconds to import
    end_with_parent()
