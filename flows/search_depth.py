"""The net that chooses the search depth: label, balance and train a model at a time, evaluate, play, publish.

`python -m flows.search_depth` runs it here and now, without a server.
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
from pipeline_src.params.load import read_tree

SYSTEM = "depth"
TRAIN = "depth_train"


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
    outcomes = bring_up_to_date(
        targets or models_apart(read_targets(checkout, SYSTEM), checkout),
        checkout,
        refresh_crawl=False,
        limit_s=60 * limit_minutes,
        retries=retries,
    )
    publish(checkout, outcomes, SYSTEM)


def models_apart(targets: list[str], checkout: Path) -> list[str]:
    """The targets with the group of trainings replaced by its members, in the order of params.yaml.

    Raises:
        ZugwerkError: no params.yaml that can be read.
    """
    models = read_tree(checkout / "params.yaml").get(TRAIN, {}).get("models", {})
    members = [f"{TRAIN}@{name}" for name in models]
    return [one for target in targets for one in (members if target == TRAIN else [target])]


def main() -> None:
    """Run the flow with the options of the command line."""
    search_depth(
        **parse("search_depth", "Bring the search depth's models and matches up to date and publish.", crawls=False)
    )


if __name__ == "__main__":
    run_main(main)
