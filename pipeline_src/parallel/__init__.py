"""Run the tasks of a stage in parallel, in local processes or on a cluster, with the same results."""

from pipeline_src.parallel.setting import Parallel
from pipeline_src.parallel.tasks import each, run_as_they_come, run_tasks

__all__ = ["Parallel", "each", "run_as_they_come", "run_tasks"]
