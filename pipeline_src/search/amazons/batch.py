"""The terms of the Amazons evaluation for many positions at once.

`LANES` positions lie side by side: row ``r`` of a scratch array holds one word of each. Every loop over the lanes is
straight-line integer code, which the compiler turns into vector instructions. A flood fill continues until it is done
in all lanes; this costs time in the other lanes, but changes nothing there.

With O and X the cumulative sets of squares that the side to move and the other side reach within k moves, and B those
that both reach in the end, the terms need few counts:

- t: a square that is once in O and not in X is nearer to the side to move for good;
- c1: 2^-D1 sums to the growth of |O| at each step;
- c2: in B, the sum of D2(other) - D2(own) is that of |O| - |X| over the steps; the clip takes away the squares that one
  side reached six steps before and the other has not reached yet;
- w: 2^-d = 1 - (1/2 + ... + 2^-d), so |B| less 2^-i for each square of B whose distances differ by i or more. These
  sets follow from step to step: what differed by i - 1 before and is still in one set only differs by i.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.search.amazons.flood import (
    U64,
    beside,
    count,
    king_step,
    ray_down,
    ray_up,
    runs,
)

LANES = 32
"""Positions side by side."""
MAX_STEPS = 110
"""Largest number of steps of a fill: no path on a board of 100 squares is longer."""
FRACTION = 40
"""Binary digits of w that are kept; one less for c1."""
OWN, OTHER, EMPTY, OWN_ALL, OTHER_ALL, OWN_NOW, OTHER_NOW = 0, 2, 4, 6, 8, 10, 12
"""Rows of `Lanes.words`, two each: amazons, empty squares, all that a side reaches, all it has reached so far."""
OWN_NEAR, OTHER_NEAR, OWN_NEAR_KING, OTHER_NEAR_KING, RUNS = 14, 16, 18, 20, 22
"""More rows: squares nearer to a side by queen and by king moves; and for each of four lines eight rows of `runs`."""
WORDS = RUNS + 32
RAY_ROWS = 8 + 2 * 24
C1, C2, W, M, BALANCE = 0, 1, 2, 3, 4
"""Rows of `Lanes.sums`: the terms times a power of two (c2: times 6); and |O| - |X| of the step before."""


class Lanes(NamedTuple):
    """Scratch space for `LANES` positions; flat, row ``r`` at ``[r * LANES : (r + 1) * LANES]``."""

    words: npt.NDArray[np.uint64]
    """[WORDS * LANES]; the first six rows are the positions."""
    kings: npt.NDArray[np.uint64]
    """[(MAX_STEPS + 1) * 4 * LANES]: O and X by king moves, for each step; the amazons come first."""
    apart: npt.NDArray[np.uint64]
    """[MAX_STEPS * 2 * LANES]: squares whose D1 differ by i or more, for each i."""
    rays: npt.NDArray[np.uint64]
    """[RAY_ROWS * LANES]: scratch space of `mobility`."""
    sums: npt.NDArray[np.int64]
    """[5 * LANES]."""
    terms: npt.NDArray[np.float64]
    """[7 * LANES]: t1, t2, c1, c2, w, m, e."""


def make_lanes() -> Lanes:
    """Return scratch space for one thread."""
    return Lanes(
        np.zeros(WORDS * LANES, np.uint64),
        np.zeros((MAX_STEPS + 1) * 4 * LANES, np.uint64),
        np.zeros(MAX_STEPS * 2 * LANES, np.uint64),
        np.zeros(RAY_ROWS * LANES, np.uint64),
        np.zeros(5 * LANES, np.int64),
        np.zeros(7 * LANES, np.float64),
    )


@njit(cache=True)
def king_fills(lanes: Lanes) -> int:
    """Compute the reach of both sides by king moves, step by step; return the number of steps with new squares."""
    s, kings = lanes.words, lanes.kings
    for i in range(4 * LANES):
        kings[i] = s[i]
    for i in range(4 * LANES):
        s[OWN_NEAR_KING * LANES + i] = U64(0)
    step = 0
    while True:
        now = kings[step * 4 * LANES : (step + 2) * 4 * LANES]
        new = U64(0)
        for i in range(LANES):
            empty_low, empty_high = s[EMPTY * LANES + i], s[(EMPTY + 1) * LANES + i]
            a, b, c, d = now[i], now[LANES + i], now[2 * LANES + i], now[3 * LANES + i]
            own_low, own_high = king_step(a, b, empty_low, empty_high)
            other_low, other_high = king_step(c, d, empty_low, empty_high)
            new |= (a ^ own_low) | (b ^ own_high) | (c ^ other_low) | (d ^ other_high)
            now[4 * LANES + i], now[5 * LANES + i] = own_low, own_high
            now[6 * LANES + i], now[7 * LANES + i] = other_low, other_high
            s[OWN_NEAR_KING * LANES + i] |= own_low & ~other_low
            s[(OWN_NEAR_KING + 1) * LANES + i] |= own_high & ~other_high
            s[OTHER_NEAR_KING * LANES + i] |= other_low & ~own_low
            s[(OTHER_NEAR_KING + 1) * LANES + i] |= other_high & ~own_high
        step += 1
        if new == U64(0):
            break
    last = kings[step * 4 * LANES : (step + 1) * 4 * LANES]
    for i in range(4 * LANES):
        s[OWN_ALL * LANES + i] = last[i]
    return step - 1


@njit(cache=True)
def king_balance(lanes: Lanes, steps: int) -> None:
    """Compute c2, after `king_fills`."""
    s, kings, sums = lanes.words, lanes.kings, lanes.sums
    for i in range(LANES):
        own = count(s[OWN_ALL * LANES + i], s[(OWN_ALL + 1) * LANES + i])
        other = count(s[OTHER_ALL * LANES + i], s[(OTHER_ALL + 1) * LANES + i])
        sums[C2 * LANES + i] = 6 * (own - other)  # squares of one side only; those of both sides cancel out
    for step in range(1, steps):
        now = kings[step * 4 * LANES : (step + 1) * 4 * LANES]
        for i in range(LANES):
            low = s[OWN_ALL * LANES + i] & s[OTHER_ALL * LANES + i]
            high = s[(OWN_ALL + 1) * LANES + i] & s[(OTHER_ALL + 1) * LANES + i]
            own = count(now[i] & low, now[LANES + i] & high)
            other = count(now[2 * LANES + i] & low, now[3 * LANES + i] & high)
            sums[C2 * LANES + i] += own - other
        if step > 6:
            old = kings[(step - 6) * 4 * LANES : (step - 5) * 4 * LANES]
            for i in range(LANES):
                low = s[OWN_ALL * LANES + i] & s[OTHER_ALL * LANES + i]
                high = s[(OWN_ALL + 1) * LANES + i] & s[(OTHER_ALL + 1) * LANES + i]
                own = count(old[i] & ~now[2 * LANES + i] & low, old[LANES + i] & ~now[3 * LANES + i] & high)
                other = count(old[2 * LANES + i] & ~now[i] & low, old[3 * LANES + i] & ~now[LANES + i] & high)
                sums[C2 * LANES + i] -= own - other


@njit(cache=True, forceinline=True)
def _line_runs(s: Any, i: int, row: int, k: int) -> None:
    a, b, c, d, e, f, g, h = runs(s[EMPTY * LANES + i], s[(EMPTY + 1) * LANES + i], k)
    s[row * LANES + i], s[(row + 1) * LANES + i], s[(row + 2) * LANES + i], s[(row + 3) * LANES + i] = a, b, c, d
    s[(row + 4) * LANES + i], s[(row + 5) * LANES + i], s[(row + 6) * LANES + i], s[(row + 7) * LANES + i] = e, f, g, h


@njit(cache=True, forceinline=True)
def _line(s: Any, i: int, row: int, k: int, low: Any, high: Any, seen_low: Any, seen_high: Any) -> tuple[Any, Any]:
    a, b = s[EMPTY * LANES + i], s[(EMPTY + 1) * LANES + i]
    up_low, up_high = ray_up(
        low,
        high,
        a,
        b,
        s[row * LANES + i],
        s[(row + 1) * LANES + i],
        s[(row + 2) * LANES + i],
        s[(row + 3) * LANES + i],
        k,
    )
    down_low, down_high = ray_down(
        low,
        high,
        a,
        b,
        s[(row + 4) * LANES + i],
        s[(row + 5) * LANES + i],
        s[(row + 6) * LANES + i],
        s[(row + 7) * LANES + i],
        k,
    )
    return seen_low | up_low | down_low, seen_high | up_high | down_high


@njit(cache=True, forceinline=True)
def _queen_step(s: Any, source: int, target: int) -> None:
    for i in range(LANES):
        low, high = s[source * LANES + i], s[(source + 1) * LANES + i]
        a, b = _line(s, i, RUNS, 1, low, high, U64(0), U64(0))
        a, b = _line(s, i, RUNS + 8, 10, low, high, a, b)
        a, b = _line(s, i, RUNS + 16, 11, low, high, a, b)
        a, b = _line(s, i, RUNS + 24, 12, low, high, a, b)
        s[target * LANES + i] = a & s[EMPTY * LANES + i]
        s[(target + 1) * LANES + i] = b & s[(EMPTY + 1) * LANES + i]


@njit(cache=True)
def queen_fills(lanes: Lanes) -> int:
    """Compute c1 and w, after `king_fills`; return the number of steps."""
    s, apart, sums = lanes.words, lanes.apart, lanes.sums
    for i in range(LANES):
        _line_runs(s, i, RUNS, 1)
        _line_runs(s, i, RUNS + 8, 10)
        _line_runs(s, i, RUNS + 16, 11)
        _line_runs(s, i, RUNS + 24, 12)
    for i in range(4 * LANES):
        s[OWN_NEAR * LANES + i] = U64(0)
    for i in range(LANES):
        sums[C1 * LANES + i] = 0
        sums[BALANCE * LANES + i] = 0
    step = 0
    while True:
        step += 1
        if step == 1:
            _queen_step(s, OWN, OWN_NOW)
            _queen_step(s, OTHER, OTHER_NOW)
        else:
            _queen_step(s, OWN_NOW, OWN_NOW)
            _queen_step(s, OTHER_NOW, OTHER_NOW)
        share = np.int64(max(0, FRACTION + 1 - step))
        left = U64(0)
        for i in range(4 * LANES):
            left |= s[OWN_NOW * LANES + i] ^ s[OWN_ALL * LANES + i]
        for i in range(LANES):
            own = count(s[OWN_NOW * LANES + i], s[(OWN_NOW + 1) * LANES + i])
            other = count(s[OTHER_NOW * LANES + i], s[(OTHER_NOW + 1) * LANES + i])
            sums[C1 * LANES + i] += (own - other - sums[BALANCE * LANES + i]) << share
            sums[BALANCE * LANES + i] = own - other
        for k in range(step, 1, -1):
            planes = apart[(k - 2) * 2 * LANES : k * 2 * LANES]
            if k == 2:
                for i in range(2 * LANES):
                    near = s[OWN_NEAR * LANES + i] | s[OTHER_NEAR * LANES + i]
                    one = s[OWN_NOW * LANES + i] ^ s[OTHER_NOW * LANES + i]
                    planes[2 * LANES + i] = (U64(0) if step == 2 else planes[2 * LANES + i]) | (near & one)
            elif k == step:
                for i in range(2 * LANES):
                    one = s[OWN_NOW * LANES + i] ^ s[OTHER_NOW * LANES + i]
                    planes[2 * LANES + i] = planes[i] & one
            else:
                for i in range(2 * LANES):
                    one = s[OWN_NOW * LANES + i] ^ s[OTHER_NOW * LANES + i]
                    planes[2 * LANES + i] |= planes[i] & one
        for i in range(2 * LANES):
            own_now, other_now = s[OWN_NOW * LANES + i], s[OTHER_NOW * LANES + i]
            s[OWN_NEAR * LANES + i] |= own_now & ~other_now
            s[OTHER_NEAR * LANES + i] |= other_now & ~own_now
        if left == U64(0):
            return step


@njit(cache=True)
def count_apart(lanes: Lanes, steps: int) -> None:
    """Compute w, after `queen_fills`."""
    s, apart, sums = lanes.words, lanes.apart, lanes.sums
    for i in range(LANES):
        low = s[OWN_ALL * LANES + i] & s[OTHER_ALL * LANES + i]
        high = s[(OWN_ALL + 1) * LANES + i] & s[(OTHER_ALL + 1) * LANES + i]
        near_low = s[OWN_NEAR * LANES + i] | s[OTHER_NEAR * LANES + i]
        near_high = s[(OWN_NEAR + 1) * LANES + i] | s[(OTHER_NEAR + 1) * LANES + i]
        sums[W * LANES + i] = (count(low, high) << FRACTION) - (count(low & near_low, high & near_high) << FRACTION - 1)
    for k in range(2, min(steps, FRACTION + 1)):
        plane = apart[(k - 1) * 2 * LANES : k * 2 * LANES]
        share = np.int64(FRACTION - k)
        for i in range(LANES):
            low = s[OWN_ALL * LANES + i] & s[OTHER_ALL * LANES + i]
            high = s[(OWN_ALL + 1) * LANES + i] & s[(OTHER_ALL + 1) * LANES + i]
            sums[W * LANES + i] -= count(low & plane[i], high & plane[LANES + i]) << share


@njit(cache=True)
def collect(lanes: Lanes, tempo: float) -> None:
    """Write `Lanes.terms` except m, after all others."""
    s, sums, terms = lanes.words, lanes.sums, lanes.terms
    for i in range(LANES):
        low = s[OWN_ALL * LANES + i] & s[OTHER_ALL * LANES + i]
        high = s[(OWN_ALL + 1) * LANES + i] & s[(OTHER_ALL + 1) * LANES + i]
        a, b = s[OWN_NEAR * LANES + i], s[(OWN_NEAR + 1) * LANES + i]
        c, d = s[OTHER_NEAR * LANES + i], s[(OTHER_NEAR + 1) * LANES + i]
        even = count(low & ~a & ~c, high & ~b & ~d)
        terms[i] = (count(a, b) - count(c, d)) + tempo * even
        a, b = s[OWN_NEAR_KING * LANES + i], s[(OWN_NEAR_KING + 1) * LANES + i]
        c, d = s[OTHER_NEAR_KING * LANES + i], s[(OTHER_NEAR_KING + 1) * LANES + i]
        even = count(low & ~a & ~c, high & ~b & ~d)
        terms[LANES + i] = (count(a, b) - count(c, d)) + tempo * even
        terms[2 * LANES + i] = sums[C1 * LANES + i] * 2.0**-FRACTION
        terms[3 * LANES + i] = sums[C2 * LANES + i] / 6.0
        terms[4 * LANES + i] = sums[W * LANES + i] * 2.0**-FRACTION
    for i in range(LANES):
        low = s[OWN_ALL * LANES + i] & s[OTHER_ALL * LANES + i]
        high = s[(OWN_ALL + 1) * LANES + i] & s[(OTHER_ALL + 1) * LANES + i]
        one_low, one_high, two_low, two_high = beside(low, high)
        a, b, c, d = s[OWN * LANES + i], s[(OWN + 1) * LANES + i], s[OTHER * LANES + i], s[(OTHER + 1) * LANES + i]
        quarters = 3 * (count(a & ~one_low, b & ~one_high) - count(c & ~one_low, d & ~one_high))
        quarters += count(a & ~two_low, b & ~two_high) - count(c & ~two_low, d & ~two_high)
        terms[6 * LANES + i] = quarters / 4.0
