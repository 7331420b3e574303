"""Which code and which machine a report was made with."""

import os
import platform
import subprocess
from pathlib import Path

CODE = ("dvc.yaml", "params.yaml", "pipeline_src", "spiders")
"""What decides over the figures."""


def commit(folder: Path = Path()) -> str | None:
    """The commit of the checkout, with ``+`` where its code or params differ from it; None outside git."""
    try:
        head = _git(folder, "rev-parse", "--short=10", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", *CODE)
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + "+" * bool(changed)


def _git(folder: Path, *command: str) -> str:
    done = subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True, text=True)  # noqa: S603, S607
    return done.stdout.strip()


def hardware() -> str:
    """The processor and how many of its cores this process may use, in words."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return f"{cores} {'core' if cores == 1 else 'cores'} of {processor()}"


def processor() -> str:
    """The processor's name, as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
