"""Charts of the Amazons engine from its committed matches on a clock."""

import re
from collections.abc import Iterator
from pathlib import Path

from pipeline_src.report.charts.drawing import SHARE, Chart, chart, ranked
from pipeline_src.report.charts.reading import Metrics

MEASURED = Path("docs/measured/amazons_engine.json")
RERUN = "make measure-amazons_engine"
MATCHES = {
    "openspiel_100ms": "alphabeta v OpenSpiel's MCTS, 100 ms",
    "one_ply": "alphabeta, 100,000 nodes v one ply",
    "fast": "alphabeta v uct, 10 ms",
    "uct_300ms": "uct v alphabeta, 300 ms",
}
DOUBLING = re.compile(r"doubling_(\d+)_(\d+)")


def charts(folder: Path) -> Iterator[Chart | None]:
    """Yield the score of the engine against itself with half the time, and its matches against others."""
    measured = Metrics(folder / MEASURED)
    there = measured.keys("matches")
    steps = sorted((step for name in there if (step := DOUBLING.fullmatch(name))), key=lambda step: int(step[1]))
    doublings = {step[0]: f"{step[1]} ms v {step[2]} ms" for step in steps}
    scores = [
        [
            {"name": words, **score}
            for name, words in named.items()
            if (score := measured.estimate("matches", name, "score"))
        ]
        for named in (doublings, MATCHES)
    ]
    yield chart(
        "amazons-engine-doublings",
        "The Amazons engine with twice the time",
        "Score of alpha-beta against itself with half the time a move, with 95 % intervals, in colour-swapped pairs; "
        "0.64 is 100 Elo. The dashed line is equal strength.",
        str(MEASURED),
        RERUN,
        ranked(scores[0], "score of the side with twice the time", scale={"domain": [0.4, 0.9]}, level=0.5),
    )
    yield chart(
        "amazons-engine-matches",
        "Matches of the Amazons engine",
        "Score of A in A v B, with 95 % intervals, in colour-swapped pairs. Time or nodes are per move. The dashed "
        "line is equal strength.",
        str(MEASURED),
        RERUN,
        ranked(scores[1], "score of A in A v B", scale=SHARE, level=0.5),
    )
