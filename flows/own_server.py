"""The temporary server that Prefect starts for a flow without one: it ends with the flow, even where that is killed.

Prefect stops it in an exit handler, which a kill -9 or the out-of-memory killer never reach; it would run on for ever.

    flow ==pipe==> guard (this file, in a session of its own)

The guard sees the pipe close and ends the server, which it knows by a variable that the flow's children inherit. Like
`pipeline_src.project.supervise`, this file is started by its path and imports nothing of the project.
"""

import contextlib
import os
import subprocess
import sys
import uuid

import psutil

MARK = "ZUGWERK_FLOW_RUN"
SERVER = "prefect.server.api.server:create_app"
GRACE_S = 3.0
"""How long the server may take to leave by itself, in seconds."""

_guards: list[subprocess.Popen[bytes]] = []


def guard() -> None:
    """From now on, a temporary server of this process does not outlive it; call it before the flow."""
    os.environ[MARK] = uuid.uuid4().hex
    command = [sys.executable, "-P", __file__, os.environ[MARK]]
    _guards.append(  # whose pipe is open as long as this process lives
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)  # noqa: S603
    )


def end_servers(mark: str) -> None:
    """End the servers that carry a mark."""
    servers = [process for process in psutil.process_iter() if _is_server(process, mark)]
    for process in servers:
        with contextlib.suppress(psutil.Error):
            process.terminate()
    for process in psutil.wait_procs(servers, GRACE_S)[1]:
        with contextlib.suppress(psutil.Error):
            process.kill()


def _is_server(process: psutil.Process, mark: str) -> bool:
    try:
        return SERVER in process.cmdline() and process.environ().get(MARK) == mark
    except psutil.Error:
        return False


if __name__ == "__main__":
    sys.stdin.buffer.read()
    end_servers(sys.argv[1])
