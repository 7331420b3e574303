"""A binary heap, built in one pass, that yields the best of many actions one after the other.

Most nodes use only a few of their actions, so a full sort would be wasteful (Williams, "Heapsort", Communications of
the ACM 7, 1964).
"""

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit

Actions = npt.NDArray[np.int32]
Values = npt.NDArray[np.float32]


@njit(cache=True)
def _sink(actions: Actions, values: Values, at: int, n: int) -> None:
    action, value = actions[at], values[at]
    while True:
        child = 2 * at + 1
        if child >= n:
            break
        if child + 1 < n and values[child + 1] > values[child]:
            child += 1
        if values[child] <= value:
            break
        actions[at], values[at] = actions[child], values[child]
        at = child
    actions[at], values[at] = action, value


@njit(cache=True)
def heapify(actions: Actions, values: Values, n: int) -> None:
    """Reorder the first ``n`` pairs into a heap with the highest value first."""
    for at in range(n // 2 - 1, -1, -1):
        _sink(actions, values, at, n)


@njit(cache=True)
def pop(actions: Actions, values: Values, n: int) -> int:
    """Remove and return the best action of a heap of ``n``; the rest is a heap of ``n - 1``."""
    action = actions[0]
    actions[0], values[0] = actions[n - 1], values[n - 1]
    _sink(actions, values, 0, n - 1)
    return int(action)
