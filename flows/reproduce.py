"""The whole graph: bring every target up to date, then publish its metrics and plots.

`python -m flows.reproduce` runs it here and now, without a server.
"""

from pathlib import Path
from typing import Annotated

from prefect import flow
from pydantic import Field

from flows import CHECKOUT
from flows.one_system import bring_and_publish
from flows.options import LIMIT_MINUTES, RETRIES, parse
from pipeline_src.errors import run_main


@flow(name="reproduce")
def reproduce(
    targets: list[str] | None = None,
    refresh_crawl: bool = False,
    limit_minutes: Annotated[float, Field(gt=0)] = LIMIT_MINUTES,
    retries: Annotated[int, Field(ge=0)] = RETRIES,
    checkout: Path = CHECKOUT,
) -> None:
    """Bring the graph of dvc.yaml up to date, target by target, and publish its metrics and plots.

    Args:
        targets: stages or groups of dvc.yaml; all of them when none is given.
        refresh_crawl: let the crawls fetch what is new; otherwise they stay as they are.
        limit_minutes: time limit of each target.
        retries: how often a failed target is tried again.
        checkout: the folder that holds dvc.yaml.
    """
    bring_and_publish(
        None, targets, checkout, limit_minutes=limit_minutes, retries=retries, refresh_crawl=refresh_crawl
    )


def main() -> None:
    """Run the flow with the options of the command line."""
    reproduce(**parse("reproduce", "Bring the whole graph up to date and publish its metrics and plots."))


if __name__ == "__main__":
    run_main(main)
