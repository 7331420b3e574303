"""The turns of a region that one side has to itself, in the order in which counting tries them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.search.amazons.endgame_sets import JOINED, NEIGHBOURS, block_at, has, lowest_bit
from pipeline_src.search.amazons.flood import U64, popcount

PLACE = 1 << 7
"""Bit numbers are below this."""


@njit(cache=True)
def _walk(stride: int, direction: int) -> int:
    if direction < 4:
        return (1, stride - 1, stride, stride + 1)[direction]
    return -(1, stride - 1, stride, stride + 1)[direction - 4]


@njit(cache=True)
def write_shots(
    region_low: Any,
    region_high: Any,
    amazons_low: Any,
    amazons_high: Any,
    guards_low: Any,
    guards_high: Any,
    stride: int,
    back: bool,
    out: npt.NDArray[np.int32],
) -> int:
    """Write the turns that shoot back at the square just left, or all the others, the likeliest first; return how many.

    Of those that shoot back, first those that do not cut the region there, and after which the amazon can step on and
    shoot back again; of the others, those that shoot into dead ends.
    """
    n, left_low, left_high = 0, amazons_low, amazons_high
    empty_low, empty_high = region_low & ~amazons_low, region_high & ~amazons_high
    while (left_low | left_high) != U64(0):
        bit_low, bit_high = lowest_bit(left_low, left_high)
        start = popcount(bit_low - U64(1)) if bit_low != U64(0) else 64 + popcount(bit_high - U64(1))
        left_low, left_high = left_low & ~bit_low, left_high & ~bit_high
        cut = 0 if JOINED[block_at(region_low, region_high, start, stride)] else 10
        if not back and has(guards_low, guards_high, start):
            continue
        for direction in range(8):
            step = _walk(stride, direction)
            to = start + step
            while has(empty_low, empty_high, to):
                if back:
                    block = block_at(region_low & ~bit_low, region_high & ~bit_high, to, stride)
                    order = cut + (int(NEIGHBOURS[block]) if JOINED[block] else 9)
                    out[n] = ((order * PLACE + start) * PLACE + to) * PLACE + start
                    n += 1
                else:
                    free_low, free_high = empty_low | bit_low, empty_high | bit_high
                    for shot in range(8):
                        along = _walk(stride, shot)
                        arrow = to + along
                        while has(free_low, free_high, arrow):
                            if arrow != start:
                                block = block_at(region_low, region_high, arrow, stride)
                                order = int(NEIGHBOURS[block]) if JOINED[block] else 9
                                out[n] = ((order * PLACE + start) * PLACE + to) * PLACE + arrow
                                n += 1
                            arrow += along
                to += step
    _sort(out, n)
    return n


@njit(cache=True)
def _sort(out: npt.NDArray[np.int32], n: int) -> None:
    """Shell's sort of the first ``n``; numba's own takes a second to compile."""
    gap = 1
    while 9 * gap < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            turn, k = out[i], i
            while k >= gap and out[k - gap] > turn:
                out[k] = out[k - gap]
                k -= gap
            out[k] = turn
        gap //= 3
