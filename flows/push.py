"""Push the outputs of the graph to DVC's default remote, if the checkout has one."""

import subprocess
import sys
from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger

from pipeline_src.errors import ZugwerkError
from pipeline_src.project import dvc_run

ASK_LIMIT_S = 60


@task(task_run_name="push", cache_policy=NO_CACHE, persist_result=False)
def push_outputs(targets: list[str], checkout: Path, limit_s: float) -> None:
    """Push the outputs of the targets and of all that they depend on, of the whole graph when no target is given.

    Without a default remote nothing is pushed, and the log says so.

    Raises:
        ZugwerkError: see `default_remote` and `dvc_run.push`.
    """
    log = get_run_logger()
    remote = default_remote(checkout)
    if remote is None:
        log.info("nothing is pushed: DVC has no default remote here; `dvc remote add --default NAME URL` sets one")
        return
    dvc_run.push(targets, checkout, log.info, limit_s=limit_s)
    log.info("the remote '%s' is up to date", remote)


def default_remote(checkout: Path) -> str | None:
    """The name of the default remote of a checkout, whichever of DVC's configuration files sets it.

    Raises:
        ZugwerkError: DVC cannot read its configuration.
    """
    command = [sys.executable, "-P", "-m", "dvc", "config", "core.remote"]
    try:
        done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=ASK_LIMIT_S, check=True)  # noqa: S603
    except subprocess.SubprocessError as error:
        said = getattr(error, "stderr", None) or str(error)
        raise ZugwerkError(f"{checkout}: `dvc config core.remote` failed: {said.strip()}") from None
    return done.stdout.strip() or None
