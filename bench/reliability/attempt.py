"""One run of the graph in a checkout, by DVC, `zugwerk repro` or the flow, that is watched and struck down.

Every process of it, wherever it has moved, carries a variable in its environment, and is found by that.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import psutil

MARK = "ZUGWERK_KILL_SWEEP"
POLL_S = 0.05
GONE_S = 12.0
"""How long what is left after a kill may take to end by itself: more than the grace of `project.supervise`."""
STAGE = "pipeline_src.stages."
Runner = Literal["dvc", "repro", "flow"]
JOBS = "2"
"""Of those that run stages side by side."""


class Attempt:
    """A run of ``dvc repro --no-run-cache``, or of what runs stages side by side, until it ends or is killed."""

    def __init__(
        self, checkout: Path, log: Path, mark: str, *, targets: Sequence[str] = (), runner: Runner = "dvc"
    ) -> None:
        """Start it.

        Args:
            checkout: where dvc.yaml is.
            log: file that takes what it writes.
            mark: value of the variable that its processes carry.
            targets: stages to bring up to date; none is the whole graph.
            runner: DVC itself, ``zugwerk repro`` or the flow.
        """
        self.mark = mark
        command = {
            "dvc": ["dvc", "repro", "--no-run-cache", *targets],
            "repro": ["pipeline_src.cli", "repro", "--jobs", JOBS, *targets],
            "flow": [
                *("flows.reproduce", "--jobs", JOBS, "--retries", "0", "--checkout", str(checkout)),
                *(word for target in targets for word in ("--target", target)),
            ],
        }[runner]
        with open(log, "ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=checkout,
                env=environment(checkout) | {MARK: mark},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def stage(self) -> psutil.Process | None:
        """The process of a stage that runs now, if there is one."""
        for process in marked(self.mark):
            with contextlib.suppress(psutil.Error):
                if any(word.startswith(STAGE) for word in process.cmdline()[:4]):
                    return process
        return None

    def left_after(self, limit_s: float = GONE_S) -> tuple[float, list[str]]:
        """Wait for what a kill has left to end by itself.

        Returns:
            Seconds until nothing was left, and the command lines of what was left at the limit, which is then killed.
        """
        begin = time.monotonic()
        self.process.wait()  # it ended, or it was struck, or its stage was and it is about to leave
        while (left := marked(self.mark)) and time.monotonic() - begin < limit_s:
            time.sleep(POLL_S)
        seconds = time.monotonic() - begin
        return seconds, [line for process in left if (line := _end(process))]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        while left := marked(self.mark):
            for process in left:
                _end(process)
            time.sleep(POLL_S)
        self.process.wait()


def environment(checkout: Path) -> dict[str, str]:
    """Of all that runs in the checkout: its own code, this interpreter, and a home of its own for Prefect."""
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
        "PYTHONPATH": str(checkout),
        "PREFECT_HOME": str(checkout.parent / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "DVC_NO_ANALYTICS": "1",
    }


def marked(mark: str) -> list[psutil.Process]:
    """The living processes that carry the mark."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def stage_name(process: psutil.Process) -> str:
    """The stage that DVC started this process for; empty where it is already gone."""
    with contextlib.suppress(psutil.Error):
        return process.environ().get("DVC_STAGE", "")
    return ""


def strike(pid: int) -> None:
    """Kill -9."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _end(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        line = " ".join(process.cmdline())
        strike(process.pid)
        return line
    return ""
