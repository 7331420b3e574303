"""Agreement of chosen depths with labels: confusion matrix, accuracy and F1."""

import numpy as np
import numpy.typing as npt

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
