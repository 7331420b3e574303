"""Charts of the search depth chosen by a net: balancing, confusion, depth and clock by move number, matches."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from pipeline_src.report.charts import SHARE, Chart, Metrics, Rows, chart, curves, heat, points, ranked, table
from pipeline_src.report.figures import REGISTRY

REPORTS = Path("artifacts/reports/depth")
MEASURED = Path("docs/measured/search_depth.json")
PLAYERS = {
    "cnn": "cnn",
    "ours": "ours",
    "table_cnn": "table for cnn",
    "table_ours": "table for ours",
    "deepening": "deepening",
}  # Players in the charts by move number
CHOOSERS = ("cnn_", "ours_")  # Players that choose a depth; the other committed matches compare amounts of compute
NETS = {"cnn": "published net", "ours": "our net"}
ENOUGH = 0.2  # Least share of a player's games that reach a move for its mean to be shown


def charts(folder: Path) -> Iterator[Chart | None]:
    """Yield the charts of the checkout ``folder``, None for each one without data."""
    evaluated = table(folder / REPORTS / "balance.csv", "macro_f1", "accuracy", "mean_depth", words=("model",))
    yield learning(folder, [row["model"] for row in evaluated])
    yield balance(folder, evaluated)
    yield confusion(folder)
    yield matches(folder)
    yield curve(folder)
    yield by_move(folder, "depth", "depth-by-move", "Depth searched, by move", "plies searched, mean")
    yield by_move(folder, "used", "depth-clock", "Clock used, by move", "share of the clock used before the move, mean")


def learning(folder: Path, models: list[str]) -> Chart | None:
    """Draw the validation figures of the last evaluation's models by training step."""
    rows = [
        row
        for name in models
        for row in points(
            table(folder / REPORTS / "train" / f"{name}.csv", "step", "validation_macro_f1"),
            "step",
            "validation_macro_f1",
            series=_words(name),
        )
    ]
    return chart(
        "depth-learning",
        "Depth nets: macro F1 during training",
        "Macro F1 on the validation split by training step, for each model of depth_train.models. The model 'ours "
        "needed' is trained on another label, the depth that was needed.",
        f"{REPORTS}/train/*.csv",
        "dvc repro depth_train",
        curves(rows, "training step", "macro F1 on the validation split", x_scale={"zero": True}),
    )


def balance(folder: Path, evaluated: Rows) -> Chart | None:
    """Draw macro F1 and accuracy for each way to balance the classes."""
    found = Metrics(folder / REPORTS / "evaluate.json")
    # A net whose mean depth is a whole number answers with that depth always; its accuracy is no merit.
    always = {row["model"]: f" (always {row['mean_depth']:g})" for row in evaluated if row["mean_depth"] % 1 == 0}
    rows = [
        {
            "name": _words(row["model"]) + always.get(row["model"], ""),
            **(found.estimate("models", row["model"], column) or {"value": row[column]}),
            "series": words,
        }
        for row in evaluated
        for column, words in (("macro_f1", "macro F1"), ("accuracy", "accuracy"))
    ]
    return chart(
        "depth-balance",
        "Ways to balance the classes",
        "Macro F1 and accuracy of the depth on the test split; smote is the published method. The 95 % intervals are "
        "clustered by game. The model 'ours needed' is trained on another label.",
        f"{REPORTS}/balance.csv and evaluate.json",
        "dvc repro depth_evaluate",
        ranked(rows, "on the test split, not balanced", scale=SHARE),
    )


def confusion(folder: Path) -> Chart | None:
    """Draw the confusion matrix of each model."""
    rows = table(folder / REPORTS / "confusion.csv", "label", "chosen", "count", words=("model",))
    depths = sorted({row[key] for row in rows for key in ("label", "chosen")})
    cells = []
    for model in dict.fromkeys(row["model"] for row in rows):
        counts = {(row["label"], row["chosen"]): row["count"] for row in rows if row["model"] == model}
        for label, chosen in product(depths, depths):
            count, of = counts.get((label, chosen), 0), sum(counts.get((label, other), 0) for other in depths)
            cell = {"panel": _words(model), "label": f"{label:.0f}", "chosen": f"{chosen:.0f}"}
            cells.append(cell | {"count": count or None, "share_of_label": count / of if of else 0})
    return chart(
        "depth-confusion",
        "Depths chosen, by label",
        "Confusion matrix of the test split: the label, which is the depth that the search reached (for 'ours needed' "
        "the depth that was needed), against the depth that the net chose. Darker cells are larger shares of a row.",
        str(REPORTS / "confusion.csv"),
        "dvc repro depth_evaluate",
        heat(cells, "depth chosen", "label"),
    )


def matches(folder: Path) -> Chart | None:
    """Draw the scores of the last dvc repro and the committed ones, with the published score against a table."""
    last, committed = Metrics(folder / REPORTS / "match.json"), Metrics(folder / MEASURED)
    chosen = [name for name in committed.keys("matches") if name.startswith(CHOOSERS)]
    played = [name for name in last.keys() if name != "tables"]  # noqa: SIM118 - no dict
    found = {(name, "committed, many games"): committed.estimate("matches", name, "score") for name in chosen}
    found |= {(name, "last dvc repro"): last.estimate(name, "score") for name in played}
    value = REGISTRY["search_depth"]["cnn_unbeaten_vs_depth3"].published
    if value is not None:
        found |= {(name, "published"): {"value": value} for name, _ in tuple(found) if name == "cnn_depth3"}
    order = ("committed, many games", "last dvc repro", "published")
    rows = [
        {"name": _pairing(name), **score, "series": series}
        for (name, series), score in sorted(
            found.items(), key=lambda one: (not one[0][0].endswith("_table"), one[0][0], order.index(one[0][1]))
        )
        if score
    ]
    return chart(
        "depth-matches",
        "Matches of the players that choose their depth",
        "Score of A in A v B, with 95 % intervals, in colour-swapped pairs. cnn is the published net, table the "
        "opponent fitted to equal compute; published is the unbeaten rate of this net against a fixed number of plies. "
        "The dashed line is equal strength.",
        f"{REPORTS}/match.json and {MEASURED}",
        "dvc repro depth_match and make measure-search_depth",
        ranked(rows, "score of A in A v B", order=order, scale=SHARE, level=0.5),
    )


def curve(folder: Path) -> Chart | None:
    """Draw score and margin by the share of its clock that the opponent spends, with the printed ones as lines."""
    found, rows = Metrics(folder / MEASURED), list[dict[str, Any]]()
    for name in found.keys("curve"):
        net, _, opponent = name.partition("_")
        for panel, key in (("score", "score"), ("margin, squares", "margin")):
            spent, estimate = found.estimate("curve", name, "spent"), found.estimate("curve", name, key)
            if spent and estimate:
                kind = "fixed depth" if opponent.startswith("depth") else "table"
                one = {"low": estimate.get("low"), "high": estimate.get("high"), "series": NETS[net], "panel": panel}
                rows.append({"x": spent["value"], "y": estimate["value"], "dash": kind, **one})
    rows.sort(key=lambda row: (row["series"], row["x"]))
    figures = REGISTRY["search_depth"]
    for panel, figure in (("score", "cnn_unbeaten_vs_depth3"), ("margin, squares", "cnn_margin_vs_depth3")):
        ends = (0.0, 1.0) if rows else ()
        level = {"y": figures[figure].published, "series": "printed", "dash": "fixed depth", "panel": panel}
        rows += [{"x": x, **level} for x in ends]
    return chart(
        "depth-curve",
        "Score by what the opponent spends",
        "Score and mean margin against fixed depths and tables, by the share of its clock that the opponent spends, "
        "with 95 % intervals. The printed 73.4 % unbeaten and margin of 1.65 are lines.",
        str(MEASURED),
        "make measure-search_depth ONLY=curve_",
        curves(
            rows,
            "share of its clock that the opponent spends",
            "of the net",
            order=("published net", "our net", "printed"),
        ),
    )


def by_move(folder: Path, column: str, name: str, title: str, words: str) -> Chart | None:
    """Draw the mean of a column of the players' moves by move number."""
    rows = []
    for player, series in PLAYERS.items():
        own = table(folder / REPORTS / "moves" / f"{player}.csv", "move", "moves", column)
        most = max((row["moves"] for row in own), default=0)
        rows += points([row for row in own if row["moves"] >= ENOUGH * most], "move", column, series=series)
    return chart(
        name,
        title,
        f"Mean over the games of each player at its move of that number: {words.removesuffix(', mean')}. A table is "
        "fitted to what the net spends; moves that fewer than a fifth of the games came to are left out.",
        f"{REPORTS}/moves/*.csv",
        "dvc repro depth_match",
        curves(rows, "move of the player", words, order=tuple(PLAYERS.values()), x_scale={"zero": True}),
    )


def _words(name: str) -> str:
    return name.replace("_", " ")


def _pairing(match: str) -> str:
    first, _, opponent = match.partition("_")
    return f"{first} v {_words(opponent)}" if f"{first}_" in (*CHOOSERS, "depth4_") else _words(match)
