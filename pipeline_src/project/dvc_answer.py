"""Ask DVC, which runs as a command of its own: the package imports none of it."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from pipeline_src.errors import ZugwerkError


def run_dvc(project: Path, *words: str) -> str:
    """Run `dvc` and return its standard output.

    Raises:
        ZugwerkError: DVC is missing or fails.
    """
    if importlib.util.find_spec("dvc") is None:
        raise ZugwerkError("dvc is not installed for this Python; `make setup` or `pip install dvc` installs it")
    # DVC's page for plots is named relative to .dvc/. A pager or colours would corrupt the output.
    env = os.environ | {"DVC_NO_ANALYTICS": "1", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "dvc", *words]
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        said = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
        raise ZugwerkError(f"`dvc {' '.join(words[:2])}` failed: {said[0] if said else f'status {done.returncode}'}")
    return done.stdout
