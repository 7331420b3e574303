"""Patterns of a library by their pattern code: the paper's clashes, one by one."""

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.systems.joseki.canonical import window_of_key
from pipeline_src.systems.joseki.corners import SIDE, Window
from pipeline_src.systems.joseki.library import Library
from pipeline_src.systems.joseki.pattern_code import pattern_code


@njit(cache=True, allocates=True)
def _codes(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    window, codes = np.empty((SIDE, SIDE), np.int8), np.empty(len(keys), np.uint64)
    for state in range(len(keys)):
        window_of_key(keys[state], window)
        codes[state] = pattern_code(window)
    return codes


def state_window(library: Library, state: int) -> Window:
    """The pattern of a state, int8 [10, 10], in its canonical form."""
    window = np.empty((SIDE, SIDE), np.int8)
    window_of_key(library.keys[state], window)
    return window


class SharedCodes:
    """States by pattern code. Since a state is a pattern in all its forms, states that share a code are clashes."""

    def __init__(self, library: Library) -> None:
        """Compute the code of every state."""
        self._seen = library.seen
        codes = _codes(library.keys)
        self._order = np.argsort(codes, kind="stable")
        self._sorted = codes[self._order]
        _, self._first, self._count = np.unique(self._sorted, return_index=True, return_counts=True)

    @property
    def clashing(self) -> int:
        """How many patterns have a code that is also another one's."""
        return int(self._count[self._count > 1].sum())

    def sharing(self, code: int) -> list[int]:
        """States with a code, the most often seen first."""
        first, end = (int(np.searchsorted(self._sorted, np.uint64(code), side)) for side in ("left", "right"))
        return self._by_seen(first, end)

    def groups(self, count: int) -> list[list[int]]:
        """The ``count`` clashes whose second pattern was seen most often, each as `sharing` has it."""
        clashes = [
            self._by_seen(first, first + size)
            for first, size in zip(self._first.tolist(), self._count.tolist(), strict=True)
            if size > 1
        ]
        return sorted(clashes, key=lambda states: (-int(self._seen[states[1]]), states))[:count]

    def _by_seen(self, first: int, end: int) -> list[int]:
        return sorted(self._order[first:end].tolist(), key=lambda state: (-int(self._seen[state]), state))
