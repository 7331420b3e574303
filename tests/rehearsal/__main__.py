"""``make rehearse``: the rehearsal at full size; prints its table, and writes docs/measured/crawl.json."""

import argparse
import datetime
import tempfile
from pathlib import Path

from pipeline_src.files import write_json
from pipeline_src.report.figures import hardware
from tests.rehearsal.rehearse import Rehearsal, results

OUT = Path("docs/measured/crawl.json")


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.rehearsal", description=__doc__)
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--players", type=int, default=400)
    parser.add_argument("--delay", type=float, default=0.02, help="seconds; the first portion has 1")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rehearsal-") as folder:
        rehearsal = Rehearsal(folder, options.games, options.players, options.delay)
        rehearsal.run()
        figures, rows = results(rehearsal)
    print()
    for name, value in rows:
        print(f"| {name} | {value} |")
    about = {
        "low": None,
        "high": None,
        "profile": "committed measurement",
        "data": f"a site of our own with {options.games:,} games of {options.players} players, of random turns",
        "hardware": hardware(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": "make rehearse",
    }
    measured = {name: {"value": value, "n": n} | about for name, (value, n) in figures.items()}
    write_json(options.out, measured | {"table": dict(rows)})


if __name__ == "__main__":
    main()
