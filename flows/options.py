"""The command-line face of the flows: the same options for each."""

import argparse
from pathlib import Path
from typing import Any

from flows import CHECKOUT

LIMIT_MINUTES = 720.0
RETRIES = 1


def parse(module: str, summary: str, argv: list[str] | None = None, *, crawls: bool = True) -> dict[str, Any]:
    """Read the options of `python -m flows.<module>`.

    Args:
        module: the flow's module, for the example.
        summary: what it does, in one sentence.
        argv: the arguments, the process' own by default.
        crawls: whether the flow has a crawl that may be refreshed.

    Returns:
        Parameters of the flow, by name.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m flows.{module}",
        description=summary,
        epilog=f"example: python -m flows.{module}{' --refresh-crawl' if crawls else ''} --limit-minutes 60",
    )
    parser.add_argument(
        "--target",
        dest="targets",
        metavar="NAME",
        action="append",
        help="bring only this stage or group of dvc.yaml up to date, and what it depends on; may be repeated",
    )
    if crawls:
        parser.add_argument("--refresh-crawl", action="store_true", help="let the crawl fetch what is new on the site")
    parser.add_argument(
        "--limit-minutes", type=float, default=LIMIT_MINUTES, help="time limit of each target (default: %(default)g)"
    )
    parser.add_argument(
        "--retries", type=int, default=RETRIES, help="how often a failed target is tried again (default: %(default)d)"
    )
    parser.add_argument(
        "--checkout", type=Path, default=CHECKOUT, help="the folder that holds dvc.yaml (default: the one of this code)"
    )
    options = parser.parse_args(argv)
    if not options.limit_minutes > 0:
        parser.error("--limit-minutes must be above 0")
    if options.retries < 0:
        parser.error("--retries must be 0 or more")
    return vars(options)
