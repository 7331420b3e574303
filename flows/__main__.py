"""Run a flow now, without a server: ``python -m flows reproduce``. Its options are the form of the browser."""

import argparse
import inspect
import sys
from typing import Any

from prefect import Flow

from flows.serve import start
from flows.systems import FLOWS
from pipeline_src.errors import run_main
from pipeline_src.project.dvc_run import NO_LIMIT_S


def parse(flow: Flow[..., Any], argv: list[str]) -> dict[str, Any]:
    """Return the parameters of a flow, by name, from the options of `python -m flows NAME`."""
    command = f"python -m flows {flow.name.replace('-', '_')}"
    example = f"example: {command} --limit-minutes 60"
    parser = argparse.ArgumentParser(prog=command, description=flow.description, epilog=example)
    defaults = {one.name: one.default for one in inspect.signature(flow.fn).parameters.values()}
    form = {name: (f"--{name.replace('_', '-')}", field) for name, field in flow.parameters.properties.items()}
    for name, (option, field) in form.items():
        default, about = defaults[name], field["description"]
        if name == "targets":
            parser.add_argument("--target", dest=name, metavar="NAME", action="append", default=[], help=about)
        elif isinstance(default, bool):
            parser.add_argument(option, action=argparse.BooleanOptionalAction, default=default, help=about)
        else:
            about += " (default: %(default)s)"
            parser.add_argument(option, type=type(default), default=default, help=about)
    options = vars(parser.parse_args(argv))
    for name, (option, field) in form.items():
        if "exclusiveMinimum" in field and not options[name] > 0:
            parser.error(f"{option} must be above 0")
        if "minimum" in field and options[name] < 0:
            parser.error(f"{option} must be 0 or more")
    options["limit_minutes"] = min(options["limit_minutes"], NO_LIMIT_S / 60)  # parameters are JSON, without inf
    return options


def main() -> None:
    """Run the flow that the first word names."""
    parser = argparse.ArgumentParser(prog="python -m flows", description=__doc__)
    parser.add_argument(
        "flow", choices=FLOWS, help="the whole graph, or a system; `python -m flows NAME --help` has more"
    )
    flow = FLOWS[parser.parse_args(sys.argv[1:2]).flow]
    options = parse(flow, sys.argv[2:])
    start()
    flow(**options)


if __name__ == "__main__":
    run_main(main)
