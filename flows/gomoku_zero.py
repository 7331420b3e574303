"""Gomoku from self-play: a task for each generation, then the tables and ratings, then publish.

`python -m flows.gomoku_zero` runs it here and now, without a server.
"""

from pathlib import Path
from typing import Annotated

from prefect import flow
from pydantic import Field

from flows import CHECKOUT
from flows.options import LIMIT_MINUTES, RETRIES, parse
from flows.publish import publish
from flows.targets import bring_up_to_date, read_targets
from pipeline_src.errors import run_main
from pipeline_src.params.gomoku_generations import read_numbers, wanted

SYSTEM = "gomoku"
GENERATION = "gomoku_generation"


@flow(name="gomoku-zero")
def gomoku_zero(
    targets: list[str] | None = None,
    limit_minutes: Annotated[float, Field(gt=0)] = LIMIT_MINUTES,
    retries: Annotated[int, Field(ge=0)] = RETRIES,
    checkout: Path = CHECKOUT,
) -> None:
    """Bring Gomoku's generations up to date, one after another, then their evaluation, and publish.

    Args:
        targets: stages or groups of dvc.yaml; all of this system, each generation by itself, when none is given.
        limit_minutes: time limit of each target.
        retries: how often a failed target is tried again; it goes on where it was.
        checkout: the folder that holds dvc.yaml.
    """
    outcomes = bring_up_to_date(
        targets or generations_apart(read_targets(checkout, SYSTEM), checkout),
        checkout,
        refresh_crawl=False,
        limit_s=60 * limit_minutes,
        retries=retries,
    )
    publish(checkout, outcomes, SYSTEM)


def generations_apart(targets: list[str], checkout: Path) -> list[str]:
    """The targets with the group of generations replaced by its members, in their order."""
    names = wanted(len(read_numbers(checkout / "params.yaml")))
    members = [f"{GENERATION}@{name}" for name in names]
    return [one for target in targets for one in (members if target == GENERATION else [target])]


def main() -> None:
    """Run the flow with the options of the command line."""
    gomoku_zero(
        **parse("gomoku_zero", "Bring Gomoku's generations and their evaluation up to date and publish.", crawls=False)
    )


if __name__ == "__main__":
    run_main(main)
