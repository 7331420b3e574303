"""Clashes: different patterns that share a code, and a check that the exact key has none.

An encoding is the pattern after a local move. It clashes where its code was first that of another pattern; a pattern
clashes where its first encoding does.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.systems.joseki.corners import BLACK, WHITE


class Clashes(NamedTuple):
    """Clashes among E encodings."""

    encodings: int
    patterns: int
    """Number of clashing patterns, each counted once."""
    by_encoding: npt.NDArray[np.bool_]
    """[E]."""


def count_clashes(codes: npt.NDArray[np.uint64], states: npt.NDArray[np.int32]) -> Clashes:
    """Clashes of a code over encodings in their order, given the states that the exact key has them in."""
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    clashing = states != states[first[which]]
    _, begins = np.unique(states, return_index=True)
    return Clashes(int(clashing.sum()), int(clashing[begins].sum()), clashing)


class Comparison:
    """Patterns compared stone by stone with all those that had the same state: a check on the exact key.

    It shares no code with the key: the smallest of the four forms of a window, as bytes.
    """

    def __init__(self) -> None:
        self.unresolved = 0
        """Encodings whose state was another pattern's, or whose pattern had another state."""
        self._pattern_of: dict[int, bytes] = {}
        self._state_of: dict[bytes, int] = {}

    def add(self, windows: npt.NDArray[np.int8], states: npt.NDArray[np.int32]) -> None:
        """Encodings int8 [E, 10, 10] and their states."""
        recolour = np.array([0, WHITE, BLACK], np.int8)
        reflected = windows.transpose(0, 2, 1)
        rows = [np.ascontiguousarray(w) for w in (windows, reflected, recolour[windows], recolour[reflected])]
        for i, state in enumerate(states.tolist()):
            pattern = min(row[i].tobytes() for row in rows)
            known, owner = self._pattern_of.setdefault(state, pattern), self._state_of.setdefault(pattern, state)
            self.unresolved += known != pattern or owner != state
