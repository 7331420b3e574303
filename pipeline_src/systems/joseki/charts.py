"""Charts of the joseki library: its growth, the accuracy of the recommender, and the time to build it."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_src.report.charts import LOG, SHARE, Chart, Metrics, Rows, chart, curves, points, table
from pipeline_src.report.figures import REGISTRY

REPORTS = Path("artifacts/reports/joseki")
MEASURED = Path("docs/measured/joseki.json")
MEASURE = "make measure-joseki GAMES=FOLDER_OR_TAR"
LAST, REAL = "games of the last dvc repro", "real games"
GROWTH = {name: name for name in ("encodings", "transitions", "patterns")}
ACCURACY = {
    "hit_rate": "hit rate",
    "recommend_top3": "top-3 accuracy",
    "recommend_top1": "top-1 accuracy",
    "baseline_top3": "baseline, top-3 accuracy",
}


def charts(folder: Path) -> Iterator[Chart | None]:
    """Yield the charts of the checkout ``folder``, None for each one without data."""
    real, made = Metrics(folder / MEASURED), folder / REPORTS
    size, share = ("games", *GROWTH), ("number", *ACCURACY)
    yield growth(table(made / "growth.csv", *size), "", LAST, f"{REPORTS}/growth.csv", "dvc repro joseki_build")
    yield growth(real.rows("growth", *size), "-measured", REAL, str(MEASURED), MEASURE)
    made_by = f"{REPORTS}/accuracy.csv", "dvc repro joseki_evaluate"
    yield accuracy(table(made / "accuracy.csv", *share), "", LAST, *made_by)
    yield accuracy(real.rows("accuracy", *share), "-measured", REAL, str(MEASURED), MEASURE)
    yield scaling(real.rows("scaling", "games", "seconds"))


def growth(rows: Rows, suffix: str, games: str, source: str, rerun: str) -> Chart | None:
    """Draw the size of the library by number of games, with the published one."""
    published = {name: one.published for name, one in REGISTRY["joseki"].items()}
    found = points(rows, "games", GROWTH)
    stars = [
        {"x": published["games"], "y": published[name], "series": f"{name}, published"}
        for name in GROWTH
        if rows and published.get("games") and published.get(name)
    ]
    return chart(
        f"joseki-growth{suffix}",
        f"Growth of the joseki library, {games}",
        "Corner positions met (encodings), different patterns among them and transitions between patterns, by games "
        "read; single points are what was published.",
        source,
        rerun,
        curves(found + stars, "games", "in the library", x_scale={"zero": True}),
    )


def accuracy(rows: Rows, suffix: str, games: str, source: str, rerun: str) -> Chart | None:
    """Draw the accuracy of the recommender on held-out moves by move number."""
    return chart(
        f"joseki-accuracy{suffix}",
        f"Joseki recommender: accuracy on held-out moves, {games}",
        "Accuracy on the corner moves of held-out games, by the number of the move in its corner. The hit rate is how "
        "often the library has the pattern before the move. The baseline is the three most frequent points of that "
        "move number.",
        source,
        rerun,
        curves(points(rows, "number", ACCURACY), "move in its corner", "share of held-out moves", y_scale=SHARE),
    )


def scaling(rows: Rows) -> Chart | None:
    """Draw the seconds to build a library by number of games."""
    each = rows[0]["seconds"] / rows[0]["games"] if rows else 0
    series = {"seconds": "measured", "even": "as many games, as much time"}
    return chart(
        "joseki-scaling",
        "Time to build the joseki library",
        "Seconds to build a library of so many games on one core, both axes logarithmic; the second line has the "
        "smallest library's time a game.",
        str(MEASURED),
        MEASURE,
        curves(
            points([row | {"even": each * row["games"]} for row in rows], "games", series),
            "games",
            "seconds",
            x_scale=LOG,
            y_scale=LOG,
        ),
    )
