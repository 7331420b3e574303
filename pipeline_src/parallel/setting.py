"""Params section ``parallel``: where tasks run, and how many at a time."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Parallel:
    """How tasks run; nothing here changes a result, so no stage lists this section among its params."""

    backend: Literal["loky", "dask", "ray"] = "loky"
    """Processes of joblib's loky on this machine, or a cluster's."""
    workers: int = 2
    """Processes on this machine; 1 runs the tasks in this one. A cluster at ``address`` uses all that it has."""
    address: str = ""
    """Of a running cluster, e.g. tcp://10.0.0.1:8786 (dask) or 10.0.0.1:6379 (ray); empty: dask or ray are started on
    this machine for as long as this process lives."""

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise ValueError(f"workers must be at least 1, not {self.workers}")
        if self.address and self.backend == "loky":
            raise ValueError("address is of backend dask or ray; loky's processes are on this machine")
