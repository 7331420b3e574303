"""Charts of the Amazons engine from its committed matches on a clock."""

import re
from pathlib import Path

from pipeline_src.report.charts.chart import Chart, chart
from pipeline_src.report.charts.drawing import Look, level, panels, ranked, share_axis
from pipeline_src.report.charts.reading import metrics

MEASURED = Path("docs/measured/amazons_engine.json")
MATCHES = {
    "openspiel_100ms": "alphabeta v OpenSpiel's MCTS,\n100 ms",
    "one_ply": "alphabeta, 100,000 nodes\nv one ply",
    "fast": "alphabeta v uct, 10 ms",
    "uct_300ms": "uct v alphabeta, 300 ms",
}
DOUBLING = re.compile(r"doubling_(\d+)_(\d+)")


def doublings(folder: Path) -> Chart | None:
    """Draw the score of the engine against itself with half the time."""
    found = metrics(folder / MEASURED)
    steps = [step for name in found.keys("matches") if (step := DOUBLING.fullmatch(name))] if found else []
    if found is None or not steps:
        return None
    steps.sort(key=lambda step: int(step[1]))
    names = [f"{step[1]} ms v {step[2]} ms" for step in steps]
    figure, (axes,) = panels(height=1.0 + 0.35 * len(names))
    ranked(axes, names, [found.estimate(f"matches.{step[0]}.score") for step in steps], "", Look(0))
    level(axes, 0.5, across=True)
    axes.set_xlim(0.38, 0.92)
    axes.set_xlabel("score of the side with twice the time")
    return chart(
        "amazons-engine-doublings",
        "The Amazons engine with twice the time",
        "Score of alpha-beta against itself with half the time a move, with 95 % intervals, in colour-swapped pairs; "
        "0.64 is 100 Elo. The dashed line is equal strength.",
        str(MEASURED),
        "make measure-amazons_engine",
        figure,
    )


def matches(folder: Path) -> Chart | None:
    """Draw the engine's matches on a clock against others."""
    found = metrics(folder / MEASURED)
    names = [name for name in MATCHES if found and name in found.keys("matches")]
    if found is None or not names:
        return None
    figure, (axes,) = panels(height=0.9 + 0.42 * len(names))
    words = [MATCHES[name] for name in names]
    ranked(axes, words, [found.estimate(f"matches.{name}.score") for name in names], "", Look(0))
    level(axes, 0.5, across=True)
    share_axis(axes.xaxis)
    axes.set_xlabel("score of A in A v B")
    return chart(
        "amazons-engine-matches",
        "Matches of the Amazons engine",
        "Score of A in A v B, with 95 % intervals, in colour-swapped pairs. Time or nodes are per move. The dashed "
        "line is equal strength.",
        str(MEASURED),
        "make measure-amazons_engine",
        figure,
    )
