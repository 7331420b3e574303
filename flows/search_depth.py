"""The net that chooses the search depth: label, balance and train a model at a time, evaluate, play, publish.

`python -m flows.search_depth` runs it here and now, without a server.
"""

from pathlib import Path
from typing import Annotated

from prefect import flow
from pydantic import Field

from flows import CHECKOUT
from flows.one_system import bring_and_publish
from flows.options import LIMIT_MINUTES, RETRIES, parse
from pipeline_src.errors import run_main

SYSTEM = "depth"


@flow(name="search-depth")
def search_depth(
    targets: list[str] | None = None,
    limit_minutes: Annotated[float, Field(gt=0)] = LIMIT_MINUTES,
    retries: Annotated[int, Field(ge=0)] = RETRIES,
    checkout: Path = CHECKOUT,
) -> None:
    """Bring the search depth's labels, models, evaluation and matches up to date, and publish them.

    Args:
        targets: stages or groups of dvc.yaml; all of this system, each model by itself, when none is given.
        limit_minutes: time limit of each target.
        retries: how often a failed target is tried again; labels, training and matches go on where they were.
        checkout: the folder that holds dvc.yaml.
    """
    bring_and_publish(SYSTEM, targets, checkout, limit_minutes=limit_minutes, retries=retries)


def main() -> None:
    """Run the flow with the options of the command line."""
    search_depth(
        **parse("search_depth", "Bring the search depth's models and matches up to date and publish.", crawls=False)
    )


if __name__ == "__main__":
    run_main(main)
