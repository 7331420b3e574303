"""Amazons-Net: fetch the games that are new, train on all of them, evaluate and play the matches, publish.

`python -m flows.amazons_net` runs it here and now, without a server.
"""

from pathlib import Path
from typing import Annotated

from prefect import flow
from pydantic import Field

from flows import CHECKOUT
from flows.one_system import bring_and_publish
from flows.options import LIMIT_MINUTES, RETRIES, parse
from pipeline_src.errors import run_main

SYSTEM = "amazons"


@flow(name="amazons-net")
def amazons_net(
    targets: list[str] | None = None,
    refresh_crawl: bool = False,
    limit_minutes: Annotated[float, Field(gt=0)] = LIMIT_MINUTES,
    retries: Annotated[int, Field(ge=0)] = RETRIES,
    checkout: Path = CHECKOUT,
) -> None:
    """Bring Amazons-Net up to date, from the crawl to the matches, and publish its metrics and plots.

    Args:
        targets: stages or groups of dvc.yaml; all of this system when none is given.
        refresh_crawl: let the crawl fetch what is new; otherwise it stays as it is.
        limit_minutes: time limit of each target.
        retries: how often a failed target is tried again.
        checkout: the folder that holds dvc.yaml.
    """
    bring_and_publish(
        SYSTEM, targets, checkout, limit_minutes=limit_minutes, retries=retries, refresh_crawl=refresh_crawl
    )


def main() -> None:
    """Run the flow with the options of the command line."""
    amazons_net(**parse("amazons_net", "Bring Amazons-Net up to date and publish its metrics and plots."))


if __name__ == "__main__":
    run_main(main)
