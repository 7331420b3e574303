"""Games added to a library, and what each code makes of their patterns: the metrics of the library and its growth."""

from typing import Any

import numpy as np

from pipeline_src.records.record import GameRecord
from pipeline_src.systems.joseki.build import Builder
from pipeline_src.systems.joseki.clashes import Comparison, count_clashes
from pipeline_src.systems.joseki.corners import PASS
from pipeline_src.systems.joseki.earlier_codes import earlier_codes
from pipeline_src.systems.joseki.pattern_code import pattern_codes
from pipeline_src.systems.joseki.symmetric_code import symmetric_codes

CODES = ("paper", "ours", "zobrist", "gu")
Row = dict[str, str | float]


def tally(builder: Builder, records: list[GameRecord], points: int) -> tuple[dict[str, Any], list[Row]]:
    """Add games to a builder.

    Args:
        builder: an empty one.
        records: the games, at least one.
        points: rows of the growth, at most.

    Returns:
        Counts, and rows of their growth. ``encodings`` are patterns after local moves, ``passes`` moves elsewhere;
        ``clashes`` and ``clashes_ours`` encodings whose code was first another pattern's, ``clashing_patterns`` the
        patterns among them; ``clashes_unresolved`` encodings whose exact key was another pattern's; ``names_zobrist``
        and ``names_gu`` the codes that earlier methods have for the same ``patterns``.
    """
    codes: dict[str, list[Any]] = {name: [] for name in CODES}
    states, sizes, comparison, passes = [], [], Comparison(), 0
    for chunk in builder.add_by_chunks(records, -(-len(records) // points)):
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
    growth: list[Row] = [
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
