"""Charts of Gomoku from self-play: losses, gates, Elo by generation and over hours, baselines, the round robin."""

from collections.abc import Iterator
from itertools import accumulate
from operator import itemgetter
from pathlib import Path

from pipeline_src.arena.score import rate
from pipeline_src.project.params import PARAMS_FILE, at, read_tree
from pipeline_src.report.charts import SHARE, Chart, Rows, chart, curves, heat, points, table
from pipeline_src.report.figures import origin, read_times
from pipeline_src.systems.gomoku_zero.declaration import ANCHOR

REPORTS = Path("artifacts/reports/gomoku")
RERUN = "dvc repro gomoku_evaluate"
ANCHOR_WORDS = "MCTS with 1,000 playouts"


def charts(folder: Path) -> Iterator[Chart | None]:
    """Yield the charts of the checkout ``folder``, None for each one without data."""
    yield losses(folder)
    yield gates(folder)
    yield elo(folder)
    yield elo_hours(folder)
    yield baselines(folder)
    yield round_robin(folder)
    yield calibration(folder)


def losses(folder: Path) -> Chart | None:
    """Draw the losses, the published figure 6."""
    rows = table(folder / REPORTS / "losses.csv", "iteration", "policy", "mean", "value")
    series = {name: name for name in ("policy", "mean", "value")}
    return chart(
        "gomoku-losses",
        "Losses over all generations",
        "Policy loss, value loss and their mean on the training batches, as in the published figure 6.",
        str(REPORTS / "losses.csv"),
        RERUN,
        curves(points(rows, "iteration", series), "training step, over all generations", "loss"),
    )


def gates(folder: Path) -> Chart | None:
    """Draw the gates of all generations, the published table 1."""
    columns = ("generation", "wins", "draws", "losses", "accepted")
    rows = []
    for row in table(folder / REPORTS / "table1.csv", *columns):
        number, wins, draws, lost, accepted = (row[column] for column in columns)
        score = rate(wins + draws / 2, int(wins + draws + lost))
        series = "became the best player" if accepted else "did not"
        rows.append({"x": number, "y": score.value, "low": score.low, "high": score.high, "series": series})
    return chart(
        "gomoku-gates",
        "Gates: each generation against the best player before it",
        "Score in the gate's games, with Wilson's 95 % interval, and whether the new net took the best player's place "
        "(by params it may at any score). The dashed line is equal strength.",
        str(REPORTS / "table1.csv"),
        RERUN,
        curves(
            rows,
            "generation",
            "score against the best player before",
            order=("became the best player", "did not"),
            y_scale=SHARE,
            joined=False,
            level=0.5,
        ),
    )


def elo(folder: Path) -> Chart | None:
    """Draw the Elo of the rated models by generation."""
    return chart(
        "gomoku-elo",
        "Elo by generation",
        f"Elo of the rated models with 95 % intervals; {anchor(folder)} is 0.",
        str(REPORTS / "elo.csv"),
        RERUN,
        curves(points(rated(folder), "generation", "elo"), "generation", "Elo", level=0),
    )


def elo_hours(folder: Path) -> Chart | None:
    """Draw Elo over hours, the published figure 7."""
    rows = rated_hours(folder)
    unit, scale = ("hours", 1) if max((row["hours"] for row in rows), default=0) >= 2 else ("minutes", 60)
    return chart(
        "gomoku-elo-hours",
        "Elo over time",
        f"Elo of the rated models with 95 % intervals over the {unit} that all generations up to them took on the "
        f"machine that ran them; {anchor(folder)} is 0. The published figure 7 has about 4,000 after 40 hours, on a "
        "scale whose zero is not printed.",
        f"{REPORTS}/elo.csv and generations/*.timings.json",
        RERUN,
        curves(
            points(rows, lambda row: row["hours"] * scale, "elo"),
            f"{unit} of self-play, training and gates",
            "Elo",
            x_scale={"zero": True},
            level=0,
        ),
    )


def anchor(folder: Path) -> str:
    """Return the player with Elo 0 in words: that of the params that made the ratings."""
    path = folder / PARAMS_FILE
    made = origin(folder / REPORTS / "evaluate.json", read_tree(path) if path.exists() else {})
    section = made.values.get("gomoku_evaluate", {})
    player = at(section, f"opponents.{at(section, 'anchor')}.player")
    return ANCHOR_WORDS if player in (None, ANCHOR) else str(player)


def rated(folder: Path) -> Rows:
    """Return the Elo of each rated generation."""
    return table(folder / REPORTS / "elo.csv", "generation", "elo", "low", "high")


def rated_hours(folder: Path) -> Rows:
    """Return the Elo of each rated generation, with the hours from the start to its end.

    Empty without data, or if the ratings have more generations than params.yaml, since the times of the others are
    unknown.

    Raises:
        ZugwerkError: a file is damaged.
    """
    rows = rated(folder)
    times = read_times(folder) if rows else []
    ends = accumulate(sum(one.seconds.values()) for one in times)
    hours = {one.number: end / 3600 for one, end in zip(times, ends, strict=True)}
    if not {row["generation"] for row in rows} <= hours.keys():
        return []
    return [row | {"hours": hours[row["generation"]]} for row in rows]


def baselines(folder: Path) -> Chart | None:
    """Draw the scores against the baselines, the published table 3; not if no interval is narrower than a half."""
    rows = table(folder / REPORTS / "table3.csv", "generation", "score", "low", "high", words=("opponent",))
    if all(row["high"] - row["low"] > 0.5 for row in rows):
        return None
    return chart(
        "gomoku-baselines",
        "Rated models against minimax and alpha-beta",
        "Score of the rated models against each baseline, with 95 % intervals, as in the published table 3; the digit "
        "is the plies that alpha-beta looks ahead.",
        str(REPORTS / "table3.csv"),
        RERUN,
        curves(
            points(rows, "generation", "score", series=itemgetter("opponent")),
            "generation",
            "score against the baseline",
            y_scale=SHARE,
        ),
    )


def round_robin(folder: Path) -> Chart | None:
    """Draw the round robin, the published table 2."""
    rows = table(folder / REPORTS / "table2.csv", "points", "games", words=("generation", "opponent"))
    cells = {(row["generation"], row["opponent"]): row for row in rows}
    models = list(dict.fromkeys(row["generation"] for row in rows))
    found = []
    for model in models:
        for opponent in (*models, "all"):
            row = cells.get((model, opponent), {"points": None, "games": 0})
            share = row["points"] / row["games"] if row["games"] else None
            found.append({"label": model, "chosen": opponent, "count": row["points"], "share_of_label": share})
    return chart(
        "gomoku-round-robin",
        "Rated models against each other",
        "Points of the model of the row against that of the column, by generation, as in the published table 2; the "
        "darker, the greater their share.",
        str(REPORTS / "table2.csv"),
        RERUN,
        heat([row | {"panel": "points of the model on the left"} for row in found], "opponent", "model", 1),
    )


def calibration(folder: Path) -> Chart | None:
    """Draw predicted against observed win rates of the best player."""
    rows = table(folder / REPORTS / "calibration.csv", "predicted", "observed", "low", "high")
    return chart(
        "gomoku-calibration",
        "Gomoku: calibration of the best player's win rate",
        "Turns of its games against itself (the first half of each), binned by the win rate that the net predicts for "
        "the side to move, and the observed win rate, with 95 % intervals clustered by game. On the dashed line the "
        "two are equal.",
        str(REPORTS / "calibration.csv"),
        "dvc repro gomoku_calibration",
        curves(
            points(rows, "predicted", "observed"), "win rate predicted", "win rate observed", template="calibration"
        ),
    )
