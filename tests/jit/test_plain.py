"""numba's own compiler in place of compilation in parts, as with a numba that was never tried."""

import os
import subprocess
import sys

import pytest

from pipeline_src.project.code import ROOT

PLAIN = os.environ | {"ZUGWERK_PLAIN_JIT": "1"}
TESTS = ("jit/test_needs", "jit/test_atomic", "search/gomoku/test_lanes", "search/gomoku/test_playouts")
"""With those of one game's rules: what every kernel has in common, in a minute or two."""
UNTRIED = """
import sys
import numba
numba.__version__ = "1.2.3"
from pipeline_src.jit import njit
print(njit(lambda x: x + 1)(1), "pipeline_src.jit.parts" in sys.modules)
"""


@pytest.mark.slow
def test_kernels_pass_their_tests_without_our_compiler():
    files = [f"tests/{name}.py" for name in (*TESTS, "games/test_conformance")]
    words = ["-q", "-m", "not slow", "-k", "gomoku or not test_conformance", *files]
    done = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, env=PLAIN, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.parametrize(("asked", "told"), [({}, True), ({"ZUGWERK_PLAIN_JIT": "1"}, False)])
def test_an_untried_numba_compiles_by_itself_and_is_named(asked, told):
    env = {name: value for name, value in os.environ.items() if name != "ZUGWERK_PLAIN_JIT"} | asked
    done = subprocess.run([sys.executable, "-c", UNTRIED], env=env, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["2", "False"]
    assert done.stderr.startswith("numba 1.2.3 was never tried") if told else not done.stderr
    assert len(done.stderr.splitlines()) == told
