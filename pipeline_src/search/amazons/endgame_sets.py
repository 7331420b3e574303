"""Sets of squares for counting endings: membership, surroundings, connected parts.

A set is two 64-bit words; square (r, c) is bit ``r * stride + c``. The stride is more than the board's width, so that
no shift wraps around an edge.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.search.amazons.flood import U64, Words


def _joined_rings() -> npt.NDArray[np.bool_]:
    """Return, for each 3x3 block (bit 3 * r + c), whether its squares without the middle are king-connected."""
    joined = np.zeros(512, np.bool_)
    for block in range(512):
        left = {divmod(i, 3) for i in range(9) if i != 4 and block >> i & 1}
        group = [left.pop()] if left else []
        for r, c in group:
            near = {square for square in left if max(abs(square[0] - r), abs(square[1] - c)) == 1}
            left -= near
            group += near
        joined[block] = not left
    return joined


JOINED = _joined_rings()
"""bool [512]: whether the squares around the middle of a 3x3 block hang together without it."""
NEIGHBOURS = np.array([(block & 0b111101111).bit_count() for block in range(512)], np.int64)
"""int64 [512]: squares around the middle of a 3x3 block."""


@njit(cache=True)
def has(low: Any, high: Any, bit: int) -> bool:
    """Whether a set holds a square; bits below 0 or above 127 are in no set."""
    if bit < 0 or bit > 127:
        return False
    if bit < 64:
        return bool((low >> U64(bit)) & U64(1))
    return bool((high >> U64(bit - 64)) & U64(1))


@njit(cache=True)
def single(bit: int) -> Words:
    """The set of one square."""
    if bit < 64:
        return U64(1) << U64(bit), U64(0)
    return U64(0), U64(1) << U64(bit - 64)


@njit(cache=True)
def _three(low: Any, high: Any, bit: int) -> Any:
    # Three squares from ``bit`` on; it may lie up to two before the first square.
    if bit >= 64:
        return np.int64((high >> U64(bit - 64)) & U64(7))
    if bit <= 0:
        return np.int64(low << U64(-bit) & U64(7)) if bit > -3 else np.int64(0)
    return np.int64(((low >> U64(bit)) | (high << U64(64 - bit))) & U64(7))


@njit(cache=True)
def block_at(low: Any, high: Any, bit: int, stride: int) -> Any:
    """The 3x3 block of a set around a square, int64 below 512."""
    below, at, above = bit - stride - 1, bit - 1, bit + stride - 1
    return _three(low, high, below) | _three(low, high, at) << 3 | _three(low, high, above) << 6


@njit(cache=True)
def king_step(low: Any, high: Any, within_low: Any, within_high: Any, stride: int) -> Words:
    """Squares of a set that are one king move away from ``low, high``, or in it."""
    one, row, back, row_back = U64(1), U64(stride), U64(63), U64(64 - stride)
    a = low | low << one | low >> one | high << back
    b = high | high << one | high >> one | low >> back
    return (a | a << row | a >> row | b << row_back) & within_low, (
        b | b << row | b >> row | a >> row_back
    ) & within_high


@njit(cache=True)
def flood(low: Any, high: Any, within_low: Any, within_high: Any, stride: int) -> Words:
    """All squares of a set that king moves inside it reach from its squares ``low, high``."""
    while True:
        a, b = king_step(low, high, within_low, within_high, stride)
        if a == low and b == high:
            return a, b
        low, high = a, b


@njit(cache=True)
def lowest_bit(low: Any, high: Any) -> Words:
    """The set of the lowest square of a set that is not empty."""
    if low != U64(0):
        return low & (~low + U64(1)), U64(0)
    return U64(0), high & (~high + U64(1))
