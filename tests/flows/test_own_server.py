import os
import subprocess
import sys
import time

import psutil
import pytest

from flows import CHECKOUT, own_server

FLOW = """
import subprocess, sys, time
from flows import own_server
own_server.guard()
server = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", own_server.SERVER])
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(server.pid, other.pid, flush=True)
time.sleep(600)
"""


def gone(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.fixture
def flow():
    process = subprocess.Popen([sys.executable, "-c", FLOW], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)
    server, other = map(int, process.stdout.readline().split())
    yield process, server, other
    for pid in (process.pid, server, other):
        if not gone(pid):
            os.kill(pid, 9)
    process.wait()
    process.stdout.close()


def test_the_server_of_a_killed_flow_ends_and_nothing_else(flow):
    process, server, other = flow
    process.kill()
    process.wait()
    deadline = time.monotonic() + 120
    while not gone(server):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not gone(other)


def test_servers_of_other_flows_are_left_alone(flow):
    _, server, _ = flow
    own_server.end_servers("of another flow")
    assert not gone(server)
