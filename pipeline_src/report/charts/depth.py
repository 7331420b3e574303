"""Charts of the search depth chosen by a net: balancing, confusion, depth and clock by move number, matches."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline_src.report.charts.chart import Chart, chart
from pipeline_src.report.charts.drawing import (
    WIDTH,
    Look,
    bars,
    count_axis,
    curve,
    heat,
    legend,
    level,
    panels,
    ranked,
    share_axis,
)
from pipeline_src.report.charts.reading import Estimate, Table, metrics, table
from pipeline_src.report.registry import REGISTRY

REPORTS = Path("artifacts/reports/depth")
MEASURED = Path("docs/measured/search_depth.json")
PLAYERS = {"cnn": Look(0), "ours": Look(1), "table_cnn": Look(2), "table_ours": Look(3), "deepening": Look(6)}
"""Players in the charts by move number."""
CHOOSERS = ("cnn_", "ours_")
"""Players that choose a depth; the other committed matches compare amounts of compute."""
ENOUGH = 0.2
"""Least share of a player's games that reach a move for its mean to be shown."""


def charts(folder: Path) -> Iterator[Chart | None]:
    """Return the charts of the checkout ``folder``, None for each one without data."""
    yield learning(folder)
    yield balance(folder)
    yield confusion(folder)
    yield matches(folder)
    yield by_move(folder)
    yield clock(folder)


def learning(folder: Path) -> Chart | None:
    """Draw the validation figures of the last evaluation's models by training step."""
    evaluated = table(folder / REPORTS / "balance.csv")
    names = evaluated.words("model") if evaluated else []
    curves = {name: table(folder / REPORTS / "train" / f"{name}.csv") for name in names}
    found = {name: rows for name, rows in curves.items() if rows}
    if not found:
        return None
    figure, (axes,) = panels(height=3.1)
    for place, (name, rows) in enumerate(found.items()):
        curve(axes, rows.numbers("step"), rows.numbers("validation_macro_f1"), _words(name), Look(place))
    axes.set_xlim(0)
    axes.set_ylim(0)
    axes.set_title("macro F1 on the validation split")
    axes.set_xlabel("training step")
    count_axis(axes.xaxis)
    legend(figure, axes)
    return chart(
        "depth-learning",
        "Depth nets: macro F1 during training",
        "Macro F1 on the validation split by training step, for each model of depth_train.models. The model 'ours "
        "needed' is trained on another label, the depth that was needed.",
        f"{REPORTS}/train/*.csv",
        "dvc repro depth_train",
        figure,
    )


def balance(folder: Path) -> Chart | None:
    """Draw macro F1 and accuracy for each way to balance the classes."""
    rows = table(folder / REPORTS / "balance.csv")
    if rows is None:
        return None
    models = rows.words("model")
    names = [_words(model) for model in models]
    figure, (axes,) = panels(height=0.9 + 0.42 * len(names))
    evaluated = metrics(folder / REPORTS / "evaluate.json")

    def told(name: str) -> list[Estimate]:
        found = [evaluated.estimate(f"models.{model}.{name}") if evaluated else None for model in models]
        return [one or Estimate(value) for one, value in zip(found, rows.numbers(name), strict=True)]

    bars(axes, names, told("macro_f1"), "macro F1", Look(0), 0, 2)
    bars(axes, names, told("accuracy"), "accuracy", Look(4), 1, 2)
    share_axis(axes.xaxis)
    axes.set_xlim(0, 1)
    axes.set_xlabel("on the test split, not balanced")
    legend(figure, axes)
    return chart(
        "depth-balance",
        "Ways to balance the classes",
        "Macro F1 and accuracy of the depth on the test split; smote is the published method. The 95 % intervals are "
        "clustered by game. The model 'ours needed' is trained on another label.",
        f"{REPORTS}/balance.csv and evaluate.json",
        "dvc repro depth_evaluate",
        figure,
    )


def confusion(folder: Path) -> Chart | None:
    """Draw the confusion matrix of each model."""
    rows = table(folder / REPORTS / "confusion.csv")
    if rows is None:
        return None
    from matplotlib.figure import Figure

    models = list(rows.groups("model"))
    lines = math.ceil(len(models) / 2)
    figure = Figure(figsize=(WIDTH, 2.0 * lines), layout="constrained")
    grid = list(figure.subplots(lines, 2, squeeze=False).flat)
    for axes, (name, own) in zip(grid, models, strict=False):
        counts = dict(zip(zip(own.words("label"), own.words("chosen"), strict=True), own.numbers("count"), strict=True))
        depths = sorted({depth for pair in counts for depth in pair}, key=int)
        found = [[counts.get((label, chosen), 0.0) for chosen in depths] for label in depths]
        shares = [[count / sum(line) if sum(line) else 0.0 for count in line] for line in found]
        heat(axes, shares, [[f"{count:.0f}" if count else "" for count in line] for line in found], depths, depths)
        axes.set_title(_words(name))
    for axes in grid[len(models) :]:
        axes.set_visible(False)
    figure.supxlabel("depth chosen", fontsize=9, color="#666666")
    figure.supylabel("label", fontsize=9, color="#666666")
    return chart(
        "depth-confusion",
        "Depths chosen, by label",
        "Confusion matrix of the test split: the label, which is the depth that the search reached (for 'ours needed' "
        "the depth that was needed), against the depth that the net chose. Darker cells are larger shares of a row.",
        str(REPORTS / "confusion.csv"),
        "dvc repro depth_evaluate",
        figure,
    )


def matches(folder: Path) -> Chart | None:
    """Draw the scores of the last dvc repro and the committed ones, beside the published score against a table."""
    last, committed = metrics(folder / REPORTS / "match.json"), metrics(folder / MEASURED)
    found: dict[str, dict[str, Estimate]] = {"committed": {}, "last": {}}
    for which, file, below in (("committed", committed, "matches."), ("last", last, "")):
        for match in file.keys(below.rstrip(".")) if file else []:
            score = file.estimate(f"{below}{match}.score") if file and match != "tables" else None
            if score is not None and (which == "last" or match.startswith(CHOOSERS)):
                found[which][match] = score
    names = sorted({*found["committed"], *found["last"]}, key=lambda match: (not match.endswith("_table"), match))
    if not names:
        return None
    figure, (axes,) = panels(height=1.2 + 0.3 * len(names))
    looks = {"committed": ("committed, many games", Look(0), -0.13), "last": ("last dvc repro", Look(1), 0.13)}
    for which, (words, look, shift) in looks.items():
        if found[which]:
            ranked(axes, [_pairing(n) for n in names], [found[which].get(n) for n in names], words, look, shift)
    published = REGISTRY["search_depth"]["unbeaten_vs_fixed"].published
    tables = sum(name.endswith("_table") for name in names)
    if published is not None and tables:
        dashes: dict[str, Any] = {"color": "#222222", "linestyle": (0, (2, 1.5)), "linewidth": 1.4}
        axes.plot([published] * 2, [-0.5, tables - 0.5], label=f"published, {published:g}", **dashes)
    level(axes, 0.5, across=True)
    share_axis(axes.xaxis)
    axes.set_xlabel("score of A in A v B")
    legend(figure, axes)
    return chart(
        "depth-matches",
        "Matches of the players that choose their depth",
        "Score of A in A v B, with 95 % intervals, in colour-swapped pairs. cnn is the published net, table the "
        "published opponent; the dark dashes mark the published unbeaten rate against it. The grey line is equal "
        "strength.",
        f"{REPORTS}/match.json and {MEASURED}",
        "dvc repro depth_match and make measure-search_depth",
        figure,
    )


def by_move(folder: Path) -> Chart | None:
    """Draw the plies searched by move number."""
    return _by_move(
        folder,
        "depth",
        "depth-by-move",
        "Depth searched, by move",
        "plies searched, mean",
        "Mean of the plies that each player searched at its move of that number.",
    )


def clock(folder: Path) -> Chart | None:
    """Draw the share of the clock used by move number."""
    return _by_move(
        folder,
        "used",
        "depth-clock",
        "Clock used, by move",
        "share of the clock used before the move, mean",
        "Mean share of its clock that each player had used before its move of that number.",
    )


def _by_move(folder: Path, column: str, name: str, title: str, words: str, caption: str) -> Chart | None:
    tables = {player: table(folder / REPORTS / "moves" / f"{player}.csv") for player in PLAYERS}
    found = {player: _often(rows) for player, rows in tables.items() if rows}
    if not found:
        return None
    figure, (axes,) = panels()
    for player, rows in found.items():
        curve(axes, rows.numbers("move"), rows.numbers(column), _player(player), PLAYERS[player], marker="")
    axes.set_xlim(0)
    axes.set_ylim(0)
    axes.set_title(words)
    axes.set_xlabel("move of the player")
    count_axis(axes.xaxis)
    legend(figure, axes)
    return chart(
        name,
        title,
        f"{caption} A table is fitted to what the net spends; moves that fewer than a fifth of the games came to are "
        "left out.",
        f"{REPORTS}/moves/*.csv",
        "dvc repro depth_match",
        figure,
    )


def _often(rows: Table) -> Table:
    most = max(rows.numbers("moves"))
    return rows.where("moves", lambda moves: float(moves) >= ENOUGH * most)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _player(name: str) -> str:
    return f"table for {name.removeprefix('table_')}" if name.startswith("table_") else name


def _pairing(match: str) -> str:
    first, _, opponent = match.partition("_")
    return f"{first} v {_words(opponent)}" if f"{first}_" in (*CHOOSERS, "depth4_") else _words(match)
