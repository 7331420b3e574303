"""Stage joseki_build: games to a joseki library, and how well each code tells its patterns apart.

Reads ``artifacts/records/joseki/games.parquet``. Writes ``artifacts/models/joseki/whole.joseki``, which games can be
added to, and ``library.joseki``, without what is too rare; the metrics ``artifacts/reports/joseki/build.json``, the
growth by games ``growth.csv``, and ``build.timings.json``.
"""

import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src.arena.tables import write_table
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json
from pipeline_src.joseki.build import Builder
from pipeline_src.joseki.clashes import Comparison, count_clashes
from pipeline_src.joseki.corners import PASS
from pipeline_src.joseki.earlier_codes import earlier_codes
from pipeline_src.joseki.library import prune
from pipeline_src.joseki.library_file import save
from pipeline_src.joseki.pattern_code import pattern_codes
from pipeline_src.joseki.symmetric_code import symmetric_codes
from pipeline_src.params.joseki_build import JosekiBuildParams
from pipeline_src.params.load import load
from pipeline_src.records.parquet import read_records
from pipeline_src.records.record import SOURCES, GameRecord

GAMES = Path("artifacts/records/joseki/games.parquet")
MODELS = Path("artifacts/models/joseki")
REPORTS = Path("artifacts/reports/joseki")
GROWTH_POINTS = 20
CODES = ("paper", "ours", "zobrist", "gu")


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
    metrics, growth = count(builder, records)
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


def count(builder: Builder, records: list[GameRecord]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Add games to a builder; the metrics, and rows of their growth."""
    codes: dict[str, list[Any]] = {name: [] for name in CODES}
    states, sizes, comparison, passes = [], [], Comparison(), 0
    for chunk in builder.add_by_chunks(records, -(-len(records) // GROWTH_POINTS)):
        played = chunk.steps.point != PASS
        windows, after = chunk.steps.after[played], chunk.states[played]
        zobrist, gu = earlier_codes(chunk.steps)
        found = (pattern_codes(windows), symmetric_codes(windows), zobrist[played], gu[played])
        for name, values in zip(CODES, found, strict=True):
            codes[name].append(values)
        states.append(after)
        comparison.add(windows, after)
        passes += int((~played).sum())
        sizes.append((builder.added.games, int(played.sum()), builder.states, builder.transitions))
    joined = {name: np.concatenate(values) for name, values in codes.items()}
    exact = np.concatenate(states)
    paper, ours = count_clashes(joined["paper"], exact), count_clashes(joined["ours"], exact)
    ends = np.cumsum([size[1] for size in sizes])
    growth = [
        {
            "games": games,
            "encodings": int(end),
            "patterns": patterns,
            "transitions": transitions,
            "clashes": int(paper.by_encoding[:end].sum()),
            "clashes_ours": int(ours.by_encoding[:end].sum()),
        }
        for (games, _, patterns, transitions), end in zip(sizes, ends, strict=True)
    ]
    metrics = {
        "games": builder.added.games,
        "repeats": builder.added.repeats,
        "illegal": len(builder.added.illegal),
        "encodings": len(exact),
        "patterns": len(np.unique(exact)),
        "transitions": builder.transitions,
        "passes": passes,
        "clashes": paper.encodings,
        "clashing_patterns": paper.patterns,
        "clashes_ours": ours.encodings,
        "clashes_unresolved": comparison.unresolved,
        "names_zobrist": len(np.unique(joined["zobrist"])),
        "names_gu": len(np.unique(joined["gu"])),
    }
    return metrics, growth


if __name__ == "__main__":
    run_main(main)
