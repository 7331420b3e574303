"""One run of the graph in a checkout, by DVC, `zugwerk repro` or the flow, which is observed and killed.

All processes of the run are found by a variable in their environment.
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
"""Seconds in which processes may end by themselves after a kill: more than the grace period of `project.supervise`."""
STAGE = "pipeline_src.stages."
Runner = Literal["dvc", "repro", "flow"]
JOBS = "2"
"""Jobs of `zugwerk repro` and of the flow."""


class Attempt:
    """A run of ``dvc repro --no-run-cache``, ``zugwerk repro`` or the flow, until it ends or is killed."""

    def __init__(
        self, checkout: Path, log: Path, mark: str, *, targets: Sequence[str] = (), runner: Runner = "dvc"
    ) -> None:
        """Start the run.

        Args:
            checkout: folder of dvc.yaml.
            log: file for its output.
            mark: value of the environment variable of its processes.
            targets: stages to bring up to date; empty means the whole graph.
            runner: DVC itself, ``zugwerk repro`` or the flow.
        """
        self.mark = mark
        command = {
            "dvc": ["dvc", "repro", "--no-run-cache", *targets],
            "repro": ["pipeline_src.cli", "repro", "--jobs", JOBS, *targets],
            "flow": [
                *("flows", "reproduce", "--jobs", JOBS, "--retries", "0", "--checkout", str(checkout)),
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
        """Return the process of a running stage, if there is one."""
        for process in marked(self.mark):
            with contextlib.suppress(psutil.Error):
                if any(word.startswith(STAGE) for word in process.cmdline()[:4]):
                    return process
        return None

    def left_after(self, limit_s: float = GONE_S) -> tuple[float, list[str]]:
        """Wait until the remaining processes after a kill have ended.

        Returns:
            Seconds until all had ended, and the command lines of those that were killed at the limit.
        """
        begin = time.monotonic()
        self.process.wait()  # it ended, was killed, or is about to end since its stage was killed
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
    """Return the environment of processes in the checkout: its code, this interpreter, a separate Prefect home."""
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
    """Return the running processes with the mark."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def stage_name(process: psutil.Process) -> str:
    """Return the stage for which DVC started this process; empty if the process has ended."""
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
