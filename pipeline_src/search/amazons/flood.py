"""Sets of squares of an Amazons board in two 64-bit words, and the reach of king and queen moves in them.

Square (r, c) is bit ``11 * r + c`` for any width of the board: a constant distance between rows lets compilers fold
the shifts, and the columns from W to 10 are never empty, so no shift wraps around an edge. A 10x10 board takes 110
bits.

Everything here is straight-line code without branches: called in a loop over positions it becomes vector code.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from pipeline_src.games.amazons.board import EMPTY, MAX_SIDE
from pipeline_src.jit import njit

U64 = np.uint64
Words = tuple[Any, Any]  # Low and high uint64 of a set of squares
STRIDE = MAX_SIDE + 1


def _bits() -> npt.NDArray[np.uint64]:
    table = np.zeros((MAX_SIDE + 1, MAX_SIDE * MAX_SIDE, 2), np.uint64)
    for width in range(1, MAX_SIDE + 1):
        for square in range(width * MAX_SIDE):
            bit = square // width * STRIDE + square % width
            table[width, square, bit // 64] = 1 << bit % 64
    return table


BITS = _bits()  # uint64 [11, 100, 2]: low and high word of a square's set, by board width and square


def _popcount(_: Any, word: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


popcount: Any = intrinsic(_popcount)  # Number of bits of a uint64, as int64: numbers of squares are subtracted


@njit(cache=True, forceinline=True)
def count(low: Any, high: Any) -> Any:
    """Number of squares in a set, int64."""
    return popcount(low) + popcount(high)


@njit(cache=True)
def empty_squares(board: npt.NDArray[np.int8]) -> Words:
    """The set of empty squares."""
    low, high, width = U64(0), U64(0), board.shape[1]
    for square in range(board.size):
        if board[square // width, square % width] == EMPTY:
            low |= BITS[width, square, 0]
            high |= BITS[width, square, 1]
    return low, high


@njit(cache=True)
def amazon_squares(amazons: npt.NDArray[np.int16], side: int, width: int) -> Words:
    """The set of a side's amazons."""
    low, high = U64(0), U64(0)
    for square in amazons[side]:
        if square >= 0:
            low |= BITS[width, square, 0]
            high |= BITS[width, square, 1]
    return low, high


@njit(cache=True, forceinline=True)
def up(low: Any, high: Any, k: Any) -> Words:
    """A set moved up by ``k`` bits, 1 to 63."""
    return low << U64(k), (high << U64(k)) | (low >> (U64(64) - U64(k)))


@njit(cache=True, forceinline=True)
def down(low: Any, high: Any, k: Any) -> Words:
    """A set moved down by ``k`` bits, 1 to 63."""
    return (low >> U64(k)) | (high << (U64(64) - U64(k))), high >> U64(k)


@njit(cache=True, forceinline=True)
def king_step(low: Any, high: Any, empty_low: Any, empty_high: Any) -> Words:
    """Empty squares one king move away from a set, or in it."""
    a, b = up(low, high, 1)
    c, d = down(low, high, 1)
    a, b = a | c | low, b | d | high  # three in a row, then the rows above and below
    c, d = up(a, b, STRIDE)
    e, f = down(a, b, STRIDE)
    return (a | c | e) & empty_low, (b | d | f) & empty_high


@njit(cache=True, forceinline=True)
def beside(low: Any, high: Any) -> tuple[Any, Any, Any, Any]:
    """Squares with at least one neighbour in a set, and those with at least two, whether empty or not."""
    a, b = up(low, high, 1)
    c, d = down(low, high, 1)
    one_low, one_high, two_low, two_high = a | c, b | d, a & c, b & d
    a, b = up(low, high, STRIDE - 1)
    one_low, one_high, two_low, two_high = one_low | a, one_high | b, two_low | (one_low & a), two_high | (one_high & b)
    a, b = up(low, high, STRIDE)
    one_low, one_high, two_low, two_high = one_low | a, one_high | b, two_low | (one_low & a), two_high | (one_high & b)
    a, b = up(low, high, STRIDE + 1)
    one_low, one_high, two_low, two_high = one_low | a, one_high | b, two_low | (one_low & a), two_high | (one_high & b)
    a, b = down(low, high, STRIDE - 1)
    one_low, one_high, two_low, two_high = one_low | a, one_high | b, two_low | (one_low & a), two_high | (one_high & b)
    a, b = down(low, high, STRIDE)
    one_low, one_high, two_low, two_high = one_low | a, one_high | b, two_low | (one_low & a), two_high | (one_high & b)
    a, b = down(low, high, STRIDE + 1)
    return one_low | a, one_high | b, two_low | (one_low & a), two_high | (one_high & b)


@njit(cache=True, forceinline=True)
def runs(low: Any, high: Any, k: Any) -> tuple[Any, Any, Any, Any, Any, Any, Any, Any]:
    """Where two and four empty squares in a line end, seen upwards and seen downwards; two words each.

    ``k`` is the distance of neighbours on the line, ``low`` and ``high`` the empty squares.
    """
    a, b = up(low, high, k)
    up2_low, up2_high = low & a, high & b
    a, b = up(up2_low, up2_high, 2 * k)
    up4_low, up4_high = up2_low & a, up2_high & b
    a, b = down(low, high, k)
    down2_low, down2_high = low & a, high & b
    a, b = down(down2_low, down2_high, 2 * k)
    return up2_low, up2_high, up4_low, up4_high, down2_low, down2_high, down2_low & a, down2_high & b


@njit(cache=True, forceinline=True)
def ray_up(
    low: Any,
    high: Any,
    empty_low: Any,
    empty_high: Any,
    two_low: Any,
    two_high: Any,
    four_low: Any,
    four_high: Any,
    k: Any,
) -> Words:
    """A set with all that its members see upwards over empty squares (Kogge-Stone), up to nine squares away."""
    a, b = up(low, high, k)
    low, high = low | (a & empty_low), high | (b & empty_high)
    a, b = up(low, high, 2 * k)
    low, high = low | (a & two_low), high | (b & two_high)
    a, b = up(low, high, 4 * k)
    low, high = low | (a & four_low), high | (b & four_high)
    a, b = up(low, high, 2 * k)
    return low | (a & two_low), high | (b & two_high)


@njit(cache=True, forceinline=True)
def ray_down(
    low: Any,
    high: Any,
    empty_low: Any,
    empty_high: Any,
    two_low: Any,
    two_high: Any,
    four_low: Any,
    four_high: Any,
    k: Any,
) -> Words:
    """`ray_up`, downwards."""
    a, b = down(low, high, k)
    low, high = low | (a & empty_low), high | (b & empty_high)
    a, b = down(low, high, 2 * k)
    low, high = low | (a & two_low), high | (b & two_high)
    a, b = down(low, high, 4 * k)
    low, high = low | (a & four_low), high | (b & four_high)
    a, b = down(low, high, 2 * k)
    return low | (a & two_low), high | (b & two_high)
