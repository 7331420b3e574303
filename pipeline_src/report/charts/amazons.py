"""Charts of Amazons: how its nets learn, what they say about held-out games, and their matches."""

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
"""Of the nets, by the loss of Amazons-Net or the newer one's name, and of the baselines."""
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
    """Of the checkout ``folder``, None for one that cannot be drawn yet."""
    yield learning(folder)
    yield phases(folder)
    yield calibration(folder)
    yield matches(folder)
    yield amazons_engine.doublings(folder)
    yield amazons_engine.matches(folder)


def learning(folder: Path) -> Chart | None:
    """What the nets name of the validation split, by epoch."""
    found = _found(folder, "train/{}.csv", NETS)
    if not found:
        return None
    figure, axes = panels(3, height=1.75)
    columns = {
        "validation_move_top1": "moves (from, to) named first",
        "validation_arrow_top1": "arrows named first",
        "validation_arrow_value_accuracy": "winners named",
    }
    longest = max(max(rows.numbers("epoch")) for rows in found.values())
    for one, (column, words) in zip(axes, columns.items(), strict=True):
        for place, (name, rows) in enumerate(found.items()):
            shift = 0.02 * max(1, longest - 1) * (place - (len(found) - 1) / 2)  # points of one epoch would hide others
            epochs = [epoch + shift for epoch in rows.numbers("epoch")]
            curve(one, epochs, rows.numbers(column), _words(name), LOOKS[name])
        one.set_title(f"share of {words}")
        from_zero(one)
    axes[-1].set_xlabel("epoch")
    count_axis(axes[-1].xaxis)
    legend(figure, axes[0])
    return chart(
        "amazons-learning",
        "What the Amazons nets learn",
        "Shares of the validation split's moves, arrows and winners that each net names, after each epoch: those of "
        "Amazons-Net, under the names of readings of its loss, and of the residual net.",
        f"{REPORTS}/train/*.csv",
        "dvc repro amazons_train",
        figure,
    )


def phases(folder: Path) -> Chart | None:
    """What nets and baselines name of held-out games, by phase of the game."""
    found = _found(folder, "evaluate/{}.phases.csv", tuple(LOOKS))
    if not found:
        return None
    figure, axes = panels(3, height=1.85)
    columns = {
        "from_to_top1": "moves (from, to) named first",
        "arrow_top1": "arrows named first",
        "turn_top1": "whole turns named first",
    }
    names = list(dict.fromkeys(phase for rows in found.values() for phase in rows.words("phase")))
    for one, (column, words) in zip(axes, columns.items(), strict=True):
        for place, (name, rows) in enumerate(found.items()):
            shift = 0.11 * (place - (len(found) - 1) / 2)
            at = [names.index(phase) + shift for phase in rows.words("phase")]
            values = rows.estimates(column, f"{column}_low", f"{column}_high")
            measured(one, at, values, _words(name), LOOKS[name], joined=False)
        one.set_title(f"share of {words}")
        from_zero(one)
        one.grid(visible=False, axis="x")
    axes[-1].set_xticks(range(len(names)), [_phase(name) for name in names])
    axes[-1].set_xlabel("turn of the game")
    legend(figure, axes[0])
    return chart(
        "amazons-phases",
        "Turns of held-out games named, by phase",
        "Shares of the test split's turns whose move, arrow and both a net names first, with 95 % intervals that take "
        "games as clusters. One ply looks one ply ahead by the engine's evaluation; uniform gives all legal turns the "
        "same chance.",
        f"{REPORTS}/evaluate/*.phases.csv",
        "dvc repro amazons_evaluate amazons_baselines",
        figure,
    )


def calibration(folder: Path) -> Chart | None:
    """Predicted against observed win rates."""
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
        "Win rates predicted and observed",
        "Turns of the test split in tenths of the win rate predicted for the mover, and the share that was won, "
        "with 95 % intervals that take games as clusters. Cross entropy is Amazons-Net.",
        f"{REPORTS}/evaluate/*.calibration.csv",
        "dvc repro amazons_evaluate amazons_baselines",
        figure,
    )


def matches(folder: Path) -> Chart | None:
    """Scores of the nets in matches."""
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
    axes.set_xlabel("score of the player named first")
    return chart(
        "amazons-matches",
        "Matches of the Amazons nets",
        "Score of the player named first, with 95 % intervals, in colour-swapped pairs; the nets play the turn that "
        "they name first. The dashed line is equal strength.",
        f"{REPORTS}/match.json",
        "dvc repro amazons_match",
        figure,
    )


def _found(folder: Path, place: str, names: tuple[str, ...]) -> dict[str, Table]:
    """Tables of the baselines and of the nets that params.yaml names: those of other nets are of an earlier run."""
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
