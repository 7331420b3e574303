"""Params section ``parallel``: where tasks run, and how many at a time."""

from typing import Literal, Self

from pydantic import model_validator

from pipeline_src.project.params import Count, Params


class Parallel(Params):
    """How tasks run side by side; nothing here changes a result."""

    backend: Literal["loky", "dask", "ray"] = "loky"
    """Processes of joblib's loky on this machine, or a cluster's."""
    workers: Count = 2
    """Processes on this machine; 1 runs the tasks in this one. A cluster at ``address`` uses all that it has."""
    address: str = ""
    """Address of a running cluster, e.g. tcp://10.0.0.1:8786 (dask) or 10.0.0.1:6379 (ray), all of whose workers are
    used; empty: dask or ray are started on this machine for as long as this process lives."""

    @model_validator(mode="after")
    def _loky_is_here(self) -> Self:
        if self.address and self.backend == "loky":
            raise ValueError("address is of backend dask or ray; loky's processes are on this machine")
        return self
