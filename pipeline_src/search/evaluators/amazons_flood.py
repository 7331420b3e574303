"""Flood fills over an Amazons board held in two 64-bit words.

Square (r, c) is bit ``r * (W + 1) + c``: the extra column is never empty, so no shift wraps around an edge. A 10x10
board takes 110 bits.

"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline_src.games.amazons.board import EMPTY

U64 = np.uint64
Words = tuple[Any, Any]
"""Low and high uint64 of a set of squares."""


@njit(cache=True)
def with_square(low: Any, high: Any, square: int, width: int) -> Words:
    """The set with the bit of ``square`` (numbered r * W + c) turned over."""
    bit = U64(square + square // width)
    if bit < U64(64):
        return low ^ (U64(1) << bit), high
    return low, high ^ (U64(1) << (bit - U64(64)))


@njit(cache=True)
def empty_squares(board: npt.NDArray[np.int8]) -> Words:
    """The set of empty squares."""
    low, high, width = U64(0), U64(0), board.shape[1]
    for square in range(board.size):
        if board[square // width, square % width] == EMPTY:
            low, high = with_square(low, high, square, width)
    return low, high


@njit(cache=True)
def count(low: Any, high: Any) -> Any:
    """Number of squares in a set, int64."""
    return _popcount(low) + _popcount(high)


@njit(cache=True)
def _popcount(x: Any) -> Any:
    # Compilers recognise this as one instruction's work.
    x = x - ((x >> U64(1)) & U64(0x5555555555555555))
    x = (x & U64(0x3333333333333333)) + ((x >> U64(2)) & U64(0x3333333333333333))
    x = (x + (x >> U64(4))) & U64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * U64(0x0101010101010101)) >> U64(56))  # signed: numbers of squares are subtracted


@njit(cache=True)
def _up(low: Any, high: Any, k: Any) -> Words:
    return low << k, (high << k) | (low >> (U64(64) - k))


@njit(cache=True)
def _down(low: Any, high: Any, k: Any) -> Words:
    return (low >> k) | (high << (U64(64) - k)), high >> k


@njit(cache=True)
def king_step(low: Any, high: Any, empty_low: Any, empty_high: Any, stride: int) -> Words:
    """Empty squares one king move away from a set, or in it where it is empty."""
    a, b = _up(low, high, U64(1))
    c, d = _down(low, high, U64(1))
    a, b = a | c | low, b | d | high  # three in a row, then the rows above and below
    c, d = _up(a, b, U64(stride))
    e, f = _down(a, b, U64(stride))
    return (a | c | e) & empty_low, (b | d | f) & empty_high


@njit(cache=True)
def queen_step(low: Any, high: Any, empty_low: Any, empty_high: Any, stride: int) -> Words:
    """Empty squares one queen move away from a set."""
    out_low, out_high = U64(0), U64(0)
    for direction in range(4):
        k = U64(1) if direction == 0 else U64(stride + direction - 2)
        a, b = low, high
        while True:
            a, b = _up(a, b, k)
            a, b = a & empty_low, b & empty_high
            if a | b == U64(0):
                break
            out_low, out_high = out_low | a, out_high | b
        a, b = low, high
        while True:
            a, b = _down(a, b, k)
            a, b = a & empty_low, b & empty_high
            if a | b == U64(0):
                break
            out_low, out_high = out_low | a, out_high | b
    return out_low, out_high
