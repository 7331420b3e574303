"""A second code, as symmetric as the paper's and cheaper: the mixed Zobrist hashes of a pattern's four forms, summed.

A symmetry only changes the order of the four hashes, so their sum is the same; each is mixed first (the finaliser of
SplitMix64: Steele, Lea and Flood, 2014), or the sum would lose which point goes with which. Two different patterns
share it with a chance of about 2^-64. Adding a stone changes each hash by one exclusive or.
"""

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.systems.joseki.canonical import FORMS, form_point
from pipeline_src.systems.joseki.corners import POINTS, SIDE, Window


def _form_keys() -> npt.NDArray[np.uint64]:
    random = np.random.default_rng(2007).integers(0, 1 << 64, (2, POINTS), dtype=np.uint64)
    keys = np.empty((2, POINTS, FORMS), np.uint64)
    for form in range(FORMS):
        images = [form_point(point, form) for point in range(POINTS)]
        keys[:, :, form] = (random[::-1] if form >> 1 else random)[:, images]
    return keys


FORM_KEYS = _form_keys()
"""uint64 [2, 100, 4]: what a stone of a colour on a point adds to the hash of each form."""


@njit(cache=True)
def mix(x: np.uint64) -> np.uint64:
    """SplitMix64's finaliser, a bijection of 64 bits."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(x ^ (x >> np.uint64(31)))


@njit(cache=True)
def symmetric_code(window: Window) -> np.uint64:
    """The code of a window int8 [10, 10]."""
    a, b, c, d = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    for r in range(SIDE):
        for column in range(SIDE):
            code = window[r, column]
            if code:
                keys = FORM_KEYS[code - 1, r * SIDE + column]
                a ^= keys[0]
                b ^= keys[1]
                c ^= keys[2]
                d ^= keys[3]
    return np.uint64(mix(a) + mix(b) + mix(c) + mix(d))


@njit(cache=True, allocates=True)
def symmetric_codes(windows: npt.NDArray[np.int8]) -> npt.NDArray[np.uint64]:
    """The code of each window of int8 [E, 10, 10], uint64 [E]."""
    codes = np.empty(len(windows), np.uint64)
    for i in range(len(windows)):
        codes[i] = symmetric_code(windows[i])
    return codes
