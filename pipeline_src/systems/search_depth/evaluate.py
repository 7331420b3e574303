"""Stage depth_evaluate: accuracy of every depth net on the test split, and the cost of its choices.

The test split is untouched: no class of it is dropped or filled up. Reads ``artifacts/samples/depth/`` and the models
that ``depth_train.models`` names; writes, under ``artifacts/reports/depth/``, the metrics ``evaluate.json`` and the
tables ``balance.csv`` (a row a model) and ``confusion.csv`` (a row a model, label and choice).
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from imblearn.metrics import geometric_mean_score, sensitivity_specificity_support
from sklearn.metrics import confusion_matrix, f1_score, precision_recall_fscore_support

from pipeline_src.arena.score import Z95, Score, clustered_mean, clustered_rate
from pipeline_src.files import read_json, write_json, write_table
from pipeline_src.project.params import Named, load, load_value
from pipeline_src.systems.search_depth.net import DepthModel, load_depth_model
from pipeline_src.systems.search_depth.params import DepthEvaluateParams, DepthModelParams, DepthSplitParams
from pipeline_src.systems.search_depth.positions import (
    LABELS,
    DepthPositions,
    open_positions,
    split_by_game,
)

SAMPLES = Path("artifacts/samples/depth")
MODELS = Path("artifacts/models/depth")
REPORTS = Path("artifacts/reports/depth")
BATCH = 4096

Row = dict[str, str | float]
Nodes = npt.NDArray[np.int64]


class Test:
    """The test split, and what iterative deepening spent on it."""

    def __init__(self, positions: DepthPositions, rows: npt.NDArray[np.int64], growth: float) -> None:
        """``growth`` is estimated on the training split, see `layer_growth`."""
        self.positions, self.rows, self.growth = positions, rows, growth
        self.games = np.asarray(positions.game)[rows]
        self.needed = np.asarray(positions.needed)[rows]
        self.spent = np.asarray(positions.nodes)[rows].astype(np.float64)

    def choose(self, model: DepthModel) -> npt.NDArray[np.int64]:
        """Layers that a model chooses, [R]."""
        chosen, p = [np.empty(0, np.int64)], self.positions
        for start in range(0, len(self.rows), BATCH):
            r = self.rows[start : start + BATCH]
            chosen.append(model.choose_all(p.planes(model.inputs, r), np.asarray(p.used[r])))
        return np.concatenate(chosen)

    def figures(self, chosen: npt.NDArray[np.int64], label: str) -> dict[str, Any]:
        """Agreement with a label; whether the choice is deep enough; and its nodes, relative to iterative deepening."""
        labels = np.asarray(self.positions.label(label))[self.rows]
        (lowest, highest), matrix = self.positions.classes, self.matrix(chosen, label)
        nodes = nodes_to_depth(np.asarray(self.positions.nodes_by_depth)[self.rows], chosen, self.growth)
        off = chosen - labels.astype(np.int64)
        _, game = np.unique(self.games, return_inverse=True)
        cells = np.zeros((game.max(initial=-1) + 1, *matrix.shape), np.int64)
        np.add.at(cells, (game, labels.astype(np.int64) - lowest, chosen - lowest), 1)
        spent = np.stack([np.bincount(game, nodes), np.bincount(game, self.spent)], axis=1)
        depths = range(lowest, highest + 1)
        precision, recall, f1, _ = precision_recall_fscore_support(labels, chosen, labels=depths, zero_division=np.nan)
        _, specificity, _ = sensitivity_specificity_support(labels, chosen, labels=depths, average=None, warn_for=())
        by_class = {"f1": f1, "precision": precision, "recall": recall, "specificity": specificity}
        return {
            "accuracy": clustered_rate(off == 0, self.games).as_metrics(),
            "macro_f1": jackknife(cells, macro_f1, len(chosen), 0.0, 1.0).as_metrics(),
            "g_mean": jackknife(cells, g_mean, len(chosen), 0.0, 1.0).as_metrics(),
            **{name: dict(zip(map(str, depths), values.tolist(), strict=True)) for name, values in by_class.items()},
            "mean_error": clustered_mean(np.abs(off), self.games).as_metrics(),
            "bias": clustered_mean(off, self.games).as_metrics(),
            "mean_depth": clustered_mean(chosen, self.games).as_metrics(),
            "deep_enough": clustered_rate(chosen >= self.needed, self.games).as_metrics(),
            "nodes": clustered_mean(nodes, self.games).as_metrics(),
            "nodes_of_iterative_deepening": jackknife(spent, _ratio, len(chosen), 0.0).as_metrics(),
        }

    def matrix(self, chosen: npt.NDArray[np.int64], label: str) -> npt.NDArray[np.int64]:
        """Counts [K, K] by label and choice, from the lowest class."""
        labels, (lowest, highest) = np.asarray(self.positions.label(label))[self.rows], self.positions.classes
        counts: npt.NDArray[np.int64] = confusion_matrix(labels, chosen, labels=range(lowest, highest + 1))
        return counts


def macro_f1(matrix: npt.NDArray[np.int64]) -> float:
    """Mean F1 of the classes that are labelled at all, each counting the same; of counts [K, K] by label and choice."""
    labels, chosen = np.indices(matrix.shape).reshape(2, -1)
    how = {"labels": np.flatnonzero(matrix.sum(1)), "average": "macro", "zero_division": 0}
    return float(f1_score(labels, chosen, sample_weight=matrix.ravel(), **how))


def g_mean(matrix: npt.NDArray[np.int64]) -> float:
    """Geometric mean of the recalls of the classes that are labelled at all; 0 if one is never chosen rightly."""
    labels, chosen = np.indices(matrix.shape).reshape(2, -1)
    present = np.flatnonzero(matrix.sum(1))
    return float(geometric_mean_score(labels, chosen, labels=present, sample_weight=matrix.ravel()))


def layer_growth(nodes_by_depth: Nodes) -> float:
    """How many times as many nodes a layer more takes, by geometric mean over searches [R, D]; 1 if none has two."""
    before, after = nodes_by_depth[:, :-1], nodes_by_depth[:, 1:]
    both = (before > 0) & (after > 0)
    return float(np.exp(np.log(after[both] / before[both]).mean())) if both.any() else 1.0


def nodes_to_depth(nodes_by_depth: Nodes, depths: npt.NDArray[np.integer], growth: float) -> npt.NDArray[np.float64]:
    """Nodes float64 [R] that searches int64 [R, D] take to complete ``depths`` [R].

    A layer that a search did not complete is reckoned from the deepest one it did, with ``growth`` a layer.
    """
    completed = (nodes_by_depth > 0) * np.arange(1, nodes_by_depth.shape[1] + 1)
    deepest = completed.max(1, initial=0)
    known = np.minimum(depths, deepest).astype(np.int64)
    found = nodes_by_depth[np.arange(len(known)), np.maximum(known, 1) - 1].astype(np.float64)
    extrapolated: npt.NDArray[np.float64] = found * growth ** (depths - known)
    return extrapolated


def jackknife(
    parts: npt.NDArray[Any],
    statistic: Callable[[npt.NDArray[Any]], float],
    n: int,
    lowest: float = -math.inf,
    highest: float = math.inf,
) -> Score:
    """A statistic of sums over games, with its interval (Efron, Stein, Annals of Statistics 9, 1981).

    ``parts`` [G, ...] are what each game adds to the sums; the statistic goes from ``lowest`` to ``highest``; ``n``
    trials or positions are reported. Of a single game, or where the statistic of some others is no number, the
    interval is NaN.
    """
    games, total, half = len(parts), parts.sum(0), math.nan
    value = statistic(total)
    if games > 1:
        without = np.array([statistic(total - part) for part in parts])
        half = Z95 * math.sqrt((games - 1) / games * float(((without - without.mean()) ** 2).sum()))
    if math.isnan(half):
        return Score(value, math.nan, math.nan, n)
    return Score(value, max(lowest, value - half), min(highest, value + half), n)


def main() -> None:
    """Load the nets, ask them, write."""
    models = load(Named[DepthModelParams], "depth_train.models")
    params, seed = load(DepthEvaluateParams, "depth_evaluate"), load_value(int, "seed")
    shares = load(DepthSplitParams, "depth_split").shares
    positions = open_positions(SAMPLES)
    splits = split_by_game(positions, shares, seed)
    growth = layer_growth(np.asarray(positions.nodes_by_depth)[splits.train])
    test = Test(positions, splits.test, growth)
    report: dict[str, Any] = {
        "positions": len(positions),
        "games": len(np.unique(positions.game)),
        "test_positions": len(splits.test),
        "growth": growth,
        "plain": {  # of always the same depth, by depth and label
            str(depth): {label: test.figures(np.full(len(test.rows), depth), label) for label in LABELS}
            for depth in range(positions.classes[0], positions.classes[1] + 1)
        },
        "models": {},
    }
    table: list[Row] = []
    confusions: list[Row] = []
    for name, of_model in models.items():
        found = _ask(test, MODELS / name / "model.pt", of_model, params.confidences)
        report["models"][name] = found.pop("figures")
        table.append(_table_row(name, of_model, report["models"][name]))
        confusions += _confusion_rows(name, found.pop("matrix"), positions.classes[0])
    write_json(REPORTS / "evaluate.json", report)
    write_table(REPORTS / "balance.csv", table)
    write_table(REPORTS / "confusion.csv", confusions)


def _ratio(sums: npt.NDArray[np.float64]) -> float:
    return float(sums[0] / sums[1])


def _ask(test: Test, path: Path, params: DepthModelParams, confidences: tuple[float, ...]) -> dict[str, Any]:
    model = load_depth_model(path, label=params.label, classes=test.positions.classes)
    chosen = test.choose(model)
    figures = test.figures(chosen, params.label)
    if params.head == "classes":
        figures["confidence"] = {
            f"{100 * c:g}%": test.figures(test.choose(DepthModel(model.saved, c)), params.label) for c in confidences
        }
    return {"figures": figures, "matrix": test.matrix(chosen, params.label)}


def _table_row(name: str, params: DepthModelParams, figures: dict[str, Any]) -> Row:
    counts = read_json(REPORTS / "train" / f"{name}.json")["after"]
    shown = "accuracy", "mean_error", "deep_enough", "macro_f1", "g_mean", "mean_depth", "nodes_of_iterative_deepening"
    rows = {f"rows_{depth}": counts[depth] for depth in sorted(counts, key=int)}
    values = {key: figures[key]["value"] for key in shown}
    return {"model": name, "label": params.label, "balance": params.balance, **rows, **values}


def _confusion_rows(name: str, matrix: npt.NDArray[np.int64], lowest: int) -> list[Row]:
    shares = matrix / np.maximum(matrix.sum(1, keepdims=True), 1)
    return [
        {
            "model": name,
            "label": lowest + i,
            "chosen": lowest + j,
            "count": int(n),
            "share_of_label": float(shares[i, j]),
        }
        for (i, j), n in np.ndenumerate(matrix)
    ]
