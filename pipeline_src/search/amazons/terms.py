"""The terms of the Amazons evaluation, of many positions at once, and the sets of squares that they are counts of."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from pipeline_src.games.amazons import EMPTY, MAX_SIDE, AmazonsState
from pipeline_src.jit import njit

# Sets of squares of an Amazons board in two 64-bit words, and the reach of king and queen moves in them.
#
# Square (r, c) is bit ``11 * r + c`` for any width of the board: a constant distance between rows lets compilers fold
# the shifts, and the columns from W to 10 are never empty, so no shift wraps around an edge. A 10x10 board takes 110
# bits.
#
# Everything here is straight-line code without branches: called in a loop over positions it becomes vector code.


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


class Terms(NamedTuple):
    """The terms of a position, from the point of view of the side to move.

    D1(s) and D2(s) are the numbers of queen and king moves that a side needs to reach the empty square s. A square that
    neither side reaches is ignored.
    """

    t1: float
    """+1 for each square that the side to move reaches sooner (by D1), -1 for each that it reaches later, and a
    constant, the tempo, for each that both reach at once. A square that only one side reaches counts as reached sooner
    by it."""
    t2: float  # t1 with D2 in place of D1
    c1: float  # 2 * sum over squares of 2^-D1(own) - 2^-D1(other); 2^-D1 is 0 for a side that never reaches the square
    c2: float
    """Sum over squares of (D2(other) - D2(own)) / 6, clipped to -1..1; 1 or -1 if only one side reaches the square."""
    w: float  # Sum over the squares that both sides reach of 2^-|D1(own) - D1(other)|: 0 once the areas are closed
    m: float
    """Mobility of the own amazons less that of the other side's. The mobility of an amazon is the sum of 2^-d * e over
    the squares one queen move away that the other side reaches too, in any number of moves: d is the distance along the
    line in squares, e the number of empty squares among the eight neighbours (the amazon's own square is not empty)."""
    e: float
    """Enclosed amazons, own less the other side's: 1 for an amazon without an adjacent square that both sides reach,
    1/4 for one with a single such square."""


@njit(cache=True)
def _queen_step(low: Any, high: Any, empty_low: Any, empty_high: Any) -> Words:
    """Return the empty squares one queen move away from a set, or in it. For one position, walking beats doubling."""
    out_low, out_high = low & empty_low, high & empty_high
    for line in range(4):
        k = U64(1) if line == 0 else U64(9 + line)
        a, b = low, high
        while True:
            a, b = up(a, b, k)
            a, b = a & empty_low, b & empty_high
            if a | b == U64(0):
                break
            out_low, out_high = out_low | a, out_high | b
        a, b = low, high
        while True:
            a, b = down(a, b, k)
            a, b = a & empty_low, b & empty_high
            if a | b == U64(0):
                break
            out_low, out_high = out_low | a, out_high | b
    return out_low, out_high


@njit(cache=True)
def _mobility(low: Any, high: Any, empty_low: Any, empty_high: Any, both_low: Any, both_high: Any) -> float:
    total = 0.0
    for line in range(4):
        k = U64(1) if line == 0 else U64(9 + line)
        for upwards in range(2):
            a, b, share = low, high, 1.0
            while True:
                if upwards == 1:
                    a, b = up(a, b, k)
                else:
                    a, b = down(a, b, k)
                a, b, share = a & empty_low, b & empty_high, 0.5 * share
                if a | b == U64(0):
                    break
                c, d, pairs = a & both_low, b & both_high, 0
                for other in range(4):
                    shift = U64(1) if other == 0 else U64(9 + other)
                    e, f = up(c, d, shift)
                    pairs += count(e & empty_low, f & empty_high)
                    e, f = down(c, d, shift)
                    pairs += count(e & empty_low, f & empty_high)
                total += share * pairs
    return total


@njit(cache=True)
def terms(state: AmazonsState, tempo: float, mobile_from: float = 0.0) -> Terms:
    """Return the terms of a position between turns; m is 0 if w is below ``mobile_from``."""
    width = state.board.shape[1]
    empty_low, empty_high = empty_squares(state.board)
    own_low, own_high = amazon_squares(state.amazons, state.turn[0], width)
    other_low, other_high = amazon_squares(state.amazons, 1 - state.turn[0], width)
    return terms_of_words(own_low, own_high, other_low, other_high, empty_low, empty_high, tempo, mobile_from)


@njit(cache=True, allocates=True)
def terms_of_words(
    own_low: Any,
    own_high: Any,
    other_low: Any,
    other_high: Any,
    empty_low: Any,
    empty_high: Any,
    tempo: float,
    mobile_from: float,
) -> Terms:
    """`terms` of a position given by amazons and empty squares."""
    o_low, o_high, x_low, x_high = own_low, own_high, other_low, other_high
    history = np.empty((6, 4), np.uint64)
    # King moves first: they also find all squares that a side reaches.
    steps, balance, t2, even = 0, 0, 0, 0
    while True:
        a, b = king_step(o_low, o_high, empty_low, empty_high)
        c, d = king_step(x_low, x_high, empty_low, empty_high)
        if a == o_low and b == o_high and c == x_low and d == x_high:
            break
        left_low, left_high = ~(o_low | x_low), ~(o_high | x_high)
        if steps == 0:
            left_low, left_high = empty_low, empty_high
        t2 += count(a & ~c & left_low, b & ~d & left_high) - count(c & ~a & left_low, d & ~b & left_high)
        even += count(a & c & left_low, b & d & left_high)
        own_only, other_only = count(a & ~c, b & ~d), count(c & ~a, d & ~b)
        old = steps % 6
        if steps >= 6:
            own_only -= count(history[old, 0] & ~c, history[old, 1] & ~d)
            other_only -= count(history[old, 2] & ~a, history[old, 3] & ~b)
        balance += own_only - other_only
        history[old, 0], history[old, 1], history[old, 2], history[old, 3] = a, b, c, d
        o_low, o_high, x_low, x_high = a, b, c, d
        steps += 1
    for k in range(steps, steps + 6):  # a square that only one side reaches counts up to six times
        if steps == 0:
            break
        own_only, other_only = count(o_low & ~x_low, o_high & ~x_high), count(x_low & ~o_low, x_high & ~o_high)
        if k >= 6:
            old = k % 6
            own_only -= count(history[old, 0] & ~x_low, history[old, 1] & ~x_high)
            other_only -= count(history[old, 2] & ~o_low, history[old, 3] & ~o_high)
        balance += own_only - other_only
        old = k % 6
        history[old, 0], history[old, 1], history[old, 2], history[old, 3] = o_low, o_high, x_low, x_high
    both_low, both_high = o_low & x_low, o_high & x_high
    all_low, all_high, their_low, their_high = o_low, o_high, x_low, x_high

    t1, even1, c1, share, before = 0, 0, 0.0, 2.0, 0
    w = float(count(both_low, both_high))
    near_low, near_high, far_low, far_high = U64(0), U64(0), U64(0), U64(0)
    o_low, o_high, x_low, x_high = own_low, own_high, other_low, other_high
    apart = np.zeros((110, 2), np.uint64)
    apart_steps = 0
    while steps > 0:
        apart_steps += 1
        o_low, o_high = _queen_step(o_low, o_high, empty_low, empty_high)
        x_low, x_high = _queen_step(x_low, x_high, empty_low, empty_high)
        share *= 0.5
        balance1 = count(o_low, o_high) - count(x_low, x_high)
        c1 += share * (balance1 - before)
        before = balance1
        one_low, one_high = (o_low ^ x_low) & both_low, (o_high ^ x_high) & both_high
        for i in range(apart_steps, 1, -1):
            apart[i, 0] |= apart[i - 1, 0] & one_low
            apart[i, 1] |= apart[i - 1, 1] & one_high
        apart[1, 0] |= one_low
        apart[1, 1] |= one_high
        near_low, near_high = near_low | (o_low & ~x_low), near_high | (o_high & ~x_high)
        far_low, far_high = far_low | (x_low & ~o_low), far_high | (x_high & ~o_high)
        if o_low == all_low and o_high == all_high and x_low == their_low and x_high == their_high:
            break
    t1 = count(near_low, near_high) - count(far_low, far_high)
    even1 = count(both_low & ~near_low & ~far_low, both_high & ~near_high & ~far_high)
    share = 1.0
    for i in range(1, apart_steps):
        share *= 0.5
        w -= share * count(apart[i, 0], apart[i, 1])
    m = 0.0
    if w >= mobile_from:
        m += _mobility(own_low, own_high, empty_low, empty_high, both_low, both_high)
        m -= _mobility(other_low, other_high, empty_low, empty_high, both_low, both_high)
    one_low, one_high, two_low, two_high = beside(both_low, both_high)
    quarters = 3 * (
        count(own_low & ~one_low, own_high & ~one_high) - count(other_low & ~one_low, other_high & ~one_high)
    )
    quarters += count(own_low & ~two_low, own_high & ~two_high) - count(other_low & ~two_low, other_high & ~two_high)
    return Terms(t1 + tempo * even1, t2 + tempo * even, c1, balance / 6.0, w, m, quarters / 4.0)


# The terms of the Amazons evaluation for many positions at once.
#
# `LANES` positions lie side by side: row ``r`` of a scratch array holds one word of each. Every loop over the lanes is
# straight-line integer code, which the compiler turns into vector instructions. A flood fill continues until it is done
# in all lanes; this costs time in the other lanes, but changes nothing there.
#
# With O and X the cumulative sets of squares that the side to move and the other side reach within k moves, and B those
# that both reach in the end, the terms need few counts:
#
# - t: a square that is once in O and not in X is nearer to the side to move for good;
# - c1: 2^-D1 sums to the growth of |O| at each step;
# - c2: in B, the sum of D2(other) - D2(own) is that of |O| - |X| over the steps; the clip takes away the squares that
#   one side reached six steps before and the other has not reached yet;
# - w: 2^-d = 1 - (1/2 + ... + 2^-d), so |B| less 2^-i for each square of B whose distances differ by i or more. These
#   sets follow from step to step: what differed by i - 1 before and is still in one set only differs by i.


LANES = 32  # Positions side by side
MAX_STEPS = 110  # Largest number of steps of a fill: no path on a board of 100 squares is longer
FRACTION = 40  # Binary digits of w that are kept; one less for c1
OWN, OTHER, FREE, OWN_ALL, OTHER_ALL, OWN_NOW, OTHER_NOW = 0, 2, 4, 6, 8, 10, 12
"""Rows of `Lanes.words`, two each: amazons, empty squares, all that a side reaches, all it has reached so far."""
OWN_NEAR, OTHER_NEAR, OWN_NEAR_KING, OTHER_NEAR_KING, RUNS = 14, 16, 18, 20, 22
"""More rows: squares nearer to a side by queen and by king moves; and for each of four lines eight rows of `runs`."""
WORDS = RUNS + 32
RAY_ROWS = 8 + 2 * 24
C1, C2, W, M, BALANCE = 0, 1, 2, 3, 4
"""Rows of `Lanes.sums`: the terms times a power of two (c2: times 6); and |O| - |X| of the step before."""


class Lanes(NamedTuple):
    """Scratch space for `LANES` positions; flat, row ``r`` at ``[r * LANES : (r + 1) * LANES]``."""

    words: npt.NDArray[np.uint64]  # [WORDS * LANES]; the first six rows are the positions
    kings: npt.NDArray[np.uint64]
    """[(MAX_STEPS + 1) * 4 * LANES]: O and X by king moves, for each step; the amazons come first."""
    apart: npt.NDArray[np.uint64]  # [MAX_STEPS * 2 * LANES]: squares whose D1 differ by i or more, for each i
    rays: npt.NDArray[np.uint64]  # [RAY_ROWS * LANES]: scratch space of `mobility`
    sums: npt.NDArray[np.int64]  # [5 * LANES]
    terms: npt.NDArray[np.float64]  # [7 * LANES]: t1, t2, c1, c2, w, m, e


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
            empty_low, empty_high = s[FREE * LANES + i], s[(FREE + 1) * LANES + i]
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
    a, b, c, d, e, f, g, h = runs(s[FREE * LANES + i], s[(FREE + 1) * LANES + i], k)
    s[row * LANES + i], s[(row + 1) * LANES + i], s[(row + 2) * LANES + i], s[(row + 3) * LANES + i] = a, b, c, d
    s[(row + 4) * LANES + i], s[(row + 5) * LANES + i], s[(row + 6) * LANES + i], s[(row + 7) * LANES + i] = e, f, g, h


@njit(cache=True, forceinline=True)
def _line(s: Any, i: int, row: int, k: int, low: Any, high: Any, seen_low: Any, seen_high: Any) -> tuple[Any, Any]:
    a, b = s[FREE * LANES + i], s[(FREE + 1) * LANES + i]
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
def _queen_step_batch(s: Any, source: int, target: int) -> None:
    for i in range(LANES):
        low, high = s[source * LANES + i], s[(source + 1) * LANES + i]
        a, b = _line(s, i, RUNS, 1, low, high, U64(0), U64(0))
        a, b = _line(s, i, RUNS + 8, 10, low, high, a, b)
        a, b = _line(s, i, RUNS + 16, 11, low, high, a, b)
        a, b = _line(s, i, RUNS + 24, 12, low, high, a, b)
        s[target * LANES + i] = a & s[FREE * LANES + i]
        s[(target + 1) * LANES + i] = b & s[(FREE + 1) * LANES + i]


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
            _queen_step_batch(s, OWN, OWN_NOW)
            _queen_step_batch(s, OTHER, OTHER_NOW)
        else:
            _queen_step_batch(s, OWN_NOW, OWN_NOW)
            _queen_step_batch(s, OTHER_NOW, OTHER_NOW)
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


# Mobility in the Amazons evaluation, of many positions at once, the term m.
#
# All amazons of a side look in all eight directions at once, one square further at each step. What the directions see
# is added up bit by bit, and so are the numbers of empty neighbours; the products are counts of bits.


FURTHEST = 9  # Largest number of squares in one direction
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
        low, high = s[FREE * LANES + i], s[(FREE + 1) * LANES + i]
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
    low, high = low & s[FREE * LANES + i], high & s[(FREE + 1) * LANES + i]
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
