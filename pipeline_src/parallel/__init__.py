"""Run the tasks of a stage in parallel, in local processes or on a cluster, with the same results."""

from pipeline_src.parallel.tasks import Parallel, each, run_as_they_come, run_tasks

__all__ = ["Parallel", "each", "run_as_they_come", "run_tasks"]
