import socket
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from flows import serve
from pipeline_src.errors import ZugwerkError
from pipeline_src.project import supervise


def test_one_server_a_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with (
        serve._only_server_of(home),
        pytest.raises(ZugwerkError, match="another server"),
        serve._only_server_of(home),
    ):
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
