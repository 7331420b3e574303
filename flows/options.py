"""The flows' command line: the form of the browser as options, and a temporary server for a flow without one."""

import argparse
import atexit
import contextlib
import socket
import sys
from pathlib import Path
from typing import Any

from prefect import Flow

from flows import CHECKOUT
from flows.serve import HOST, program, wait_until_healthy
from pipeline_src.errors import run_main
from pipeline_src.project.dvc_run import NO_LIMIT_S
from pipeline_src.project.schedule import cores

LIMIT_MINUTES = 720.0
RETRIES = 1


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
    words = ["uvicorn", "--factory", f"{__name__}:server_app", "--host", HOST, "--port", str(port)]
    server = stack.enter_context(program([sys.executable, "-m", *words, "--log-level", "error"]))
    wait_until_healthy(url, server)
    stack.enter_context(temporary_settings({PREFECT_API_URL: f"{url}/api", PREFECT_UI_URL: ""}))  # it has no pages


def server_app() -> Any:
    """Return Prefect's API as an ASGI app that sets up its database first."""
    from prefect.server.api.server import create_app

    return create_app(ephemeral=True, final=True)


def run_here(flow: Flow[..., Any], argv: list[str]) -> None:
    """Run a flow with options as on a command line, without a server, and end the process with its exit status."""

    def run() -> None:
        options = parse(flow, argv)
        start()
        flow(**options)

    run_main(run)


def parse(flow: Flow[..., Any], argv: list[str]) -> dict[str, Any]:
    """Read the options of `python -m flows NAME`.

    Args:
        flow: the flow.
        argv: the arguments.

    Returns:
        Parameters of the flow, by name.
    """
    command = f"python -m flows {flow.name.replace('-', '_')}"
    crawls = "refresh_crawl" in flow.parameters.properties
    parser = argparse.ArgumentParser(
        prog=command,
        description=flow.description,
        epilog=f"example: {command}{' --refresh-crawl' if crawls else ''} --limit-minutes 60",
    )
    parser.add_argument(
        "--target",
        dest="targets",
        metavar="NAME",
        action="append",
        default=[],
        help="bring only this stage or group of dvc.yaml up to date, and what it depends on; may be repeated",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=cores(),
        help="busy processes and threads at a time, of all targets (default: the cores, here %(default)d)",
    )
    if crawls:
        parser.add_argument("--refresh-crawl", action="store_true", help="let the crawl fetch what is new on the site")
    parser.add_argument(
        "--limit-minutes",
        type=float,
        default=LIMIT_MINUTES,
        help="time limit of each target, and of the push (default: %(default)g)",
    )
    parser.add_argument(
        "--retries",
        type=int,
        default=RETRIES,
        help="how often a failed target, or a failed push, is tried again (default: %(default)d)",
    )
    parser.add_argument(
        "--no-push", dest="push", action="store_false", help="leave what was made out of DVC's default remote"
    )
    parser.add_argument(
        "--commit",
        action="store_true",
        help="commit dvc.lock and the reports, and push them to the branch runs/NAME of the git remote origin",
    )
    parser.add_argument(
        "--checkout", type=Path, default=CHECKOUT, help="the folder that holds dvc.yaml (default: the one of this code)"
    )
    options = parser.parse_args(argv)
    if not options.limit_minutes > 0:
        parser.error("--limit-minutes must be above 0")
    options.limit_minutes = min(options.limit_minutes, NO_LIMIT_S / 60)  # a flow's parameters are JSON, without inf
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")
    if options.retries < 0:
        parser.error("--retries must be 0 or more")
    return vars(options)
