"""Stages ``<system>_headlines``: the few figures of a system that DVC shows as its metrics.

Reads the reports of a system below artifacts/reports/<system>; writes ``artifacts/reports/<system>.headlines.json``
with the figures below the system's name, each as in its report, a number or ``{value, low, high, n}``, and null where
the reports lack it.

Example: ``python -m pipeline_src.stage report.headlines --system gomoku``
"""

import argparse
from pathlib import Path
from typing import Any

from pipeline_src.files import read_json, write_json
from pipeline_src.project.params import at, load_value
from pipeline_src.report.figures import REGISTRY, SYSTEMS, metric_of

REPORTS = Path("artifacts/reports")


def main(*options: str) -> None:
    """Read the command line, pick the figures, write. Raises ZugwerkError: bad params, or a report is damaged."""
    names = {system.word: name for name, system in SYSTEMS.items() if system.metrics}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--system", required=True, choices=sorted(names), help="folder below artifacts/reports")
    reports = parser.parse_args(options).system
    params = {"amazons_match": {"loss": load_value(str, "amazons_match.loss")}}
    found: dict[str, Any] = {}
    for figure in SYSTEMS[names[reports]].metrics:
        file, key = metric_of(REGISTRY[names[reports]][figure], params)
        found[figure] = at(read_json(file), key) if Path(file).exists() else None
    write_json(REPORTS / f"{reports}.headlines.json", {reports: found})
