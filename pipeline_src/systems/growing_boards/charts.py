"""Charts of self-learning on growing boards: strength and losses by compute, growth against scratch, board sizes."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_src.report.charts import LOG, SHARE, Chart, Metrics, Rows, chart, curves, points, table
from pipeline_src.systems.growing_boards.declaration import STRENGTHS

REPORTS = Path("artifacts/reports/growing")
MEASURED = Path("docs/measured")
PREFIX = "growing_boards_"
RERUN = "dvc repro growing_evaluate"
TRILLION = 1e12
COMPUTE = "trillions of multiply-adds so far, on all boards"


def charts(folder: Path) -> Iterator[Chart | None]:
    """Yield the charts of the checkout ``folder``, None for each one without data."""
    yield strength(folder)
    yield losses(folder)
    for path in sorted((folder / MEASURED).glob(f"{PREFIX}*.csv")):
        yield against_scratch(folder, path.stem.removeprefix(PREFIX))
    yield sizes(folder)


def strength(folder: Path) -> Chart | None:
    """Draw the scores of the largest board's models."""
    rows = table(folder / REPORTS / "strength.csv", "multiply_adds", "value", "low", "high")
    found = points(rows, lambda row: row["multiply_adds"] / TRILLION, "value")
    return chart(
        "growing-strength",
        "Strength on the largest board, by computing",
        "Score of models on the largest board against the opponent of params (growing_evaluate.opponent), with 95 % "
        "intervals, over the multiply-adds of the net in all its evaluations and training; the first came from the "
        "smaller board.",
        str(REPORTS / "strength.csv"),
        RERUN,
        curves(found, COMPUTE, "score against the opponent", x_scale={"zero": True}, y_scale=SHARE),
    )


def losses(folder: Path) -> Chart | None:
    """Draw the losses of the generations of all boards."""
    names = {"policy_loss": "policy", "value_loss": "value"}
    rows = table(folder / REPORTS / "losses.csv", "multiply_adds_in_all", *names, words=("size",))
    size = "{size}x{size}".format_map
    found = points(rows, lambda row: row["multiply_adds_in_all"] / TRILLION, names, dash=size)
    return chart(
        "growing-losses",
        "Losses on each board, by computing",
        "Policy and value loss at the end of each generation, over the net's multiply-adds so far; each board has its "
        "dashes, and positions of its own.",
        str(REPORTS / "losses.csv"),
        RERUN,
        curves(found, COMPUTE, "loss", x_scale={"zero": True}),
    )


def against_scratch(folder: Path, boards: str) -> Chart | None:
    """Draw the committed measurement of boards such as ``6-9``."""
    path = MEASURED / f"{PREFIX}{boards}.csv"
    rows = table(folder / path, "computing", "score", "low", "high", words=("run", "seed"))
    largest, dash = boards.rpartition("-")[2], "seed {seed}".format_map
    rows = [{**row, "run": row["run"].replace("scratch", "from scratch")} for row in rows]
    found = points(rows, "computing", "score", series="{run}".format_map, dash=dash)
    return chart(
        f"growing-against-scratch-{boards}",
        f"Grown over boards {boards.replace('-', ', ')} or from scratch on {largest}x{largest}",
        "Score against the model at which learning from scratch ended, with 95 % intervals; a line for each seed, told "
        "apart by its dashes. Computing counts all boards. The dashed level is equal strength.",
        str(path),
        "make measure-growing_boards",
        curves(
            found,
            "multiply-adds so far / those of learning from scratch",
            "score against the end of learning from scratch",
            order=("grown", "from scratch"),
            x_scale={"zero": True},
            y_scale=SHARE,
            level=0.5,
        ),
    )


def sizes(folder: Path) -> Chart | None:
    """Draw the line net's core seconds to half the points by the side of the board, of opponents with two or more."""
    path = MEASURED / "growing_boards.json"
    found, rows = Metrics(folder / path), Rows()
    for name, words in STRENGTHS.items():
        drawn = {}  # A board that several growths lead to is learnt from scratch once
        for boards in found.keys("lines"):
            *smaller, size = boards.split("-")
            for side, series in (("grown", f"grown from {', '.join(smaller)}"), ("scratch", "from scratch")):
                at = ("lines", boards, name, side)
                one, bounds = found.estimate(*at), found.count(*at, "early") + found.count(*at, "short")
                if one and not bounds:
                    drawn[size, series] = {**one, "x": int(size), "y": one["value"], "series": series, "panel": words}
        if len({size for size, _ in drawn}) > 1:
            rows += drawn.values()
    return chart(
        "growing-line-net",
        "Line net: core seconds to half the points, by the side of the board",
        "Core seconds of training to half the points against each opponent, as geometric means over seeds with 95 % "
        "intervals, on a logarithmic scale. Left out: boards where a run has them with its first model, or never.",
        str(path),
        "make measure-growing_boards NET=lines",
        curves(rows, "side of the board", "core seconds", y_scale=LOG) if rows else None,
    )
