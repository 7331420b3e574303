import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

import flows
from flows import CHECKOUT, serve
from pipeline_src.errors import ZugwerkError
from pipeline_src.project import supervise


def test_one_server_a_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serve._only_server_of(home), pytest.raises(ZugwerkError, match="another server"), serve._only_server_of(home):
        pass
    with serve._only_server_of(tmp_path / "home"):
        pass


def test_a_port_in_use_is_named() -> None:
    with socket.socket() as other:
        other.bind((serve.HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ZugwerkError, match=f"port {port}: .*--port"):
            serve._require_free(port)
    with pytest.raises(ZugwerkError, match=r"port 70000: .*--port"):
        serve._require_free(70000)


@pytest.mark.parametrize(("limit", "message"), [("0.1", "within 0 s"), ("soon", "'soon' is no number of seconds")])
def test_server_has_the_time_of_the_setting_to_answer(monkeypatch, limit, message):
    monkeypatch.setenv("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", limit)
    silent = subprocess.Popen(["sleep", "60"])
    try:
        with pytest.raises(ZugwerkError, match=message):
            serve.wait_until_healthy("http://127.0.0.1:9", silent)
    finally:
        silent.kill()
        silent.wait()


def test_the_folder_of_reports_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "CHECKOUT", tmp_path)
    with socket.socket() as other:
        other.bind((serve.HOST, 0))
        port = other.getsockname()[1]
    with serve._reports(port) as url:
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{url}/index.html")
        (tmp_path / serve.REPORTS).mkdir(parents=True)
        (tmp_path / serve.REPORTS / "index.html").write_text("made later")
        with urllib.request.urlopen(f"{url}/index.html") as page:
            assert page.read() == b"made later"
    serve._require_free(port)


def test_pages_are_served_and_end_with_the_server() -> None:
    with socket.socket() as other:
        other.bind((serve.HOST, 0))
        port = other.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with serve._web(port):
        for _ in range(1200):
            try:
                with urllib.request.urlopen(f"{url}/", timeout=60) as page:
                    assert b"Zugwerk" in page.read()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise AssertionError("no answer")
    serve._require_free(port)


def test_ended_server_is_not_waited_for(tmp_path: Path) -> None:
    with (
        supervise.running([sys.executable, "-c", "pass"], tmp_path) as process,
        pytest.raises(ZugwerkError, match="did not answer"),
    ):
        serve.wait_until_healthy("http://127.0.0.1:9", process)


FLOW = """
import time
from prefect.settings import PREFECT_API_URL
from flows import serve
serve.start()
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
    monkeypatch.setattr(serve, "program", lambda _: pytest.fail("a server was started"))
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        serve.start()
        assert PREFECT_API_URL.value() == "http://127.0.0.1:9/api"


@pytest.mark.slow
def test_settings_are_prefects_and_existing_ones_win():
    program = (
        "import flows; from prefect.settings import get_current_settings; "
        "now = get_current_settings().server; "
        "print(now.ephemeral.startup_timeout_seconds, now.api.cors_allowed_origins)"
    )
    name = "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"
    own = "http://127.0.0.1:4200"
    env = {key: value for key, value in os.environ.items() if key not in flows.SETTINGS}
    for given, expected in (({}, "300"), ({name: "7"}, "7")):
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd=flows.CHECKOUT, env=env | given, capture_output=True, text=True, check=True)
        assert done.stdout.split() == [expected, own]
