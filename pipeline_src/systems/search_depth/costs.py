"""Cost in nodes of a choice of search depth, derived from a search that went layer by layer."""

import numpy as np
import numpy.typing as npt

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
