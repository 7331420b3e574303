"""Tasks of a stage side by side, in processes here or on a cluster, with results that depend on neither."""

from pipeline_src.parallel.setting import Parallel
from pipeline_src.parallel.tasks import run_as_they_come, run_tasks

__all__ = ["Parallel", "run_as_they_come", "run_tasks"]
