"""The terms of the Amazons evaluation for one position."""

from typing import Any, NamedTuple

import numpy as np

from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.jit import njit
from pipeline_src.search.amazons.flood import (
    U64,
    Words,
    amazon_squares,
    beside,
    count,
    down,
    empty_squares,
    king_step,
    up,
)


class Terms(NamedTuple):
    """The terms of a position, from the point of view of the side to move.

    D1(s) and D2(s) are the numbers of queen and king moves that a side needs to reach the empty square s. A square that
    neither side reaches is ignored.
    """

    t1: float
    """+1 for each square that the side to move reaches sooner (by D1), -1 for each that it reaches later, and a
    constant, the tempo, for each that both reach at once. A square that only one side reaches counts as reached sooner
    by it."""
    t2: float
    """t1 with D2 in place of D1."""
    c1: float
    """2 * sum over squares of 2^-D1(own) - 2^-D1(other); 2^-D1 is 0 for a side that never reaches the square."""
    c2: float
    """Sum over squares of (D2(other) - D2(own)) / 6, clipped to -1..1; 1 or -1 if only one side reaches the square."""
    w: float
    """Sum over the squares that both sides reach of 2^-|D1(own) - D1(other)|: 0 once the areas are closed."""
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
