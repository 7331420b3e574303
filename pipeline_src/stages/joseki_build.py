"""Stage joseki_build: build the joseki library from games, and count the clashes of each code.

Reads ``artifacts/records/joseki/games.parquet``. Writes ``artifacts/models/joseki/whole.joseki``, which games can be
added to, and ``library.joseki``, without what is too rare; the metrics ``artifacts/reports/joseki/build.json``, the
growth by games ``growth.csv``, and ``build.timings.json``.
"""

import time
from collections import Counter
from pathlib import Path

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json, write_table
from pipeline_src.project.params import load
from pipeline_src.records.parquet import read_records
from pipeline_src.records.record import SOURCES
from pipeline_src.systems.joseki.build import Builder, tally
from pipeline_src.systems.joseki.library import prune, save
from pipeline_src.systems.joseki.params import JosekiBuildParams

GAMES = Path("artifacts/records/joseki/games.parquet")
MODELS = Path("artifacts/models/joseki")
REPORTS = Path("artifacts/reports/joseki")
GROWTH_POINTS = 20


def main() -> None:
    """Load params, build, count, write.

    Raises:
        ZugwerkError: bad params, or no game that can be used.
    """
    params = load(JosekiBuildParams, "joseki_build")
    records = read_records(GAMES)
    if not records:
        raise ZugwerkError(f"{GAMES}: no games; `dvc repro joseki_records` makes them")
    begin = time.perf_counter()
    builder = Builder(longest=params.moves)
    metrics, growth = tally(builder, records, GROWTH_POINTS)
    counted = time.perf_counter()
    whole = builder.library()
    library = prune(whole, params.fewest_games)
    save(whole, MODELS / "whole.joseki")
    save(library, MODELS / "library.joseki")
    write_table(REPORTS / "growth.csv", growth)
    kept = {"patterns": library.states, "transitions": library.transitions}
    sources = Counter(record.source for record in records)
    metrics |= {"kept": kept, "sources": {source: sources[source] for source in SOURCES}}
    write_json(REPORTS / "build.json", metrics)
    seconds = {"count": counted - begin, "freeze_and_save": time.perf_counter() - counted}
    write_json(REPORTS / "build.timings.json", {"seconds": seconds})


if __name__ == "__main__":
    run_main(main)
