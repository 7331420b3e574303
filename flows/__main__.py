"""Run a flow now, without a server: ``python -m flows reproduce``."""

import argparse
import sys

from flows.options import run_here
from flows.systems import FLOWS

parser = argparse.ArgumentParser(prog="python -m flows", description=__doc__)
parser.add_argument("flow", choices=FLOWS, help="the whole graph, or a system; `python -m flows NAME --help` has more")
run_here(FLOWS[parser.parse_args(sys.argv[1:2]).flow], sys.argv[2:])
