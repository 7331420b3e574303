"""What every flow does: bring its targets up to date, one after another, then publish."""

from pathlib import Path

from flows.publish import publish
from flows.targets import bring_up_to_date, read_targets


def bring_and_publish(
    system: str | None,
    targets: list[str] | None,
    checkout: Path,
    *,
    limit_minutes: float,
    retries: int,
    refresh_crawl: bool = False,
) -> None:
    """Call it inside a flow.

    Args:
        system: whose stages and reports; None for the whole graph.
        targets: stages or groups of dvc.yaml; all of the system, each member of a group by itself, when none is given.
        checkout: the folder that holds dvc.yaml.
        limit_minutes: time limit of each target.
        retries: how often a failed target is tried again.
        refresh_crawl: let each crawl fetch what is new.

    Raises:
        ZugwerkError: see `flows.targets.read_targets` and `flows.targets.bring_up_to_date`.
    """
    outcomes = bring_up_to_date(
        targets or read_targets(checkout, system),
        checkout,
        refresh_crawl=refresh_crawl,
        limit_s=60 * limit_minutes,
        retries=retries,
    )
    publish(checkout, outcomes, system)
