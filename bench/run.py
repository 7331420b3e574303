"""Run all benchmarks, write bench/results.json and say what moved since the committed one.

Words pick some: ``python -m bench.run perft``.
"""

import importlib
import sys
from pathlib import Path

from bench.compare import committed, moves, summary
from pipeline_src.errors import run_main
from pipeline_src.files import read_json, write_json

FOLDER = Path(__file__).parent
NOT_BENCHES = {"__init__", "compare", "measure", "run", "tune_amazons", "tune_gomoku"}


def main() -> None:
    """Measure, print a table, write."""
    from rich.console import Console
    from rich.table import Table

    wanted = sys.argv[1:]
    modules = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in NOT_BENCHES)
    rows = []
    for module in modules:
        if not wanted or any(word in module for word in wanted):
            rows += importlib.import_module(f"bench.{module}").measure()
    results = FOLDER / "results.json"
    kept = read_json(results) if wanted and results.exists() else []
    names = {r["name"] for r in rows}
    write_json(results, sorted([*rows, *(r for r in kept if r["name"] not in names)], key=lambda r: r["name"]))
    moved = moves(rows, committed(FOLDER))
    table = Table("name", "ours", "reference", "ratio", "unit", "beside", "committed: 1")
    for r in rows:
        cells = [f"{r[key]:,.4g}" if r[key] is not None else "-" for key in ("ours", "reference", "ratio")]
        since = f"{moved[r['name']].factor:.2f}" if r["name"] in moved else "new"
        table.add_row(r["name"], *cells, r["unit"], r["reference_name"] or "-", since)
    console = Console()
    console.print(table)
    for line in summary(moved.values()):
        console.print(line)


if __name__ == "__main__":
    run_main(main)
