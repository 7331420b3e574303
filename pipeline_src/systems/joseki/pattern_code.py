"""The pattern code of Yue, Li and Qiu (2007): one number for a corner pattern, its reflection and its colour exchange.

A set of points has K = A * B + C, a position S = K_B * K_W * K_t, modulo 2^64; K_t is of both colours taken as one.
Different patterns can share a code, and some do; `canonical` tells which patterns are the same.
"""

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.systems.joseki.corners import BLACK, BOARD, SIDE, WHITE, Window

BOTH = BLACK | WHITE
"""Argument of `factors` for stones of either colour; the numbers of the colours are bits."""
ONE = np.uint64(1)


@njit(cache=True, allocates=True)
def factors(window: Window, colours: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """(A, B, C) of the stones of ``colours`` (BLACK, WHITE or BOTH), modulo 2^64; (1, 1, 0) where there are none.

    A, the neighbour code: the product over all points of the number of points directly connected, itself included, and
    19 more on the first line. B, the row-column code: the product of 19 + the largest c of each row that holds a point
    and of 19 + the largest r of each such column. C, the outline code: points of the smallest rectangle around all.
    """
    neighbours, lines = ONE, ONE
    top, bottom, left, right = SIDE, -1, SIDE, -1
    deepest = np.zeros(SIDE, np.int64)
    for r in range(SIDE):
        widest = 0
        for c in range(SIDE):
            if window[r, c] & colours:
                connected = 1
                if r > 0 and window[r - 1, c] & colours:
                    connected += 1
                if r < SIDE - 1 and window[r + 1, c] & colours:
                    connected += 1
                if c > 0 and window[r, c - 1] & colours:
                    connected += 1
                if c < SIDE - 1 and window[r, c + 1] & colours:
                    connected += 1
                if r == 0 or c == 0:
                    connected += BOARD
                neighbours *= np.uint64(connected)
                widest = c + 1
                deepest[c] = r + 1
                left, right = min(left, c), max(right, c)
        if widest:
            lines *= np.uint64(BOARD + widest)
            top, bottom = min(top, r), r
    if bottom < 0:
        return ONE, ONE, np.uint64(0)
    for c in range(left, right + 1):
        if deepest[c]:
            lines *= np.uint64(BOARD + deepest[c])
    return neighbours, lines, np.uint64((bottom - top + 1) * (right - left + 1))


@njit(cache=True)
def colour_code(window: Window, colours: int) -> np.uint64:
    """K = (A * B + C) mod 2^64 of the stones of ``colours``; 1 where there are none."""
    a, b, c = factors(window, colours)
    return np.uint64(a * b + c)


@njit(cache=True)
def pattern_code(window: Window) -> np.uint64:
    """Return S = (K_B * K_W * K_t) mod 2^64 of a window.

    >>> from pipeline_src.systems.joseki.pattern_text import parse_pattern
    >>> int(pattern_code(parse_pattern("X 4,4"))) == int(pattern_code(parse_pattern("O 4,4")))
    True
    """
    return np.uint64(colour_code(window, BLACK) * colour_code(window, WHITE) * colour_code(window, BOTH))


@njit(cache=True, allocates=True)
def pattern_codes(windows: npt.NDArray[np.int8]) -> npt.NDArray[np.uint64]:
    """S of each window of int8 [E, 10, 10], uint64 [E]."""
    codes = np.empty(len(windows), np.uint64)
    for i in range(len(windows)):
        codes[i] = pattern_code(windows[i])
    return codes
