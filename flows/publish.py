"""Steps after a run: outputs are pushed to DVC's default remote; headline figures and the report become artifacts."""

import os
import socket
import subprocess
from pathlib import Path

from prefect import task
from prefect.artifacts import create_link_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger

from flows import CHECKOUT
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.dvc_run import LOCK, ask_dvc, push
from pipeline_src.project.params import read_tree
from pipeline_src.project.systems import systems
from pipeline_src.report.figures import figures
from pipeline_src.report.page import line

PAGE = Path("artifacts/reports/index.html")
REPORTS_URL = "ZUGWERK_REPORTS_URL"  # Environment variable with the address of the page's folder under `make serve`
COLUMNS = ("published", "ours", "interval", "ratio", "unit", "profile", "player", "where", "command")
"""Cells of a line of the report's tables."""


@task(task_run_name="push", cache_policy=NO_CACHE, persist_result=False)
def push_outputs(targets: list[str], checkout: Path, limit_s: float) -> None:
    """Push the outputs of the targets and of their dependencies; without targets, of the whole graph.

    Without a default remote nothing is pushed, and the log says so.

    Raises:
        ZugwerkError: see `ask_dvc` and `push`.
    """
    log = get_run_logger()
    remote = ask_dvc(checkout, "config", "core.remote").strip()
    if not remote:
        log.info("nothing is pushed: DVC has no default remote here; `dvc remote add --default NAME URL` sets one")
        return
    push(targets, checkout, log.info, limit_s=limit_s)
    log.info("the remote '%s' is up to date", remote)


@task(task_run_name="commit", cache_policy=NO_CACHE, persist_result=False)
def push_commit(checkout: Path, run: str) -> None:
    """Commit dvc.lock and the outputs that git keeps, nothing else, and push to `origin` as the branch ``runs/<run>``.

    Raises:
        ZugwerkError: dvc.lock cannot be read, or git fails; the message ends with git's output.
    """
    machine = socket.gethostname()
    author = ["-c", "user.name=Zugwerk", "-c", f"user.email=zugwerk@{machine}"]
    branch = f"runs/{run}"
    outs = [out["path"] for stage in read_tree(checkout / LOCK)["stages"].values() for out in stage.get("outs", ())]
    files = _git(checkout, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", LOCK, *outs)
    paths = sorted(set(files.split("\0")) - {""})
    message = f"Results of {run} on {machine}"
    _git(checkout, "add", "--", *paths)
    _git(checkout, *author, "commit", "--quiet", "--allow-empty", "--message", message, "--only", "--", *paths)
    _git(checkout, "push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")
    get_run_logger().info("dvc.lock and the reports are in the branch '%s' of origin", branch)


def _git(checkout: Path, *words: str) -> str:
    command = ["git", "--literal-pathspecs", *words]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise ZugwerkError(f"`git {' '.join(words)}` failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


@task(task_run_name="publish results", cache_policy=NO_CACHE, persist_result=False, retries=1)
def publish_results(checkout: Path, system: str | None = None) -> None:
    """Publish the results of one system or of all, and a link to the report page if there is one.

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


def results_table(checkout: Path, system: str | None = None) -> list[dict[str, str]]:
    """Every figure of the registry, as in the report: its values, and the profile, player, data and command of ours.

    Args:
        checkout: the folder that holds params.yaml, metrics and committed measurements.
        system: only the figures that this system's stages, or separate measurements, make.

    Returns:
        One row a figure; a dash for a missing published value or interval.
    """
    return [
        {"system": name, "figure": figure, **{column: getattr(line(row), column) for column in COLUMNS}}
        for name, rows in figures(checkout).items()
        if system in (None, systems()[name].word or name.split("_")[0])
        for figure, row in rows.items()
    ]


def page_link(checkout: Path) -> str | None:
    """Address of the report page; None if it has not been made."""
    page = (checkout / PAGE).resolve()
    if not page.is_file():
        return None
    served = os.environ.get(REPORTS_URL)
    return f"{served}/{PAGE.name}" if served and page == (CHECKOUT / PAGE).resolve() else page.as_uri()
