"""Parallel work declares its section of params.yaml, and the project's figures of reliability."""

from pipeline_src.parallel.tasks import Parallel
from pipeline_src.project.systems import Figure, System

SYSTEM = System(
    name="reliability",
    title="Reliability",
    summary="The whole graph killed at random moments, every reader given hostile text, the same tasks on Dask.",
    page="faults.md",
    figures={
        "kills": Figure("kills (SIGKILL) of a stage, of DVC or of a flow at random moments", "kills"),
        "kills_same_bytes": Figure("kills after which the run ended in the same bytes as an undisturbed one", "kills"),
        "hostile_records": Figure("hostile texts given to the readers", "texts"),
        "hostile_crashes": Figure("hostile texts that led to a crash, a hang or a file written elsewhere", "texts"),
        "dask_same_bytes": Figure("outputs with the same bytes on Dask", "fraction"),
    },
    params={"parallel": Parallel},
)
