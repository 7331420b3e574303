import os
import subprocess
import sys
import time

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows import CHECKOUT, options, serve
from pipeline_src.errors import ZugwerkError

FLOW = """
import time
from prefect.settings import PREFECT_API_URL
from flows import own_server
own_server.start()
print(PREFECT_API_URL.value(), flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_the_server_ends_with_a_killed_flow(tmp_path):
    others = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")}
    environment = others | {"PREFECT_HOME": str(tmp_path)}
    command = [sys.executable, "-c", FLOW]
    with subprocess.Popen(command, cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, text=True) as flow:
        port = int(flow.stdout.readline().removesuffix("/api\n").rpartition(":")[2])
        with pytest.raises(ZugwerkError, match="Address already in use"):
            serve._require_free(port)
        flow.kill()
    deadline = time.monotonic() + 60
    while True:
        try:
            return serve._require_free(port)
        except ZugwerkError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_no_server_is_started_if_an_address_is_set(monkeypatch):
    monkeypatch.setattr(options, "program", lambda _: pytest.fail("a server was started"))
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        options.start()
        assert PREFECT_API_URL.value() == "http://127.0.0.1:9/api"
