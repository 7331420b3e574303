"""No file outside the folders, and faults at the start are reported in a line."""

import re
import socket
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.web.settings import Settings, open_folders


def test_files_below_the_folders_are_found_and_no_others(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a.txt").write_text("a")
    (inside / "link").symlink_to(outside)
    settings = Settings(folders=open_folders([inside]))
    assert settings.file(str(inside / "a.txt")) == inside.resolve() / "a.txt"
    for name in (outside / "a.txt", inside / "../outside/a.txt", inside / "link/a.txt", inside / "none", "\0", "/", ""):
        with pytest.raises(ZugwerkError, match="no such file below the folders"):
            settings.file(str(name))


def test_port_in_use_and_missing_folder_end_in_one_line(tmp_path):
    def told(*words):
        done = CliRunner().invoke(app, ["web", "--no-browser", *words])
        assert done.exit_code == 1
        return str(done.exception)

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert re.fullmatch(rf"cannot listen at 127.0.0.1, port {port}.*--port.*", told("--port", str(port)))
    assert told("--folder", str(tmp_path / "none")) == f"--folder {tmp_path / 'none'}: no such folder"


@pytest.mark.slow
def test_server_ending_during_an_answer_prints_nothing(tmp_path):
    command = [sys.executable, "-m", "pipeline_src.cli", "web", "--no-browser", "--port", "0", "--folder", tmp_path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        port = int(process.stdout.readline().split()[1].rstrip("/").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as wire:
            head = f"POST /api/play/board HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\ncontent-length: 9\r\n\r\n"
            wire.sendall(head.encode())  # its body never comes
            with socket.create_connection(("127.0.0.1", port)) as other:  # once this is answered, that has begun
                other.sendall(f"GET /api/none HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
                assert b"404" in other.recv(4096)
            process.terminate()
            _, said = process.communicate(timeout=240)
    assert said == ""
    assert process.returncode in (0, -15)
