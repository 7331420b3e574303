"""Statistics of the roots of many trees, read at once."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games import kernels
from pipeline_src.jit import njit
from pipeline_src.search.mcts.batches import row
from pipeline_src.search.mcts.puct_forest import Floats, Forest, Ints

Doubles = npt.NDArray[np.float64]


class RootTable(NamedTuple):
    """The roots of G trees, 0 past a row's number of steps; the arrays are the caller's."""

    steps: Ints
    """[G, S]: the legal steps."""
    visits: Ints
    """[G, S]"""
    worths: Doubles
    """[G, S]: sums of the values, to the root's side: Q times visits."""
    priors: Floats
    """[G, S], noise included."""
    counts: Ints
    """[G]: number of steps; 0 before the root is evaluated."""


@njit(cache=True, nogil=True)
def write_best(forest: Forest, steps: Ints) -> None:
    """Write each root's most visited step to int32 [G], -1 for none. Ties go to the greatest sum of values."""
    for g in range(steps.size):
        steps[g] = -1
        if forest.used_nodes[g] == 0:
            continue
        root, best = forest.nodes[g, 0], -1
        for edge in range(root.first, root.first + root.edges):
            here, most = forest.edges[g, edge], forest.edges[g, max(best, 0)]
            if (
                best < 0
                or here.tries > most.tries
                or (here.tries == most.tries and here.worth > most.worth)
                or (here.tries == most.tries and here.worth == most.worth and here.place < most.place)
            ):
                best = edge
        if best >= 0:
            steps[g] = forest.edges[g, best].step


@njit(cache=True, nogil=True)
def write_roots(
    forest: Forest, roots: Any, steps: Ints, visits: Ints, worths: Doubles, priors: Floats, counts: Ints
) -> None:
    """Fill the arrays of a `RootTable`, which hold zeros."""
    for g in range(counts.size):
        if forest.used_nodes[g] == 0:
            continue
        root, edges = forest.nodes[g, 0], forest.edges[g]
        counts[g] = kernels.write_steps(row(roots, g), steps[g])
        bits = forest.priors[g, 0].view(np.float32)
        steps[g, counts[g] :] = 0
        for i in range(counts[g]):
            priors[g, i] = abs(bits[i])
        for edge in range(root.first, root.first + root.edges):
            place = edges[edge].place
            visits[g, place], worths[g, place] = edges[edge].tries, edges[edge].worth


def most_visited(tries: Ints, worth: npt.NDArray[np.float64]) -> int:
    """Return the place of the largest visit count. Ties go to the largest sum of values, then to the first."""
    most = np.flatnonzero(tries == tries.max())
    return int(most[np.argmax(worth[most])])
