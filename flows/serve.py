"""A Prefect server on this machine with the flows deployed on it: schedule, trigger and cancel from a browser.

`python -m flows.serve` starts the server on loopback, applies prefect.yaml and starts the worker; when it ends, for
any reason, everything that it started ends too, including a flow run in the middle of a stage. The next port serves the
folder of the reports, since a browser does not follow a link from a server's page to a file, and the one after that the
pages of `zugwerk web`.
"""

import argparse
import atexit
import contextlib
import fcntl
import functools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from flows import CHECKOUT
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.project import supervise

HOST = "127.0.0.1"
POOL = "zugwerk"
REPORTS = "artifacts/reports"
PREFECT = [sys.executable, "-m", "prefect"]


def main() -> None:
    """Serve until interrupted."""
    options = _options()
    url = f"http://{HOST}:{options.port}"
    os.environ |= {
        "PREFECT_API_URL": f"{url}/api",
        "PREFECT_SERVER_UI_API_URL": f"{url}/api",  # or a page on another port than 4200 stays empty
    }
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as stack:
        stack.enter_context(_only_server_of(Path(os.environ["PREFECT_HOME"])))
        _require_free(options.port)
        os.environ["ZUGWERK_REPORTS_URL"] = stack.enter_context(_reports(options.port + 1))
        _require_free(options.port + 2)
        server = stack.enter_context(
            program([*PREFECT, "server", "start", "--host", HOST, "--port", str(options.port)])
        )
        wait_until_healthy(url, server)
        _deploy(options)
        worker = stack.enter_context(program([*PREFECT, "worker", "start", "--pool", POOL, "--name", "local"]))
        stack.enter_context(_web(options.port + 2))  # last, since it also prints that it is ready
        print(f"ready: {url} shows the flows; Ctrl-C ends the server and what it runs", flush=True)  # noqa: T201
        print(f"beside it: http://{HOST}:{options.port + 2} has the pages, with the report", flush=True)  # noqa: T201
        while server.poll() is None and worker.poll() is None:
            time.sleep(0.5)
        raise ZugwerkError("the server or the worker ended by itself; its last lines above say why")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m flows.serve",
        description="Start a Prefect server on this machine, deploy the flows on it and run them when they are due.",
        epilog="example: python -m flows.serve --port 4200 --cron '0 3 * * *' --timezone Europe/Berlin",
    )
    parser.add_argument(
        "--port",
        type=int,
        default=4200,
        help="port on loopback, %(default)d by default; reports and pages take the next two",
    )
    kept = "by default as it is on the server, at first"
    parser.add_argument("--cron", help=f"when the whole graph is brought up to date; {kept} '0 3 * * *'")
    parser.add_argument("--timezone", help=f"time zone of the schedule; {kept} UTC")
    parser.add_argument("--paused", action="store_true", help="switch the schedule off")
    return parser.parse_args()


def _deploy(options: argparse.Namespace) -> None:
    from flows.pool import prepare_pool, schedule_nightly  # here: importing prefect reads the settings made above

    prepare_pool(POOL)
    schedule_nightly(POOL, options.cron, options.timezone, options.paused)
    command = [*PREFECT, "--no-prompt", "deploy", "--all"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise ZugwerkError(f"prefect.yaml could not be deployed:\n{done.stdout}{done.stderr}")


@contextlib.contextmanager
def _web(port: int) -> Iterator[None]:
    words = ["pipeline_src.cli", "web", "--no-browser", "--host", HOST, "--port", str(port)]
    with program([sys.executable, "-m", *words]):
        yield


@contextlib.contextmanager
def program(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Run a program for the block, and pass its output on."""
    with supervise.running(command, CHECKOUT) as process:
        assert process.stdout is not None
        show = threading.Thread(target=sys.stdout.writelines, args=(process.stdout,), daemon=True)
        show.start()
        try:
            yield process
        finally:
            supervise.end(process)
            show.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log no request."""


@contextlib.contextmanager
def _reports(port: int) -> Iterator[str]:
    """Serve the folder of the report page for the block; yield its address."""
    folder = CHECKOUT / REPORTS
    _require_free(port)
    with ThreadingHTTPServer((HOST, port), functools.partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://{HOST}:{port}"
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def _only_server_of(home: Path) -> Iterator[None]:
    """Lock the home folder for the block: two servers on one database would run each schedule twice."""
    home.mkdir(parents=True, exist_ok=True)
    with open(home / "serve.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ZugwerkError(f"{home}: another server of this checkout is running; stop it first") from None
        yield


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise ZugwerkError(f"port {port}: {error}; give another with --port") from None


def wait_until_healthy(url: str, server: subprocess.Popen[str]) -> None:
    """Wait until a server answers.

    Raises:
        ZugwerkError: it has ended, or does not answer in time.
    """
    deadline = time.monotonic() + (limit_s := _start_limit_s())
    while server.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/api/health", timeout=5):  # noqa: S310
            return
        time.sleep(0.5)
    raise ZugwerkError(f"the server did not answer at {url} within {limit_s:.0f} s; the lines above may say why")


def _start_limit_s() -> float:
    """Seconds to wait for the server's first answer, Prefect's own setting; its first start sets up a database."""
    name = "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"
    try:
        return float(os.environ[name])
    except ValueError:
        raise ZugwerkError(f"{name}: {os.environ[name]!r} is no number of seconds") from None


def start() -> None:
    """Start a server for the flows of this process, unless PREFECT_API_URL names one; call it before the flow.

    Prefect's own temporary server is in the flow's process group. Ctrl-C ends both at once there, and the flow waits
    for its server for minutes; if the flow is killed, the server runs on for ever. `pipeline_src.project.supervise`
    starts one in its own session instead, so that Ctrl-C does not reach it, and it never outlives the flow.

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
    words = ["uvicorn", "--factory", "flows.serve:server_app", "--host", HOST, "--port", str(port)]
    server = stack.enter_context(program([sys.executable, "-m", *words, "--log-level", "error"]))
    wait_until_healthy(url, server)
    stack.enter_context(temporary_settings({PREFECT_API_URL: f"{url}/api", PREFECT_UI_URL: ""}))  # it has no pages


def server_app() -> Any:
    """Return Prefect's API as an ASGI app that sets up its database first."""
    from prefect.server.api.server import create_app

    return create_app(ephemeral=True, final=True)


if __name__ == "__main__":
    run_main(main)
