"""The code and the machine of a report."""

import os
import platform
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

CODE = ("dvc.yaml", "pipeline_src", "spiders")
"""Code that determines the figures."""


def commit(folder: Path = Path(), files: Sequence[str] = (*CODE, "params.yaml")) -> str | None:
    """Return the commit of the checkout, with ``+`` if one of the files differs from it; None outside git."""
    try:
        head = _git(folder, "rev-parse", "--short=10", "HEAD").strip()
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", *files)
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + "+" * bool(changed)


def _git(folder: Path, *command: str) -> str:
    return subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True, text=True).stdout  # noqa: S603, S607


GPUS = Path("/proc/driver/nvidia/gpus")
"""Has a folder for each GPU of NVIDIA."""


def hardware() -> str:
    """Return the processor and the number of cores for this process, and the GPUs, in words."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    gpus = Counter(
        line.removeprefix("Model:").strip()
        for path in sorted(GPUS.glob("*/information"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("Model:")
    )
    own = [f"{count} {name}" for name, count in gpus.items()]
    return " and ".join([*own, f"{cores} {'core' if cores == 1 else 'cores'} of {processor()}"])


def processor() -> str:
    """Return the processor's name from the operating system."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
