"""The joseki library: games, the library, its evaluation, then publish.

`python -m flows.joseki` runs it here and now, without a server.
"""

from pathlib import Path
from typing import Annotated

from prefect import flow
from pydantic import Field

from flows import CHECKOUT
from flows.one_system import bring_and_publish
from flows.options import LIMIT_MINUTES, RETRIES, parse
from pipeline_src.errors import run_main

SYSTEM = "joseki"


@flow(name="joseki")
def joseki(
    targets: list[str] | None = None,
    limit_minutes: Annotated[float, Field(gt=0)] = LIMIT_MINUTES,
    retries: Annotated[int, Field(ge=0)] = RETRIES,
    checkout: Path = CHECKOUT,
) -> None:
    """Bring the joseki library and its evaluation up to date, and publish.

    Args:
        targets: stages or groups of dvc.yaml; all of this system when none is given.
        limit_minutes: time limit of each target.
        retries: how often a failed target is tried again.
        checkout: the folder that holds dvc.yaml.
    """
    bring_and_publish(SYSTEM, targets, checkout, limit_minutes=limit_minutes, retries=retries)


def main() -> None:
    """Run the flow with the options of the command line."""
    joseki(**parse("joseki", "Bring the joseki library and its evaluation up to date and publish.", crawls=False))


if __name__ == "__main__":
    run_main(main)
