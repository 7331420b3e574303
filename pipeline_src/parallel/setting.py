"""Params section ``parallel``: the workers of tasks."""

from pipeline_src.project.params import Count, Params


class Parallel(Params):
    """Workers that run tasks side by side. These params change no result."""

    workers: Count = 2
    """Number of processes on this machine; with 1 the tasks run in the main process."""
    address: str = ""
    """Address of the scheduler of a Dask cluster, all of whose workers run the tasks, instead of processes on this
    machine; e.g. tcp://10.0.0.1:8786."""
