"""Charts of Amazons-Net: learning curves, accuracy and calibration on held-out games, matches; those of the engine."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from pipeline_src.project.params import PARAMS_FILE, load
from pipeline_src.report.charts import SHARE, Chart, Metrics, Rows, chart, curves, points, ranked, table
from pipeline_src.systems.amazons_net.params import AmazonsModelsParams, ModelName

REPORTS = Path("artifacts/reports/amazons")
NETS = get_args(ModelName)  # Nets; Amazons-Net has one for each loss
ORDER = (
    "soft argmax",
    "expected distance",
    "cross entropy",
    "residual",
    "rays",
    "one ply",
    "residual against itself",
    "uniform",
)
MATCHES = {
    "random": "Amazons-Net v random",
    "one_ply": "Amazons-Net v one ply",
    "alphabeta": "Amazons-Net v alphabeta",
    "residual_nets": "residual v Amazons-Net",
    "residual_one_ply": "residual v one ply",
    "residual_alphabeta": "residual v alphabeta",
}
MEASURED = Path("docs/measured/amazons_engine.json")
MEASURE = "make measure-amazons_engine"
ENGINE_MATCHES = {
    "openspiel_100ms": "alphabeta v OpenSpiel's MCTS, 100 ms",
    "one_ply": "alphabeta, 100,000 nodes v one ply",
    "fast": "alphabeta v uct, 10 ms",
    "uct_300ms": "uct v alphabeta, 300 ms",
}
DOUBLING = re.compile(r"doubling_(\d+)_(\d+)")


def charts(folder: Path) -> Iterator[Chart | None]:
    """Yield the charts of the checkout ``folder``, None for each one without data."""
    yield learning(folder)
    yield phases(folder)
    yield calibration(folder)
    yield matches(folder)
    yield zero(folder)
    yield from engine(folder)


def learning(folder: Path) -> Chart | None:
    """Draw the accuracy of the nets on the validation split by epoch."""
    panels = {
        "validation_move_top1": "top-1 accuracy, move (from, to)",
        "validation_arrow_top1": "top-1 accuracy, arrow given the move",
        "validation_arrow_value_accuracy": "value accuracy",
    }
    found = _found(folder, "train/{}.csv", NETS, "epoch", *panels)
    rows = [
        row
        for column, panel in panels.items()
        for name, own in found.items()
        for row in points(own, "epoch", column, series=name, panel=panel)
    ]
    return chart(
        "amazons-learning",
        "Amazons nets: accuracy during training",
        "Top-1 accuracy of move and arrow and value accuracy on the validation split after each epoch: of Amazons-Net, "
        "under the name of its loss, and of the residual net.",
        f"{REPORTS}/train/*.csv",
        "dvc repro amazons_train",
        curves(rows, "epoch", "", order=ORDER),
    )


def zero(folder: Path) -> Chart | None:
    """Draw the score of self-play's nets by the positions evaluated until then."""
    rows = table(folder / REPORTS / "zero/strength.csv", "evaluations", "score", "low", "high")
    return chart(
        "amazons-zero",
        "The Amazons from nothing: score by evaluations",
        "Score of the nets of self-play against the one-ply player, in a search, by the positions that the nets have "
        "evaluated in self-play until then, with 95 % intervals.",
        str(REPORTS / "zero/strength.csv"),
        "dvc repro amazons_zero_evaluate",
        curves(points(rows, "evaluations", "score"), "positions evaluated in self-play", "score", y_scale=SHARE),
    )


def phases(folder: Path) -> Chart | None:
    """Draw the top-1 accuracy of nets and baselines on held-out games by phase of the game."""
    panels = {
        "from_to_top1": "top-1 accuracy, move (from, to)",
        "arrow_top1": "top-1 accuracy, arrow given the move",
        "turn_top1": "top-1 accuracy, whole turn",
    }
    numbers = [column + end for column in panels for end in ("", "_low", "_high")]
    found = _found(folder, "evaluate/{}.phases.csv", (*NETS, "one_ply", "uniform"), *numbers, words=("phase",))
    rows = [
        {
            "name": _phase(row["phase"]),
            **{key: row[column + end] for key, end in (("value", ""), ("low", "_low"), ("high", "_high"))},
            "series": name,
            "panel": panel,
        }
        for column, panel in panels.items()
        for name, own in found.items()
        for row in own
    ]
    return chart(
        "amazons-phases",
        "Amazons nets: top-1 accuracy by phase of the game",
        "Top-1 accuracy on the test split by turn of the game, with 95 % intervals clustered by game. One ply is the "
        "player that looks one ply ahead with the engine's evaluation; uniform is a random choice among the legal "
        "turns.",
        f"{REPORTS}/evaluate/*.phases.csv",
        "dvc repro amazons_evaluate amazons_baselines",
        ranked(rows, "", order=ORDER),
    )


def calibration(folder: Path) -> Chart | None:
    """Draw predicted against observed win rates."""
    numbers = ("predicted", "observed", "low", "high")
    found = _found(folder, "evaluate/{}.calibration.csv", ("cross_entropy", "residual", "one_ply"), *numbers)
    found["residual against itself"] = table(folder / REPORTS / "calibration.csv", *numbers)
    rows = [row for name, own in found.items() for row in points(own, "predicted", "observed", series=name)]
    return chart(
        "amazons-calibration",
        "Amazons nets: calibration of the win rate",
        "Turns of the test split, and of games of PUCT with the residual net against itself (the first half of each), "
        "binned by the win rate predicted for the side to move, and the observed win rate, with 95 % intervals "
        "clustered by game. Cross entropy is Amazons-Net. On the dashed line the two are equal.",
        f"{REPORTS}/*/*.calibration.csv, {REPORTS}/calibration.csv",
        "dvc repro amazons_evaluate amazons_baselines amazons_calibration",
        curves(rows, "win rate predicted", "win rate observed", template="calibration", order=ORDER),
    )


def matches(folder: Path) -> Chart | None:
    """Draw the scores of the nets in matches."""
    found = Metrics(folder / REPORTS / "match.json")
    there = found.keys()
    names = [*(name for name in MATCHES if name in there), *(name for name in there if name not in MATCHES)]
    scores = {MATCHES.get(name, _words(name)): found.estimate(name, "score") for name in names}
    return chart(
        "amazons-matches",
        "Matches of the Amazons nets",
        "Score of A in A v B, with 95 % intervals, in colour-swapped pairs. The nets play their most likely turn "
        "without search. The dashed line is equal strength.",
        f"{REPORTS}/match.json",
        "dvc repro amazons_match",
        ranked(
            [{"name": name, **score} for name, score in scores.items() if score],
            "score of A in A v B",
            scale=SHARE,
            level=0.5,
        ),
    )


def engine(folder: Path) -> Iterator[Chart | None]:
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
        for named in (doublings, ENGINE_MATCHES)
    ]
    yield chart(
        "amazons-engine-doublings",
        "The Amazons engine with twice the time",
        "Score of alpha-beta against itself with half the time a move, with 95 % intervals, in colour-swapped pairs; "
        "0.64 is 100 Elo. The dashed line is equal strength.",
        str(MEASURED),
        MEASURE,
        ranked(scores[0], "score of the side with twice the time", scale={"domain": [0.4, 0.9]}, level=0.5),
    )
    yield chart(
        "amazons-engine-matches",
        "Matches of the Amazons engine",
        "Score of A in A v B, with 95 % intervals, in colour-swapped pairs. Time or nodes are per move. The dashed "
        "line is equal strength.",
        str(MEASURED),
        MEASURE,
        ranked(scores[1], "score of A in A v B", scale=SHARE, level=0.5),
    )


def _found(
    folder: Path, place: str, names: tuple[str, ...], *numbers: str, words: tuple[str, ...] = ()
) -> dict[str, Rows]:
    """Return the tables of the baselines and of the nets in params.yaml. Tables of other nets are from earlier runs."""
    read = {name: table(folder / REPORTS / place.format(name), *numbers, words=words) for name in names}
    found = {name: rows for name, rows in read.items() if rows}
    if found.keys() & {*NETS}:
        trained = load(AmazonsModelsParams, "amazons_models", folder / PARAMS_FILE).trained
        found = {name: rows for name, rows in found.items() if name not in NETS or name in trained}
    return {_words(name): rows for name, rows in found.items()}


def _words(name: str) -> str:
    return name.replace("_", " ")


def _phase(name: str) -> str:
    first, _, last = name.partition("-")
    return f"{first} to {last}" if last else f"from {first}"
