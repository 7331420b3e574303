"""Charts of Gomoku from self-play: losses, gates, Elo by generation and over hours, baselines, the round robin."""

import math
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path

from pipeline_src.arena.score import rate
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.report.charts.chart import Chart, chart
from pipeline_src.report.charts.drawing import (
    Look,
    count_axis,
    curve,
    heat,
    legend,
    level,
    measured,
    panels,
    share_axis,
)
from pipeline_src.report.charts.reading import Estimate, table
from pipeline_src.report.generation_times import read_times
from pipeline_src.report.lock import Lock, at
from pipeline_src.report.registry import ANCHOR

REPORTS = Path("artifacts/reports/gomoku")
RERUN = "dvc repro gomoku_evaluate"
ANCHOR_WORDS = "MCTS with 1,000 playouts"


def charts(folder: Path) -> Iterator[Chart | None]:
    """Return the charts of the checkout ``folder``, None for each one without data."""
    yield losses(folder)
    yield gates(folder)
    yield elo(folder)
    yield elo_hours(folder)
    yield baselines(folder)
    yield round_robin(folder)


def losses(folder: Path) -> Chart | None:
    """Draw the losses, the published figure 6."""
    rows = table(folder / REPORTS / "losses.csv")
    if rows is None:
        return None
    figure, (axes,) = panels()
    for place, name in enumerate(("policy", "mean", "value")):
        curve(axes, rows.numbers("iteration"), rows.numbers(name), name, Look(place))
    axes.set_ylim(0)
    axes.set_title("loss")
    axes.set_xlabel("training step, over all generations")
    count_axis(axes.xaxis)
    legend(figure, axes)
    return chart(
        "gomoku-losses",
        "Losses over all generations",
        "Policy loss, value loss and their mean on the training batches, as in the published figure 6.",
        str(REPORTS / "losses.csv"),
        RERUN,
        figure,
    )


def gates(folder: Path) -> Chart | None:
    """Draw the gates of all generations, the published table 1."""
    rows = table(folder / REPORTS / "table1.csv")
    if rows is None:
        return None
    figure, (axes,) = panels()
    counts = zip(rows.numbers("wins"), rows.numbers("draws"), rows.numbers("losses"), strict=True)
    scores = [rate(wins + draws / 2, int(wins + draws + lost)) for wins, draws, lost in counts]
    found = list(zip(rows.numbers("generation"), scores, rows.numbers("accepted"), strict=True))
    for name, accepted, look in (("became the best player", True, Look(0)), ("did not", False, Look(1))):
        kept = [(number, Estimate(one.value, one.low, one.high)) for number, one, took in found if took == accepted]
        if kept:
            numbers, values = zip(*kept, strict=True)
            measured(axes, numbers, values, name, look, joined=False)
    level(axes, 0.5, "equal")
    share_axis(axes.yaxis)
    axes.set_title("score against the best player before")
    axes.set_xlabel("generation")
    count_axis(axes.xaxis)
    legend(figure, axes)
    return chart(
        "gomoku-gates",
        "Gates: each generation against the best player before it",
        "Score in the gate's games, with Wilson's 95 % interval, and whether the new net took the best player's place "
        "(by params it may at any score).",
        str(REPORTS / "table1.csv"),
        RERUN,
        figure,
    )


def elo(folder: Path) -> Chart | None:
    """Draw the Elo of the rated models by generation."""
    rows = table(folder / REPORTS / "elo.csv")
    if rows is None:
        return None
    zero = anchor(folder)
    figure, (axes,) = panels()
    measured(axes, rows.numbers("generation"), rows.estimates("elo"), "rated models", Look(0))
    level(axes, 0, zero)
    axes.set_title("Elo")
    axes.set_xlabel("generation")
    axes.set_xticks(rows.numbers("generation"))
    count_axis(axes.yaxis)
    legend(figure, axes)
    return chart(
        "gomoku-elo",
        "Elo by generation",
        f"Elo of the rated models with 95 % intervals; {zero} is 0.",
        str(REPORTS / "elo.csv"),
        RERUN,
        figure,
    )


def elo_hours(folder: Path) -> Chart | None:
    """Draw Elo over hours, the published figure 7."""
    found = rated_hours(folder)
    if not found:
        return None
    zero = anchor(folder)
    unit, scale = ("hours", 1) if max(found) >= 2 else ("minutes", 60)
    figure, (axes,) = panels()
    measured(axes, [hours * scale for hours in found], list(found.values()), "rated models", Look(0))
    level(axes, 0, zero)
    axes.set_xlim(0)
    axes.set_title("Elo")
    axes.set_xlabel(f"{unit} of self-play, training and gates")
    count_axis(axes.yaxis)
    legend(figure, axes)
    return chart(
        "gomoku-elo-hours",
        "Elo over time",
        f"Elo of the rated models with 95 % intervals over the {unit} that all generations up to them took on the "
        f"machine that ran them; {zero} is 0. The published figure 7 has about 4,000 after 40 hours, on a scale "
        "whose zero is not printed.",
        f"{REPORTS}/elo.csv and generations/*.timings.json",
        RERUN,
        figure,
    )


def anchor(folder: Path) -> str:
    """Return the player with Elo 0 in words: that of the params that made the ratings."""
    path = folder / PARAMS_FILE
    lock = Lock(folder, read_tree(path) if path.exists() else {})
    section = at(lock.params_of(str(REPORTS / "elo.csv"), "gomoku_evaluate"), "gomoku_evaluate")
    player = at(section, f"opponents.{at(section, 'anchor')}.player")
    return ANCHOR_WORDS if player in (None, ANCHOR) else str(player)


def rated_hours(folder: Path) -> dict[float, Estimate]:
    """Return the Elo of each rated generation by the hours from the start to its end.

    Empty without data, or if the ratings have more generations than params.yaml, since the times of the others are
    unknown.

    Raises:
        ZugwerkError: a file is damaged.
    """
    rows = table(folder / REPORTS / "elo.csv")
    times = read_times(folder) if rows else []
    if rows is None or not times:
        return {}
    ends = accumulate(sum(one.seconds.values()) for one in times)
    hours = {one.number: end / 3600 for one, end in zip(times, ends, strict=True)}
    numbers, ratings = rows.numbers("generation"), rows.estimates("elo")
    if not {*numbers} <= hours.keys():
        return {}
    return {hours[int(number)]: rating for number, rating in zip(numbers, ratings, strict=True)}


def baselines(folder: Path) -> Chart | None:
    """Draw the scores against the baselines, the published table 3."""
    rows = table(folder / REPORTS / "table3.csv")
    if rows is None:
        return None
    figure, (axes,) = panels()
    opponents = list(rows.groups("opponent"))
    step = _least_step(rows.numbers("generation"))
    for place, (opponent, own) in enumerate(opponents):
        shift = 0.15 * step * (place - (len(opponents) - 1) / 2)
        numbers = [number + shift for number in own.numbers("generation")]
        measured(axes, numbers, own.estimates("score"), opponent, Look(place), joined=False)
    share_axis(axes.yaxis)
    axes.set_title("score against the baseline")
    axes.set_xlabel("generation")
    axes.set_xticks(sorted({*rows.numbers("generation")}))
    legend(figure, axes)
    return chart(
        "gomoku-baselines",
        "Rated models against minimax and alpha-beta",
        "Score of the rated models against each baseline, with 95 % intervals, as in the published table 3; the digit "
        "is the plies that alpha-beta looks ahead.",
        str(REPORTS / "table3.csv"),
        RERUN,
        figure,
    )


def round_robin(folder: Path) -> Chart | None:
    """Draw the round robin, the published table 2."""
    rows = table(folder / REPORTS / "table2.csv")
    if rows is None:
        return None
    cells = {
        (model, opponent): (points, games)
        for model, opponent, points, games in zip(
            rows.words("generation"), rows.words("opponent"), rows.numbers("points"), rows.numbers("games"), strict=True
        )
    }
    models = list(dict.fromkeys(model for model, _ in cells))
    found = [[cells.get((model, opponent)) for opponent in (*models, "all")] for model in models]
    figure, (axes,) = panels(height=0.9 + 0.28 * len(models))
    shares = [[one[0] / one[1] if one and one[1] else math.nan for one in line] for line in found]
    texts = [[f"{one[0]:g}" if one else "" for one in line] for line in found]
    heat(axes, shares, texts, models, [*models, "all"])
    axes.set_title("points of the model on the left")
    axes.set_xlabel("opponent, by generation")
    axes.set_ylabel("generation")
    return chart(
        "gomoku-round-robin",
        "Rated models against each other",
        "Points of the model of the row against that of the column, as in the published table 2; the darker, the "
        "greater their share.",
        str(REPORTS / "table2.csv"),
        RERUN,
        figure,
    )


def _least_step(numbers: list[float]) -> float:
    there = sorted({*numbers})
    return min((b - a for a, b in pairwise(there)), default=1.0)
