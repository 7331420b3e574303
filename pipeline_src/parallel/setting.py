"""Params section ``parallel``: the workers of tasks."""

from typing import Literal, Self

from pydantic import model_validator

from pipeline_src.project.params import Count, Params


class Parallel(Params):
    """Workers that run tasks side by side. These params change no result."""

    backend: Literal["loky", "dask", "ray"] = "loky"
    """Backend: processes on this machine (loky of joblib), or a Dask or Ray cluster."""
    workers: Count = 2
    """Number of processes on this machine; with 1 the tasks run in the main process. A cluster uses all its workers."""
    address: str = ""
    """Address of a running cluster, e.g. tcp://10.0.0.1:8786 (dask) or 10.0.0.1:6379 (ray). If empty, dask or ray is
    started on this machine for the lifetime of the process."""

    @model_validator(mode="after")
    def _loky_is_here(self) -> Self:
        if self.address and self.backend == "loky":
            raise ValueError("address is of backend dask or ray; loky's processes are on this machine")
        return self
