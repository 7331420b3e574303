"""Patterns for tests."""

import numpy as np
from hypothesis import strategies as st

from pipeline_src.systems.joseki.patterns import window_of

O_STONES = [(3, 6), (4, 6), (3, 9)]
X_STONES = [(3, 5), (4, 4), (7, 3)]
GOLDEN = window_of(X_STONES, O_STONES)
"""The paper's joseki."""
TWINS = [
    window_of(black, O_STONES)
    for black in (
        [(3, 4), (4, 5), (7, 3)],
        [(3, 3), (3, 5), (4, 4), (7, 3)],
        [(3, 4), (4, 3), (4, 5), (7, 3)],
        [(3, 3), (3, 5), (4, 4), (7, 4)],
    )
]
"""Patterns that have the golden one's code S."""


def _window(stones):
    window = np.zeros(100, np.int8)
    for point, colour in stones.items():
        window[point] = colour
    return window.reshape(10, 10)


WINDOWS = st.dictionaries(st.integers(0, 99), st.integers(1, 2), max_size=25).map(_window)
SMALL = st.dictionaries(st.sampled_from([0, 1, 10, 11, 22]), st.integers(1, 2), max_size=4).map(_window)
"""So small that two of them are often the same."""
