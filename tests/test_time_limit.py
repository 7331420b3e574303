"""A test that never ends is ended, also one that never leaves a kernel."""

import os
import subprocess
import sys

import pytest

from tests.layout.imports import ROOT

ENDLESS = """
import time
import numba

@numba.njit
def forever(a):
    while a >= 0:
        a = 5 * a % 7
    return a

def test_in_a_kernel():
    forever(3)

def test_in_python():
    while True:
        time.sleep(0.1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["test_in_a_kernel", "test_in_python"])
def test_an_endless_test_is_ended_and_named(tmp_path, name):
    (tmp_path / "test_endless.py").write_text(ENDLESS)
    options = ["-c", "pyproject.toml", "--rootdir", ".", "-o", "timeout=4", "-p", "tests.conftest", "-k", name]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, tmp_path],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Timeout" in done.stdout + done.stderr
    assert f"in {name}" in done.stderr or f"{name} - Failed: Timeout" in done.stdout
