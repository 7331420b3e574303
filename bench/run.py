"""Run all benchmarks, write bench/results.json and print what changed since the committed one.

Words choose benchmarks by name: ``python -m bench.run perft``.
"""

import importlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.measure import Row, changes, committed, notable
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import read_json, write_json

FOLDER = Path(__file__).parent


def benches(words: Sequence[str] = ()) -> list[str]:
    """Return the modules of this folder with a function ``measure``, all or those with one of the words in the name.

    Raises:
        ZugwerkError: no module has one of the words in its name.
    """
    found = sorted(path.stem for path in FOLDER.glob("*.py") if "\ndef measure()" in path.read_text(encoding="utf-8"))
    for word in words:
        if not any(word in name for name in found):
            raise ZugwerkError(f"no benchmark with {word!r} in its name; there are: {', '.join(found)}")
    return [name for name in found if not words or any(word in name for word in words)]


def main() -> None:
    """Measure, write after each benchmark, print a table; a row that cannot be measured here stays as it was."""
    from rich.console import Console
    from rich.table import Table

    results, words = FOLDER / "results.json", sys.argv[1:]
    known = {row["name"]: row for row in (read_json(results) if results.exists() else [])}
    rows: list[Row] = []
    for module in benches(words):
        rows += importlib.import_module(f"bench.{module}").measure()
        known |= {row["name"]: row for row in rows if row["ours"] is not None or row["name"] not in known}
        write(results, known.values())
    if not words:
        write(results, [known[row["name"]] for row in rows])  # without rows that no benchmark measures any more
    found = changes(rows, committed(FOLDER))
    table = Table("name", "ours", "reference", "ratio", "unit", "reference is", "against committed")
    for r in rows:
        cells = [f"{r[key]:,.4g}" if r[key] is not None else "-" for key in ("ours", "reference", "ratio")]
        since = f"{found[r['name']]:.2f}" if r["name"] in found else "new"
        table.add_row(r["name"], *cells, r["unit"], r["reference_name"] or "-", since)
    console = Console()
    console.print(table)
    for line in notable(found):
        console.print(line)


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write all rows, sorted by name."""
    write_json(path, sorted(rows, key=lambda row: row["name"]))


if __name__ == "__main__":
    run_main(main)
