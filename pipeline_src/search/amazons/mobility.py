"""Mobility in the Amazons evaluation, of many positions at once; the term m of `amazons_terms`.

All amazons of a side look in all eight directions at once, one square further at each step. What the directions see is
added up bit by bit, and so are the numbers of empty neighbours; the products are counts of bits.
"""

from typing import Any

import numpy as np

from pipeline_src.jit import njit
from pipeline_src.search.amazons.batch import EMPTY, LANES, OTHER, OTHER_ALL, OWN, OWN_ALL, Lanes, M
from pipeline_src.search.amazons.flood import U64, count, down, up

FURTHEST = 9
"""Largest number of squares in one direction."""
OPEN, OWN_RAYS, OTHER_RAYS = 0, 8, 32
"""Rows of `Lanes.rays`: ones, twos, fours and eights of the empty neighbours, two words each, on squares that both
sides reach; then for each side the rays in eight directions, two words each, and their sum like the neighbours'."""


@njit(cache=True, forceinline=True)
def add3(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Bitwise sum of three words: ones and twos."""
    return a ^ b ^ c, (a & b) | (c & (a ^ b))


@njit(cache=True, forceinline=True)
def add8(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> tuple[Any, Any, Any, Any]:
    """Bitwise sum of eight words: ones, twos, fours and eights."""
    one, two_a = add3(a, b, c)
    one, two_b = add3(one, d, e)
    one, two_c = add3(one, f, g)
    one, two_d = one ^ h, one & h
    two, four_a = add3(two_a, two_b, two_c)
    two, four_b = two ^ two_d, two & two_d
    return one, two, four_a ^ four_b, four_a & four_b


@njit(cache=True)
def _neighbours(lanes: Lanes) -> None:
    s, rays = lanes.words, lanes.rays
    for i in range(LANES):
        low, high = s[EMPTY * LANES + i], s[(EMPTY + 1) * LANES + i]
        a, b = up(low, high, 1)
        c, d = down(low, high, 1)
        e, f = up(low, high, 10)
        g, h = down(low, high, 10)
        t, v = up(low, high, 11)
        m, n = down(low, high, 11)
        o, p = up(low, high, 12)
        q, r = down(low, high, 12)
        low = s[OWN_ALL * LANES + i] & s[OTHER_ALL * LANES + i]
        high = s[(OWN_ALL + 1) * LANES + i] & s[(OTHER_ALL + 1) * LANES + i]
        one, two, four, eight = add8(a, c, e, g, t, m, o, q)
        rays[i], rays[2 * LANES + i], rays[4 * LANES + i], rays[6 * LANES + i] = (
            one & low,
            two & low,
            four & low,
            eight & low,
        )
        one, two, four, eight = add8(b, d, f, h, v, n, p, r)
        rays[LANES + i], rays[3 * LANES + i], rays[5 * LANES + i], rays[7 * LANES + i] = (
            one & high,
            two & high,
            four & high,
            eight & high,
        )


@njit(cache=True, forceinline=True)
def _weighed(rays: Any, i: int, low: Any, high: Any) -> Any:
    """Empty neighbours of the squares of a set, all together."""
    one = count(low & rays[i], high & rays[LANES + i])
    two = count(low & rays[2 * LANES + i], high & rays[3 * LANES + i])
    four = count(low & rays[4 * LANES + i], high & rays[5 * LANES + i])
    eight = count(low & rays[6 * LANES + i], high & rays[7 * LANES + i])
    return one + (two << 1) + (four << 2) + (eight << 3)


@njit(cache=True, forceinline=True)
def _further(s: Any, rays: Any, i: int, row: int, upwards: bool, k: int) -> tuple[Any, Any]:
    low, high = rays[row * LANES + i], rays[(row + 1) * LANES + i]
    if upwards:
        low, high = up(low, high, k)
    else:
        low, high = down(low, high, k)
    low, high = low & s[EMPTY * LANES + i], high & s[(EMPTY + 1) * LANES + i]
    rays[row * LANES + i], rays[(row + 1) * LANES + i] = low, high
    return low, high


@njit(cache=True, forceinline=True)
def _look(lanes: Lanes, row: int, distance: int, sign: int) -> bool:
    """Look one square further in all directions; return whether any square was seen."""
    s, rays, sums = lanes.words, lanes.rays, lanes.sums
    left, many = U64(0), U64(0)
    share = np.int64(FURTHEST - distance)
    for i in range(LANES):
        a, b = _further(s, rays, i, row, True, 1)
        c, d = _further(s, rays, i, row + 2, False, 1)
        e, f = _further(s, rays, i, row + 4, True, 10)
        g, h = _further(s, rays, i, row + 6, False, 10)
        t, v = _further(s, rays, i, row + 8, True, 11)
        m, n = _further(s, rays, i, row + 10, False, 11)
        o, p = _further(s, rays, i, row + 12, True, 12)
        q, r = _further(s, rays, i, row + 14, False, 12)
        one, two, four, eight = add8(a, c, e, g, t, m, o, q)
        one_high, two_high, four_high, eight_high = add8(b, d, f, h, v, n, p, r)
        rays[(row + 16) * LANES + i], rays[(row + 17) * LANES + i] = two, two_high
        rays[(row + 18) * LANES + i], rays[(row + 19) * LANES + i] = four, four_high
        rays[(row + 20) * LANES + i], rays[(row + 21) * LANES + i] = eight, eight_high
        many |= two | four | eight | two_high | four_high | eight_high
        left |= one | one_high
        sums[M * LANES + i] += (sign * _weighed(rays, i, one, one_high)) << share
    if many == U64(0):
        return bool(left != U64(0))
    for more in range(1, 4):
        many = U64(0)
        sets = rays[(row + 14 + 2 * more) * LANES : (row + 16 + 2 * more) * LANES]
        for i in range(2 * LANES):
            many |= sets[i]
        if many != U64(0):
            for i in range(LANES):
                sums[M * LANES + i] += (sign * _weighed(rays, i, sets[i], sets[LANES + i])) << (share + more)
    return True


@njit(cache=True)
def mobility(lanes: Lanes) -> None:
    """Compute m, after `batch.king_fills`."""
    s, rays, sums, terms = lanes.words, lanes.rays, lanes.sums, lanes.terms
    _neighbours(lanes)
    for i in range(LANES):
        sums[M * LANES + i] = 0
    for direction in range(8):
        own = rays[(OWN_RAYS + 2 * direction) * LANES : (OWN_RAYS + 2 * direction + 2) * LANES]
        other = rays[(OTHER_RAYS + 2 * direction) * LANES : (OTHER_RAYS + 2 * direction + 2) * LANES]
        for i in range(2 * LANES):
            own[i] = s[OWN * LANES + i]
            other[i] = s[OTHER * LANES + i]
    for distance in range(1, FURTHEST + 1):
        if not _look(lanes, OWN_RAYS, distance, 1):
            break
    for distance in range(1, FURTHEST + 1):
        if not _look(lanes, OTHER_RAYS, distance, -1):
            break
    for i in range(LANES):
        terms[5 * LANES + i] = sums[M * LANES + i] * 2.0**-FURTHEST
