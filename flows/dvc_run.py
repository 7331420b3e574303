"""The one place that runs `dvc repro`, `dvc push` and `zugwerk crawl`: streamed, limited, ended with their caller."""

import logging
import os
import re
import sys
import threading
import time
from collections import deque
from pathlib import Path

from flows import supervise
from pipeline_src.errors import ZugwerkError

BUSY = "is busy, it is being blocked by"
"""DVC's words when another process holds an output or dependency; `--wait-for-lock` does not cover that lock."""

FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 30.0
TAIL_LINES = 30

Logger = logging.Logger | logging.LoggerAdapter[logging.Logger]


class DvcFailedError(ZugwerkError):
    """A command of DVC failed; the text ends with its last log lines, for `dvc repro` those of the stage."""


class CrawlFailedError(ZugwerkError):
    """A crawl of the live site failed; the text ends with its last lines."""


class TimeLimitError(ZugwerkError):
    """A command was stopped because it took longer than its time limit."""


def repro(
    target: str | None,
    checkout: Path,
    log: Logger,
    *,
    limit_s: float,
    force: bool = False,
    single_item: bool = False,
) -> list[str]:
    """Bring a target of the graph up to date.

    Args:
        target: a stage or a `foreach` group of dvc.yaml, or None for the whole graph.
        checkout: the folder that holds dvc.yaml.
        log: where the lines go.
        limit_s: time limit in seconds, waiting for another DVC process included.
        force: run the stage even if nothing it depends on has changed.
        single_item: leave the stages before the target as they are.

    Returns:
        The names of the stages that ran their command, in order; empty when all was up to date.

    Raises:
        DvcFailedError, TimeLimitError: see `run_dvc`.
    """
    options = ["--force"] * force + ["--single-item"] * single_item
    return run_dvc(["repro", *options, *([target] if target else [])], checkout, log, limit_s=limit_s)


def crawl(system: str, checkout: Path, log: Logger, *, limit_s: float) -> None:
    """Fetch what is new on the live site; what came is kept, however it ends.

    Args:
        system: whose games.
        checkout: the folder that holds params.yaml.
        log: where the lines go.
        limit_s: time limit in seconds.

    Raises:
        CrawlFailedError: the site could not be crawled.
        TimeLimitError: the time limit passed.
    """
    status, tail = _attempt(["pipeline_src.cli", "crawl", system], checkout, log, time.monotonic() + limit_s, [])
    if status:
        raise CrawlFailedError(f"`zugwerk crawl {system}` failed with status {status}; its last lines:\n{_text(tail)}")


def push(targets: list[str], checkout: Path, log: Logger, *, limit_s: float) -> None:
    """Copy outputs to the default remote, those it has already left out.

    Args:
        targets: stages or `foreach` groups, whose outputs and ancestors' outputs are pushed; all when empty.
        checkout: the folder that holds dvc.yaml.
        log: where the lines go.
        limit_s: time limit in seconds, waiting for another DVC process included.

    Raises:
        DvcFailedError, TimeLimitError: see `run_dvc`.
    """
    run_dvc(["push", *(["--with-deps", *targets] if targets else [])], checkout, log, limit_s=limit_s)


def run_dvc(arguments: list[str], checkout: Path, log: Logger, *, limit_s: float) -> list[str]:
    """Run a command of DVC in a checkout.

    Its output goes line by line to ``log``. However this function is left (an error, a cancelled flow, Ctrl-C, the
    death of this process), DVC and all that its stage started end too, within `supervise.GRACE_S` or so.

    Returns:
        The names of the stages that ran their command, in order.

    Raises:
        DvcFailedError: the command failed, or another process kept the checkout busy for the whole time.
        TimeLimitError: the time limit passed.
    """
    command = ["dvc", "--wait-for-lock", *arguments]
    deadline = time.monotonic() + limit_s
    wait_s = FIRST_WAIT_S
    ran: list[str] = []
    while True:
        status, tail = _attempt(command, checkout, log, deadline, ran)
        if status == 0:
            return ran
        busy = any(BUSY in line for line in tail)
        if not busy or time.monotonic() + wait_s > deadline:
            raise DvcFailedError(f"`{' '.join(command)}` failed with status {status}; its last lines:\n{_text(tail)}")
        log.warning("another DVC process is at work in %s; trying again in %.0f s", checkout, wait_s)
        time.sleep(wait_s)
        wait_s = min(2 * wait_s, LONGEST_WAIT_S)


def _attempt(
    command: list[str], checkout: Path, log: Logger, deadline: float, ran: list[str]
) -> tuple[int, deque[str]]:
    """Run the command once; returns its status and last lines, and appends to ``ran`` the stages it ran."""
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    late = threading.Event()
    python = [sys.executable, "-P", "-m"]
    with supervise.running([*python, *command], checkout, _environment()) as process:

        def stop() -> None:
            late.set()
            supervise.end(process)

        limit = threading.Timer(deadline - time.monotonic(), stop)
        limit.start()
        try:
            assert process.stdout is not None
            for line in map(str.rstrip, process.stdout):
                if not line:
                    continue
                log.info("%s", line)
                tail.append(line)
                if started := re.match(r"Running stage '(.+)':$", line):
                    ran.append(started[1])
            status = process.wait()
        finally:
            limit.cancel()
    if late.is_set():
        raise TimeLimitError(f"`{' '.join(command)}` was stopped at its time limit; its last lines:\n{_text(tail)}")
    return status, tail


def _environment() -> dict[str, str]:
    """Stages find this interpreter as `python`, and their lines come when they are written."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return {"PATH": path, "PYTHONUNBUFFERED": "1"}


def _text(tail: deque[str]) -> str:
    return "\n".join(f"  {line}" for line in tail)
