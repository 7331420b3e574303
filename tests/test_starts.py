"""What a nursery starts is as good as what `subprocess` starts."""

import os
import signal
import subprocess
import sys
from functools import partial

import pytest

from tests.layout.imports import ROOT
from tests.starts import Start

NURSERY = partial(Start, modules=("json",))
PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
TELL = """
import json, os, signal, sys
print(json.dumps([sys.argv[1:], sys.stdin.read(), os.getcwd(), os.environ["MARK"], sys.path[0] in ("", os.getcwd()),
                  signal.getsignal(signal.SIGINT) is signal.default_int_handler, os.getsid(0) == os.getpid()]))
print("worse", file=sys.stderr)
sys.exit(3)
"""


@pytest.mark.parametrize("own", [False, True])
def test_streams_variables_folder_session_and_status_are_those_of_subprocess(tmp_path, own):
    found = []
    for begin in (subprocess.Popen, NURSERY):
        words = [sys.executable, "-c", TELL, "a", "b c"]
        with begin(words, cwd=tmp_path, env={**os.environ, "MARK": "x"}, start_new_session=own, **PIPES) as one:
            found.append((one.communicate("asked", timeout=60), one.returncode))
    assert found[0] == found[1]
    assert found[1][1] == 3


def test_module_and_file_run_as_main_program(tmp_path):
    (tmp_path / "some.py").write_text("import sys; assert __name__ == '__main__'; print(sys.argv[1:])")
    for words in (["some.py", "x"], ["-m", "some", "x"]):
        with NURSERY([sys.executable, *words], cwd=tmp_path, **PIPES) as one:
            assert one.communicate(timeout=60) == ("['x']\n", "")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_signal_reaches_it_and_is_its_status(number):
    with NURSERY([sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"], **PIPES) as one:
        assert one.stdout.readline() == "up\n"
        with pytest.raises(subprocess.TimeoutExpired):
            one.wait(0.01)
        assert one.poll() is None
        one.send_signal(number)
        assert one.wait(60) == -number


def test_error_is_reported_as_usual(tmp_path):
    with NURSERY([sys.executable, "-c", "1 / 0"], cwd=tmp_path, **PIPES) as one:
        _, errors = one.communicate(timeout=60)
    assert one.returncode == 1
    assert errors.endswith("ZeroDivisionError: division by zero\n")


# A test that never ends is ended, also one that never leaves a kernel.


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
