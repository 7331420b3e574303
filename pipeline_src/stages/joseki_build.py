"""Stage joseki_build: build the joseki library from games, and count the clashes of each code.

Reads ``artifacts/records/joseki/games.parquet``. Writes ``artifacts/models/joseki/whole.joseki``, which games can be
added to, and ``library.joseki``, without rare moves; the metrics ``artifacts/reports/joseki/build.json``, the
growth by games ``growth.csv``, and ``build.timings.json``.
"""

import time
from collections import Counter
from pathlib import Path

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json, write_table
from pipeline_src.project.params import load
from pipeline_src.records.record import SOURCES, each_record, read_batches
from pipeline_src.systems.joseki.build import tally
from pipeline_src.systems.joseki.library import prune, save
from pipeline_src.systems.joseki.params import JosekiBuildParams

GAMES = Path("artifacts/records/joseki/games.parquet")
MODELS = Path("artifacts/models/joseki")
REPORTS = Path("artifacts/reports/joseki")
WORK = Path("work/joseki_build")
GROWTH_POINTS = 20


def main() -> None:
    """Load params, build, count, write.

    Raises:
        ZugwerkError: bad params, or no game that can be used.
    """
    params = load(JosekiBuildParams, "joseki_build")
    sources = Counter(source for table in read_batches(GAMES) for source in table["source"].to_pylist())
    if not sources:
        raise ZugwerkError(f"{GAMES}: no games; `dvc repro joseki_records` makes them")
    begin = time.perf_counter()
    WORK.mkdir(parents=True, exist_ok=True)
    found = tally(each_record(GAMES), sources.total(), GROWTH_POINTS, params.moves, WORK)
    tallied = time.perf_counter()
    library = prune(found.library, params.fewest_games)
    save(found.library, MODELS / "whole.joseki")
    save(library, MODELS / "library.joseki")
    write_table(REPORTS / "growth.csv", found.growth)
    kept = {"patterns": library.states, "transitions": library.transitions}
    metrics = found.metrics | {"kept": kept, "sources": {source: sources[source] for source in SOURCES}}
    write_json(REPORTS / "build.json", metrics)
    seconds = {"count": tallied - begin, "freeze_and_save": time.perf_counter() - tallied}
    write_json(REPORTS / "build.timings.json", {"seconds": seconds})


if __name__ == "__main__":
    run_main(main)
