"""Charts of the joseki library: its growth, the accuracy of the recommender, and the time to build it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline_src.report.charts.chart import Chart, chart
from pipeline_src.report.charts.drawing import Look, count_axis, curve, legend, log_axis, panels, share_axis
from pipeline_src.report.charts.reading import Table, metrics, table
from pipeline_src.report.registry import REGISTRY

REPORTS = Path("artifacts/reports/joseki")
MEASURED = Path("docs/measured/joseki.json")
MEASURE = "make measure-joseki GAMES=FOLDER_OR_TAR"
LAST, REAL = "games of the last dvc repro", "real games"


def charts(folder: Path) -> Iterator[Chart | None]:
    """Return the charts of the checkout ``folder``, None for each one without data."""
    real = metrics(folder / MEASURED)
    growth_rows, accuracy_rows = (real.rows(name) if real else None for name in ("growth", "accuracy"))
    yield growth(table(folder / REPORTS / "growth.csv"), "", LAST, f"{REPORTS}/growth.csv", "dvc repro joseki_build")
    yield growth(growth_rows, "-measured", REAL, str(MEASURED), MEASURE)
    yield accuracy(
        table(folder / REPORTS / "accuracy.csv"), "", LAST, f"{REPORTS}/accuracy.csv", "dvc repro joseki_evaluate"
    )
    yield accuracy(accuracy_rows, "-measured", REAL, str(MEASURED), MEASURE)
    yield scaling(real.rows("scaling") if real else None)


def growth(rows: Table | None, suffix: str, games: str, source: str, rerun: str) -> Chart | None:
    """Draw the size of the library by number of games, beside the published one."""
    if rows is None:
        return None
    published = REGISTRY["joseki"]
    figure, (axes,) = panels()
    for place, name in enumerate(("encodings", "transitions", "patterns")):
        curve(axes, rows.numbers("games"), rows.numbers(name), name, Look(place))
        at, value = (published[key].published if key in published else None for key in ("games", name))
        if at is not None and value is not None:
            star: dict[str, Any] = {"marker": "*", "markersize": 7, "markerfacecolor": "white", "linestyle": ""}
            axes.plot([at], [value], color=Look(place).colour, label=f"{name}, published", zorder=3, **star)
    axes.set_xlim(0)
    axes.set_ylim(0)
    axes.set_title("in the library")
    axes.set_xlabel("games")
    count_axis(axes.xaxis)
    count_axis(axes.yaxis)
    legend(figure, axes)
    return chart(
        f"joseki-growth{suffix}",
        f"Growth of the joseki library, {games}",
        "Corner positions met (encodings), different patterns among them and transitions between patterns, by games "
        "read; stars are what was published.",
        source,
        rerun,
        figure,
    )


def accuracy(rows: Table | None, suffix: str, games: str, source: str, rerun: str) -> Chart | None:
    """Draw the accuracy of the recommender on held-out moves by move number."""
    if rows is None:
        return None
    figure, (axes,) = panels()
    columns = {
        "hit_rate": "hit rate",
        "recommend_top3": "top-3 accuracy",
        "recommend_top1": "top-1 accuracy",
        "baseline_top3": "baseline, top-3 accuracy",
    }
    for place, (column, words) in enumerate(columns.items()):
        curve(axes, rows.numbers("number"), rows.numbers(column), words, Look(place))
    share_axis(axes.yaxis)
    axes.set_title("share of held-out moves")
    axes.set_xlabel("move in its corner")
    count_axis(axes.xaxis)
    legend(figure, axes)
    return chart(
        f"joseki-accuracy{suffix}",
        f"Joseki recommender: accuracy on held-out moves, {games}",
        "Accuracy on the corner moves of held-out games, by the number of the move in its corner. The hit rate is how "
        "often the library has the pattern before the move. The baseline is the three most frequent points of that "
        "move number.",
        source,
        rerun,
        figure,
    )


def scaling(rows: Table | None) -> Chart | None:
    """Draw the seconds to build a library by number of games."""
    if rows is None:
        return None
    figure, (axes,) = panels()
    games, seconds = rows.numbers("games"), rows.numbers("seconds")
    curve(axes, games, seconds, "measured", Look(0))
    even = [seconds[0] * count / games[0] for count in games]
    axes.plot(games, even, color="#666666", linestyle=(0, (4, 3)), linewidth=1, label="as many games, as much time")
    log_axis(axes.xaxis, games)
    log_axis(axes.yaxis, seconds)
    axes.set_title("seconds")
    axes.set_xlabel("games")
    legend(figure, axes)
    return chart(
        "joseki-scaling",
        "Time to build the joseki library",
        "Seconds to build a library of so many games on one core, both axes logarithmic; the dashed line has the "
        "smallest library's time a game.",
        str(MEASURED),
        MEASURE,
        figure,
    )
