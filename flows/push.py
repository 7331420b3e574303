"""Push the outputs of the graph to DVC's default remote, if the checkout has one."""

from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger

from pipeline_src.project import dvc_run


@task(task_run_name="push", cache_policy=NO_CACHE, persist_result=False)
def push_outputs(targets: list[str], checkout: Path, limit_s: float) -> None:
    """Push the outputs of the targets and of all that they depend on, of the whole graph when no target is given.

    Without a default remote nothing is pushed, and the log says so.

    Raises:
        ZugwerkError: see `dvc_run.ask_dvc` and `dvc_run.push`.
    """
    log = get_run_logger()
    remote = dvc_run.ask_dvc(checkout, "config", "core.remote").strip()
    if not remote:
        log.info("nothing is pushed: DVC has no default remote here; `dvc remote add --default NAME URL` sets one")
        return
    dvc_run.push(targets, checkout, log.info, limit_s=limit_s)
    log.info("the remote '%s' is up to date", remote)
