"""Figures of chosen depths: agreement with labels (confusion matrix, accuracy, F1), and cost in nodes."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.arena.score import Z95, Score

Depths = npt.NDArray[np.integer]


def confusion(labels: Depths, chosen: Depths, lowest: int, highest: int) -> npt.NDArray[np.int64]:
    """Counts int64 [K, K]: row = label, column = chosen, both from the lowest class."""
    size = highest - lowest + 1
    cells = (labels.astype(np.int64) - lowest) * size + chosen.astype(np.int64) - lowest
    return np.bincount(cells, minlength=size * size).reshape(size, size)


def accuracy(matrix: npt.NDArray[np.int64]) -> float:
    """Share chosen as labelled."""
    return float(matrix.trace() / matrix.sum())


def f1_scores(matrix: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """F1 of each class, [K]: 2 TP / (2 TP + FP + FN); NaN where a class is neither labelled nor chosen."""
    total = (matrix.sum(0) + matrix.sum(1)).astype(np.float64)
    scores = np.full(len(matrix), np.nan)
    np.divide(2 * matrix.diagonal(), total, out=scores, where=total > 0)
    return scores


def macro_f1(matrix: npt.NDArray[np.int64]) -> float:
    """Mean F1 of the classes that are labelled at all, each counting the same."""
    return float(f1_scores(matrix)[matrix.sum(1) > 0].mean())


Nodes = npt.NDArray[np.int64]


def layer_growth(nodes_by_depth: Nodes) -> float:
    """How many times as many nodes a layer more takes: the geometric mean over R searches int64 [R, D].

    1 where no search completed two layers.
    """
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

    Args:
        parts: [G, ...], what each game adds to the sums.
        statistic: of the sums [...].
        n: number of trials or positions, reported with the result.
        lowest: the least that the statistic can be.
        highest: the most.

    Returns:
        The statistic of all games. Of a single game, or where the statistic of some others is no number, the interval
        is NaN.
    """
    games, total = len(parts), parts.sum(0)
    value = statistic(total)
    if games < 2:
        return Score(value, math.nan, math.nan, n)
    without = np.array([statistic(total - part) for part in parts])
    half = Z95 * math.sqrt((games - 1) / games * float(((without - without.mean()) ** 2).sum()))
    if math.isnan(half):
        return Score(value, math.nan, math.nan, n)
    return Score(value, max(lowest, value - half), min(highest, value + half), n)
