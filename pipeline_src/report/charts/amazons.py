"""Charts of Amazons-Net: learning curves, accuracy and calibration on held-out games, and matches."""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from pipeline_src.project.params import PARAMS_FILE, load
from pipeline_src.report.charts import amazons_engine
from pipeline_src.report.charts.chart import Chart, chart
from pipeline_src.report.charts.drawing import (
    Look,
    count_axis,
    curve,
    from_zero,
    legend,
    level,
    measured,
    panels,
    ranked,
    share_axis,
)
from pipeline_src.report.charts.reading import Table, metrics, table
from pipeline_src.systems.amazons_net.params import AmazonsModelsParams, ModelName

REPORTS = Path("artifacts/reports/amazons")
LOOKS = {
    "soft_argmax": Look(0),
    "expected_distance": Look(1),
    "cross_entropy": Look(2),
    "residual": Look(3),
    "one_ply": Look(5),
    "uniform": Look(6),
}
"""Names of nets and baselines; those of Amazons-Net are by loss."""
NETS = get_args(ModelName)
MATCHES = {
    "random": "Amazons-Net v random",
    "one_ply": "Amazons-Net v one ply",
    "alphabeta": "Amazons-Net v alphabeta",
    "residual_nets": "residual v Amazons-Net",
    "residual_one_ply": "residual v one ply",
    "residual_alphabeta": "residual v alphabeta",
}


def charts(folder: Path) -> Iterator[Chart | None]:
    """Return the charts of the checkout ``folder``, None for each one without data."""
    yield learning(folder)
    yield phases(folder)
    yield calibration(folder)
    yield matches(folder)
    yield amazons_engine.doublings(folder)
    yield amazons_engine.matches(folder)


def learning(folder: Path) -> Chart | None:
    """Draw the accuracy of the nets on the validation split by epoch."""
    found = _found(folder, "train/{}.csv", NETS)
    if not found:
        return None
    figure, axes = panels(3, height=1.75)
    columns = {
        "validation_move_top1": "top-1 accuracy, move (from, to)",
        "validation_arrow_top1": "top-1 accuracy, arrow given the move",
        "validation_arrow_value_accuracy": "value accuracy",
    }
    longest = max(max(rows.numbers("epoch")) for rows in found.values())
    for one, (column, words) in zip(axes, columns.items(), strict=True):
        for place, (name, rows) in enumerate(found.items()):
            shift = 0.02 * max(1, longest - 1) * (place - (len(found) - 1) / 2)  # points of one epoch would hide others
            epochs = [epoch + shift for epoch in rows.numbers("epoch")]
            curve(one, epochs, rows.numbers(column), _words(name), LOOKS[name])
        one.set_title(words)
        from_zero(one)
    axes[-1].set_xlabel("epoch")
    count_axis(axes[-1].xaxis)
    legend(figure, axes[0])
    return chart(
        "amazons-learning",
        "Amazons nets: accuracy during training",
        "Top-1 accuracy of move and arrow and value accuracy on the validation split after each epoch: of Amazons-Net, "
        "under the name of its loss, and of the residual net.",
        f"{REPORTS}/train/*.csv",
        "dvc repro amazons_train",
        figure,
    )


def phases(folder: Path) -> Chart | None:
    """Draw the top-1 accuracy of nets and baselines on held-out games by phase of the game."""
    found = _found(folder, "evaluate/{}.phases.csv", tuple(LOOKS))
    if not found:
        return None
    figure, axes = panels(3, height=1.85)
    columns = {
        "from_to_top1": "top-1 accuracy, move (from, to)",
        "arrow_top1": "top-1 accuracy, arrow given the move",
        "turn_top1": "top-1 accuracy, whole turn",
    }
    names = list(dict.fromkeys(phase for rows in found.values() for phase in rows.words("phase")))
    for one, (column, words) in zip(axes, columns.items(), strict=True):
        for place, (name, rows) in enumerate(found.items()):
            shift = 0.11 * (place - (len(found) - 1) / 2)
            at = [names.index(phase) + shift for phase in rows.words("phase")]
            values = rows.estimates(column, f"{column}_low", f"{column}_high")
            measured(one, at, values, _words(name), LOOKS[name], joined=False)
        one.set_title(words)
        from_zero(one)
        one.grid(visible=False, axis="x")
    axes[-1].set_xticks(range(len(names)), [_phase(name) for name in names])
    axes[-1].set_xlabel("turn of the game")
    legend(figure, axes[0])
    return chart(
        "amazons-phases",
        "Amazons nets: top-1 accuracy by phase of the game",
        "Top-1 accuracy on the test split, with 95 % intervals clustered by game. One ply is the player that looks one "
        "ply ahead with the engine's evaluation; uniform is a random choice among the legal turns.",
        f"{REPORTS}/evaluate/*.phases.csv",
        "dvc repro amazons_evaluate amazons_baselines",
        figure,
    )


def calibration(folder: Path) -> Chart | None:
    """Draw predicted against observed win rates."""
    found = _found(folder, "evaluate/{}.calibration.csv", ("cross_entropy", "residual", "one_ply"))
    if not found:
        return None
    figure, (axes,) = panels(height=3.4)
    axes.plot([0, 1], [0, 1], color="#666666", linestyle=(0, (4, 3)), linewidth=1, label="as predicted", zorder=1)
    for name, rows in found.items():
        measured(axes, rows.numbers("predicted"), rows.estimates("observed"), _words(name), LOOKS[name])
    share_axis(axes.xaxis)
    share_axis(axes.yaxis)
    axes.set_title("win rate observed")
    axes.set_xlabel("win rate predicted")
    legend(figure, axes)
    return chart(
        "amazons-calibration",
        "Amazons nets: calibration of the win rate",
        "Turns of the test split, binned by the win rate predicted for the side to move, and the observed win rate, "
        "with 95 % intervals clustered by game. Cross entropy is Amazons-Net.",
        f"{REPORTS}/evaluate/*.calibration.csv",
        "dvc repro amazons_evaluate amazons_baselines",
        figure,
    )


def matches(folder: Path) -> Chart | None:
    """Draw the scores of the nets in matches."""
    found = metrics(folder / REPORTS / "match.json")
    if found is None:
        return None
    there = found.keys()
    names = [*(name for name in MATCHES if name in there), *(name for name in there if name not in MATCHES)]
    words = [MATCHES.get(name, _words(name)) for name in names]
    figure, (axes,) = panels(height=0.9 + 0.3 * len(names))
    ranked(axes, words, [found.estimate(f"{name}.score") for name in names], "", Look(0))
    level(axes, 0.5, across=True)
    share_axis(axes.xaxis)
    axes.set_xlabel("score of A in A v B")
    return chart(
        "amazons-matches",
        "Matches of the Amazons nets",
        "Score of A in A v B, with 95 % intervals, in colour-swapped pairs. The nets play their most likely turn "
        "without search. The dashed line is equal strength.",
        f"{REPORTS}/match.json",
        "dvc repro amazons_match",
        figure,
    )


def _found(folder: Path, place: str, names: tuple[str, ...]) -> dict[str, Table]:
    """Return the tables of the baselines and of the nets in params.yaml. Tables of other nets are from earlier runs."""
    read = {name: table(folder / REPORTS / place.format(name)) for name in names}
    found = {name: rows for name, rows in read.items() if rows}
    if not found.keys() & {*NETS}:
        return found
    trained = load(AmazonsModelsParams, "amazons_models", folder / PARAMS_FILE).trained
    return {name: rows for name, rows in found.items() if name not in NETS or name in trained}


def _words(name: str) -> str:
    return name.replace("_", " ")


def _phase(name: str) -> str:
    first, _, last = name.partition("-")
    return f"{first} to {last}" if last else f"from {first}"
