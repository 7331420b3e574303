"""A flow for the whole graph, and one for each system that declares one (`pipeline_src.project.systems.Flow`).

Each brings targets up to date, side by side if possible, pushes the outputs, and publishes the headline figures.
`python -m flows NAME` runs one here and now, without a server; prefect.yaml names them by `FLOWS`.
"""

import inspect
from pathlib import Path
from typing import Annotated, Any

from prefect import Flow, flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from pydantic import Field

from flows import CHECKOUT
from flows.again import after_crash
from flows.options import LIMIT_MINUTES, RETRIES
from flows.overlap import left_out
from flows.publish import publish_results, push_commit, push_outputs
from flows.targets import bring_up_to_date, tried_again
from pipeline_src.project.schedule import cores
from pipeline_src.project.systems import systems


def system_flow(name: str, system: str | None, summary: str, *, crawls: bool = False) -> Flow[..., State[Any] | None]:
    """A flow over the stages of a system or, with None, over the whole graph.

    Args:
        name: the flow's name in the browser.
        system: prefix of the names of its stages, and name of the folder of its reports.
        summary: description in a sentence or two; the text above the flow's form in the browser.
        crawls: whether the stages include a crawl, so that `refresh_crawl` has an effect.
    """

    def bring_and_publish(
        targets: tuple[str, ...] = (),
        jobs: Annotated[int, Field(gt=0)] = cores(),
        refresh_crawl: bool = False,
        limit_minutes: Annotated[float, Field(gt=0)] = LIMIT_MINUTES,
        retries: Annotated[int, Field(ge=0)] = RETRIES,
        push: bool = True,
        commit: bool = False,
        checkout: Path = CHECKOUT,
    ) -> State[Any] | None:
        """See ``summary``; Prefect shows the lines below in the form.

        Args:
            targets: stages or groups of dvc.yaml, with all that they depend on; all of them when none is given.
            jobs: busy processes and threads at a time, of all targets.
            refresh_crawl: let the crawl fetch what is new; otherwise it stays as it is.
            limit_minutes: time limit of each target, and of the push.
            retries: how often a failed target, or a failed push, is tried again; it resumes where it was.
            push: copy what was made to DVC's default remote, where the checkout has one.
            commit: commit dvc.lock and the reports, and push them to the branch runs/NAME of the git remote origin,
                NAME being the run's; for checkouts on other machines.
            checkout: the folder that holds dvc.yaml.
        """
        if out := left_out():
            return out
        limit_s = 60 * limit_minutes
        outcomes = bring_up_to_date(
            list(targets),
            system,
            checkout,
            jobs=jobs,
            refresh_crawl=refresh_crawl,
            limit_s=limit_s,
            retries=retries,
        )
        if push:
            pushed = [one.target for one in outcomes] if targets or system else []
            tried_again(push_outputs, retries)(pushed, checkout, limit_s)
        if commit:
            tried_again(push_commit, retries)(checkout, flow_run.get_name() or "unnamed")
        publish_results(checkout, system)
        return None

    if not crawls:
        whole = inspect.signature(bring_and_publish)
        kept = [parameter for parameter in whole.parameters.values() if parameter.name != "refresh_crawl"]
        setattr(bring_and_publish, "__signature__", whole.replace(parameters=kept))  # noqa: B010  unknown to mypy
    return flow(name=name, description=summary, on_crashed=[after_crash])(bring_and_publish)


FLOWS = {
    "reproduce": system_flow(
        "reproduce",
        None,
        "Bring the whole graph up to date, target by target; push what was made, publish the headline figures.",
        crawls=True,
    ),
    **{
        name: system_flow(name.replace("_", "-"), system.word, system.flow.summary, crawls=system.flow.crawls)
        for name, system in systems().items()
        if system.flow
    },
}
globals().update(FLOWS)  # Prefect finds a flow by a name in this file
