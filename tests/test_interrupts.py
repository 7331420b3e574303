"""Ctrl-C while a command imports its modules: it ends at once, and no traceback is seen."""

import os
import signal
import subprocess
import sys

import pytest

from tests.layout.imports import ROOT
from tests.spiders.sites import write_params

STOP = """
import os, signal, sys

class Stop:
    \"\"\"Interrupts this process when a module is looked for.\"\"\"

    def find_spec(self, name, *_):
        if name == os.environ["STOP_AT"]:
            print("stopped", flush=True)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Stop())
"""
CRAWL = ["pipeline_src.cli", "crawl", "amazons"]
STAGE = ["pipeline_src.stage", "systems.joseki.crawl"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "module"),
    [
        (CRAWL, "typer"),
        (CRAWL, "pipeline_src.cli.project"),
        (CRAWL, "spiders.live"),
        (CRAWL, "scrapy.crawler"),
        (["pipeline_src.cli", "amazons", "perft", "1"], "numba"),
        (STAGE, "pipeline_src.records.crawl_params"),
        (STAGE, "scrapy.crawler"),
    ],
)
def test_an_interrupt_within_imports_ends_a_command_without_a_traceback(tmp_path, command, module):
    write_params(tmp_path)
    (tmp_path / "sitecustomize.py").write_text(STOP)
    paths = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]), "STOP_AT": module}
    command = [sys.executable, "-m", *command]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | paths, capture_output=True, text=True, timeout=60)
    assert done.stdout == "stopped\n"
    assert (done.returncode in (-signal.SIGINT, 130), done.stderr) == (True, "")
