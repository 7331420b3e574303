"""A temporary server for a flow that is started without one, in its own session; it ends with the flow.

Prefect's own temporary server is in the flow's process group. Ctrl-C ends both at once there, and the flow waits for
its server for minutes; if the flow is killed, the server runs on for ever. `pipeline_src.project.supervise` starts
this file instead, so that Ctrl-C does not reach the server, and the server never outlives the flow.
"""

import atexit
import contextlib
import socket
import sys

from flows.serve import HOST, program, wait_until_healthy


def start() -> None:
    """Start a server for the flows of this process, unless PREFECT_API_URL names one; call it before the flow.

    Raises:
        ZugwerkError: the server does not answer.
    """
    from prefect.settings import PREFECT_API_URL, PREFECT_UI_URL, temporary_settings

    if PREFECT_API_URL.value():
        return
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    stack = contextlib.ExitStack()
    atexit.register(stack.close)  # first, so that it ends after Prefect's last requests at exit
    url = f"http://{HOST}:{port}"
    server = stack.enter_context(program([sys.executable, "-m", "flows.own_server", str(port)]))
    wait_until_healthy(url, server)
    stack.enter_context(temporary_settings({PREFECT_API_URL: f"{url}/api", PREFECT_UI_URL: ""}))  # it has no pages


def main() -> None:
    """Run the server on the port given as the only argument."""
    import uvicorn
    from prefect.server.api.server import create_app

    uvicorn.run(create_app(ephemeral=True, final=True), host=HOST, port=int(sys.argv[1]), log_level="error")


if __name__ == "__main__":
    main()
