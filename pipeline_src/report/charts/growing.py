"""Charts of self-learning on growing boards: strength and losses by compute, growth against scratch."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline_src.report.charts.chart import Chart, chart
from pipeline_src.report.charts.drawing import Look, curve, legend, level, measured, panels, share_axis
from pipeline_src.report.charts.reading import table

REPORTS = Path("artifacts/reports/growing")
MEASURED = Path("docs/measured")
PREFIX = "growing_boards_"
RERUN = "dvc repro growing_evaluate"
TRILLION = 1e12
SEED_STYLES = ("-", "--", ":", "-.")


def charts(folder: Path) -> Iterator[Chart | None]:
    """Return the charts of the checkout ``folder``, None for each one without data."""
    yield strength(folder)
    yield losses(folder)
    for path in sorted((folder / MEASURED).glob(f"{PREFIX}*.csv")):
        yield against_scratch(folder, path.stem.removeprefix(PREFIX))


def strength(folder: Path) -> Chart | None:
    """Draw the scores of the largest board's models."""
    rows = table(folder / REPORTS / "strength.csv")
    if rows is None:
        return None
    figure, (axes,) = panels()
    spent = [value / TRILLION for value in rows.numbers("multiply_adds")]
    measured(axes, spent, rows.estimates("value"), "", Look(0))
    axes.set_xlim(0)
    share_axis(axes.yaxis)
    axes.set_title("score against the opponent")
    axes.set_xlabel("trillions of multiply-adds so far, on all boards")
    return chart(
        "growing-strength",
        "Strength on the largest board, by computing",
        "Score of models on the largest board against the opponent of params (growing_evaluate.opponent), with 95 % "
        "intervals, over the multiply-adds of the net in all its evaluations and training; the first came from the "
        "smaller board.",
        str(REPORTS / "strength.csv"),
        RERUN,
        figure,
    )


def losses(folder: Path) -> Chart | None:
    """Draw the losses of the generations of all boards."""
    rows = table(folder / REPORTS / "losses.csv")
    if rows is None:
        return None
    figure, (axes,) = panels()
    boards = list(rows.groups("size"))
    for place, (column, words) in enumerate((("policy_loss", "policy"), ("value_loss", "value"))):
        for _, own in boards:
            spent = [value / TRILLION for value in own.numbers("multiply_adds_in_all")]
            curve(axes, spent, own.numbers(column), words if own is boards[0][1] else "_", Look(place))
    axes.set_xlim(0)
    axes.set_ylim(0)
    start = 0.0
    for size, own in boards:
        end = max(own.numbers("multiply_adds_in_all")) / TRILLION
        if start:
            axes.axvline(start, color="#999999", linewidth=0.8, zorder=1)
        axes.annotate(
            f"{size}x{size}", ((start + end) / 2, 1), (0, 2), ("data", "axes fraction"), "offset points", ha="center"
        )
        start = end
    axes.set_title("loss", pad=18)  # above the boards' sizes
    axes.set_xlabel("trillions of multiply-adds so far, on all boards")
    legend(figure, axes)
    return chart(
        "growing-losses",
        "Losses on each board, by computing",
        "Policy and value loss at the end of each generation, over the net's multiply-adds so far; a vertical line is "
        "the step to the next larger board, where a generation's positions are other ones.",
        str(REPORTS / "losses.csv"),
        RERUN,
        figure,
    )


def against_scratch(folder: Path, boards: str) -> Chart | None:
    """Draw the committed measurement of boards such as ``6-9``."""
    rows = table(folder / MEASURED / f"{PREFIX}{boards}.csv")
    if rows is None:
        return None
    figure, (axes,) = panels(height=3.1)
    for place, (run, of_run) in enumerate(rows.groups("run")):
        for seed, (_, own) in enumerate(of_run.groups("seed")):
            style: dict[str, Any] = {
                "linestyle": SEED_STYLES[seed % len(SEED_STYLES)],
                "linewidth": 1.3,
                "markersize": 3,
            }
            name = "_" if seed else {"grown": "grown", "scratch": "from scratch"}.get(run, run)
            measured(axes, own.numbers("computing"), own.estimates("score"), name, Look(place), **style)
    level(axes, 0.5, "equal")
    axes.set_xlim(0)
    share_axis(axes.yaxis)
    axes.set_title("score against the end of learning from scratch")
    axes.set_xlabel("multiply-adds so far / those of learning from scratch")
    legend(figure, axes)
    largest = boards.rpartition("-")[2]
    return chart(
        f"growing-against-scratch-{boards}",
        f"Grown over boards {boards.replace('-', ', ')} or from scratch on {largest}x{largest}",
        "Score against the model at which learning from scratch ended, with 95 % intervals; a line for each seed, told "
        "apart by its dashes. Computing counts all boards.",
        str(MEASURED / f"{PREFIX}{boards}.csv"),
        "make measure-growing_boards",
        figure,
    )
