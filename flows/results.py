"""The table 'published, ours, interval, ratio' and the way to the report page, as Prefect artifacts."""

import os
from pathlib import Path

from prefect import task
from prefect.artifacts import create_link_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger

from flows import CHECKOUT
from pipeline_src.project.systems import systems
from pipeline_src.report.figures import figures
from pipeline_src.report.table import line

PAGE = Path("artifacts/reports/index.html")
REPORTS_URL = "ZUGWERK_REPORTS_URL"
"""Variable with the address at which `make serve` shows the folder of the page."""
WEB_URL = "ZUGWERK_WEB_URL"
"""Variable with the address of the pages of `zugwerk web` that `make serve` shows."""

COLUMNS = ("published", "ours", "interval", "ratio", "unit", "profile", "player", "where", "command")
"""Cells of a line of the report's tables."""


@task(task_run_name="publish results", cache_policy=NO_CACHE, persist_result=False, retries=1)
def publish_results(checkout: Path, system: str | None = None) -> None:
    """Publish the results of one system or of all, and a link to the report page where there is one.

    Raises:
        ZugwerkError: metrics or params.yaml cannot be read.
    """
    log = get_run_logger()
    rows = results_table(checkout, system)
    create_table_artifact(
        key=f"{system}-results" if system else "results",
        table=rows,
        description=f"Published and ours, {system or 'all systems'}; interval: 95 %; ratio: ours / published",
    )
    log.info("published %d results, %d of them measured", len(rows), sum(row["profile"] != "-" for row in rows))
    if link := page_link(checkout):
        create_link_artifact(key="report", link=link, link_text="Report", description="The report page of the last run")
        log.info("the report page: %s", link)
    if web := os.environ.get(WEB_URL):
        link = f"{web}/#/runs"
        create_link_artifact(key="pages", link=link, link_text="In the browser", description="Figures, curves, games")


def results_table(checkout: Path, system: str | None = None) -> list[dict[str, str]]:
    """Every figure of the registry, as in the report: its values, and the profile, player, data and command of ours.

    Args:
        checkout: the folder that holds params.yaml, metrics and committed measurements.
        system: only the figures that this system's stages, or measurements beside them, make.

    Returns:
        One row a figure. What is not published, or exact, has a dash in its place.
    """
    return [
        {"system": name, "figure": figure, **{column: getattr(line(row), column) for column in COLUMNS}}
        for name, rows in figures(checkout).items()
        if system in (None, systems()[name].word or name.split("_")[0])
        for figure, row in rows.items()
    ]


def page_link(checkout: Path) -> str | None:
    """The address of the report page, None where the page has not been made."""
    page = (checkout / PAGE).resolve()
    if not page.is_file():
        return None
    served = os.environ.get(REPORTS_URL)
    return f"{served}/{PAGE.name}" if served and page == (CHECKOUT / PAGE).resolve() else page.as_uri()
