"""`zugwerk crawl` as a flow runs it: streamed, limited in time, ended with the flow; no plain `dvc repro` does this."""

import time
from collections.abc import Callable
from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.children import Children
from pipeline_src.project.dvc_run import attempt
from pipeline_src.project.params import PARAMS_FILE, read_tree


class CrawlFailedError(ZugwerkError):
    """A crawl of the live site failed; the text ends with its last lines."""


def reads_live(target: str, checkout: Path) -> bool:
    """Whether a target reads what `zugwerk crawl` fetches: by its ``source`` in params.yaml."""
    if not target.endswith("_crawl"):
        return False
    source = read_tree(checkout / PARAMS_FILE).get(target, {}).get("source", "")
    return Path(source) == Path(f"artifacts/raw/{target.removesuffix('_crawl')}/live")


def crawl(system: str, checkout: Path, say: Callable[[str], object], children: Children, *, limit_s: float) -> None:
    """Fetch what is new on the live site; what came is kept, however it ends.

    Args:
        system: whose games.
        checkout: the folder that holds params.yaml.
        say: takes each line of the output.
        children: what the command runs among.
        limit_s: time limit in seconds.

    Raises:
        CrawlFailedError: the site could not be crawled.
        TimeLimitError: the time limit passed.
        EndedError: it was ended together with the other ``children``.
    """
    command = ["pipeline_src.cli", "crawl", system]
    status, tail = attempt(command, checkout, say, children, time.monotonic() + limit_s, {})
    if status:
        children.check()
        last = "\n".join(tail)
        raise CrawlFailedError(f"`zugwerk crawl {system}` failed with status {status}; its last lines:\n{last}")
