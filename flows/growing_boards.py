"""Self-learning on growing boards: a task for each board, then the matches, then publish.

`python -m flows.growing_boards` runs it here and now, without a server.
"""

from pathlib import Path
from typing import Annotated

from prefect import flow
from pydantic import Field

from flows import CHECKOUT
from flows.one_system import bring_and_publish
from flows.options import LIMIT_MINUTES, RETRIES, parse
from pipeline_src.errors import run_main

SYSTEM = "growing"


@flow(name="growing-boards")
def growing_boards(
    targets: list[str] | None = None,
    limit_minutes: Annotated[float, Field(gt=0)] = LIMIT_MINUTES,
    retries: Annotated[int, Field(ge=0)] = RETRIES,
    checkout: Path = CHECKOUT,
) -> None:
    """Bring the boards up to date, from the smallest to the largest, then their evaluation, and publish.

    Args:
        targets: stages or groups of dvc.yaml; all of this system, each board by itself, when none is given.
        limit_minutes: time limit of each target.
        retries: how often a failed target is tried again; it goes on where it was.
        checkout: the folder that holds dvc.yaml.
    """
    bring_and_publish(SYSTEM, targets, checkout, limit_minutes=limit_minutes, retries=retries)


def main() -> None:
    """Run the flow with the options of the command line."""
    growing_boards(
        **parse("growing_boards", "Bring the growing boards and their evaluation up to date and publish.", crawls=False)
    )


if __name__ == "__main__":
    run_main(main)
