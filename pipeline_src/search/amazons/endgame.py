"""Endings of the Amazons that counting decides: each side has squares of its own, and the side with more of them wins.

The *own squares* of a side are the empty ones that king moves through empty squares join to its amazons and to none of
the other's. There it can make a number of turns against any play, if its guards (`endgame_fill`) keep the
other side out. The other side then gets at most one turn from each empty square that it can reach. If neither side can
reach a square of the other's, the position is *closed*, and both numbers are filling numbers.

The margin of the side to move is its number of turns less the other side's. It wins if the margin is 1 or more; with
equal numbers it runs out first.
"""

from typing import Any, NamedTuple

import numpy as np

from pipeline_src.games.amazons.board import MAX_SIDE, AmazonsState
from pipeline_src.games.amazons.moves import MAX_REACH
from pipeline_src.jit import Need, njit
from pipeline_src.search.amazons.endgame_fill import ENTRIES, EndgameScratch, flood, king_step, most_turns, single
from pipeline_src.search.amazons.flood import U64, Words, count
from pipeline_src.search.evaluator import COUNTED

MOST_EMPTY = 64  # Largest number of empty squares for `settle_amazons`
SEARCH_NODES = 60  # Node limit for a region at an inner node of a search
PLAY_NODES = 2_000  # Node limit for a region at the move of a game


class Territory(NamedTuple):
    """Sets of squares of a position, two words each, for the side to move and the other."""

    own_low: Any
    own_high: Any  # Amazons of the side to move
    other_low: Any
    other_high: Any
    reach_low: Any
    reach_high: Any  # Empty squares that its amazons reach by king moves through empty squares
    far_low: Any
    far_high: Any  # `reach_high` for the other side's amazons


class Filling(NamedTuple):
    """A turn in a position counted out, and bounds of the margin: `least` >= 1 wins, `most` <= 0 loses."""

    action: int
    least: int
    most: int

    @property
    def value(self) -> float:
        """Value in squares: that of `settle_amazons` if the game is decided, else the middle of the bounds."""
        if self.least > 0:
            return COUNTED + self.least - 0.5
        return -COUNTED + self.most - 0.5 if self.most <= 0 else (self.least + self.most) / 2


def endgame_scratch(amazons: int = 4) -> EndgameScratch:
    """Return scratch space for one thread, for positions with up to this number of amazons per side.

    An evaluator holds it as a field, ``endgame: EndgameScratch``, and settles with
    ``settle_amazons(state, evaluator.endgame)``.
    """
    depth = MAX_SIDE * MAX_SIDE + amazons  # a turn for each square, and a frame for each piece that comes off
    return EndgameScratch(
        np.zeros(ENTRIES, np.uint64),
        np.zeros(ENTRIES, np.int8),
        np.zeros(ENTRIES, np.int8),
        np.empty((depth, amazons * MAX_REACH * MAX_REACH), np.int32),
        np.zeros((depth, 9), np.uint64),
        np.zeros((depth, 8), np.int64),
        np.zeros(4, np.int64),
    )


@njit(cache=True)
def _empty(state: AmazonsState) -> Words:
    # From the row lines: much faster than square by square.
    low, high = U64(0), U64(0)
    height, width = state.board.shape
    row = U64((1 << width) - 1)
    for r in range(height):
        bits, place = row & ~U64(state.lines[0, r]), r * (width + 1)
        if place < 64:
            low |= bits << U64(place)
            if place > 64 - width:
                high |= bits >> U64(64 - place)
        else:
            high |= bits << U64(place - 64)
    return low, high


@njit(cache=True)
def _amazons(state: AmazonsState, side: int) -> Words:
    low, high, width = U64(0), U64(0), state.board.shape[1]
    for square in state.amazons[side]:
        if square >= 0:
            bit_low, bit_high = single(square + square // width)
            low, high = low | bit_low, high | bit_high
    return low, high


@njit(cache=True)
def _territory(
    own_low: Any, own_high: Any, other_low: Any, other_high: Any, empty_low: Any, empty_high: Any, stride: int
) -> Territory:
    low, high = king_step(own_low, own_high, empty_low, empty_high, stride)
    reach_low, reach_high = flood(low, high, empty_low, empty_high, stride)
    low, high = king_step(other_low, other_high, empty_low, empty_high, stride)
    far_low, far_high = flood(low, high, empty_low, empty_high, stride)
    return Territory(own_low, own_high, other_low, other_high, reach_low, reach_high, far_low, far_high)


@njit(cache=True)
def _territory_of(state: AmazonsState) -> Territory:
    empty_low, empty_high = _empty(state)
    own_low, own_high = _amazons(state, state.turn[0])
    other_low, other_high = _amazons(state, 1 - state.turn[0])
    return _territory(own_low, own_high, other_low, other_high, empty_low, empty_high, state.board.shape[1] + 1)


@njit(cache=True)
def _swapped(t: Territory) -> Territory:
    return Territory(t.other_low, t.other_high, t.own_low, t.own_high, t.far_low, t.far_high, t.reach_low, t.reach_high)


@njit(cache=True)
def _guards(t: Territory, stride: int) -> Words:
    # Amazons next to squares that the other side occupies or reaches.
    return king_step(t.other_low | t.far_low, t.other_high | t.far_high, t.own_low, t.own_high, stride)


@njit(cache=True)
def _own_turns(t: Territory, stride: int, nodes: int, scratch: EndgameScratch) -> tuple[int, int, int]:
    # (certain turns in the side's own squares, most turns there if the other side stays out, turn) as in `most_turns`.
    low, high = t.own_low | t.reach_low & ~t.far_low, t.own_high | t.reach_high & ~t.far_high
    guards_low, guards_high = _guards(t, stride)
    least, most, turn = most_turns(low, high, t.own_low, t.own_high, guards_low, guards_high, stride, nodes, scratch)
    whole = count(low, high) - count(t.own_low, t.own_high)
    if least < whole and (guards_low | guards_high) != U64(0):
        none = U64(0)
        _, most, _ = most_turns(low, high, t.own_low, t.own_high, none, none, stride, nodes, scratch)
    return least, most, turn


@njit(cache=True)
def closed(state: AmazonsState) -> bool:
    """Whether no empty square is reachable for both sides in the present position."""
    t = _territory_of(state)
    return bool((t.reach_low & t.far_low) | (t.reach_high & t.far_high) == U64(0))


@njit(cache=True)
def sealed(state: AmazonsState) -> bool:
    """Whether the position is closed and stays closed under any play: no amazons of the two sides touch."""
    t = _territory_of(state)
    low, high = _guards(t, state.board.shape[1] + 1)
    return bool((t.reach_low & t.far_low) | (t.reach_high & t.far_high) | low | high == U64(0))


@njit(cache=True)
def _most_outside(t: Territory, stride: int, nodes: int, scratch: EndgameScratch) -> int:
    # Most turns of the side to move in an open position if the other side stays in squares of its own.
    low, high, none = t.own_low | t.reach_low, t.own_high | t.reach_high, U64(0)
    return most_turns(low, high, t.own_low, t.own_high, none, none, stride, nodes, scratch)[1]


@njit(cache=True)
def _margin(t: Territory, stride: int, nodes: int, scratch: EndgameScratch, fully: bool) -> tuple[int, int, int]:
    least, most, turn = _own_turns(t, stride, nodes, scratch)
    far_least, far_most, _ = _own_turns(_swapped(t), stride, nodes, scratch)
    if (t.reach_low & t.far_low) | (t.reach_high & t.far_high) != U64(0):
        most, far_most = count(t.reach_low, t.reach_high), count(t.far_low, t.far_high)
        if fully:
            most = _most_outside(t, stride, nodes, scratch)
            far_most = _most_outside(_swapped(t), stride, nodes, scratch)
    return least - far_most, most - far_least, turn


@njit(cache=True)
def count_out(state: AmazonsState, nodes: int, scratch: EndgameScratch) -> tuple[int, int, int]:
    """Return (least, most, turn): bounds of the margin of the side to move, and a turn that keeps ``least`` (-1: none).

    In any position between turns, the side to move can achieve a margin of at least ``least``, and the other side one
    of at most ``most``. The two are seldom equal unless the position is closed. ``turn`` is as in `most_turns`.
    """
    return _margin(_territory_of(state), state.board.shape[1] + 1, nodes, scratch, True)


@njit(cache=True)
def settle_words(
    own_low: Any,
    own_high: Any,
    other_low: Any,
    other_high: Any,
    empty_low: Any,
    empty_high: Any,
    stride: int,
    scratch: EndgameScratch,
) -> tuple[bool, float]:
    """`settle_amazons` for a caller that holds the sets: amazons of the side to move, the other's, empty squares.

    They may have any stride above the board's width.
    """
    if count(empty_low, empty_high) > MOST_EMPTY:
        return False, 0.0
    t = _territory(own_low, own_high, other_low, other_high, empty_low, empty_high, stride)
    shared_low, shared_high = t.reach_low & t.far_low, t.reach_high & t.far_high
    if shared_low | shared_high != U64(0):
        shared = count(shared_low, shared_high)
        reach, far = count(t.reach_low, t.reach_high), count(t.far_low, t.far_high)
        if reach - shared <= far and far - shared < reach:
            return False, 0.0
    least, most, _ = _margin(t, stride, SEARCH_NODES, scratch, False)
    if least > 0:
        return True, COUNTED + least - 0.5
    if most <= 0:
        return True, -COUNTED + most - 0.5
    return False, 0.0


@njit(cache=True)
def settle_amazons(state: AmazonsState, scratch: EndgameScratch) -> tuple[bool, float]:
    """Return (whether counting decides the game, its value for the side to move if so); see `evaluator.settle`.

    The value is half a turn less than the margin, so that a turn that wastes nothing only changes its sign. If the
    margin is not known exactly, the value is the certain part of it.
    """
    if state.turn[1] >= 0:
        return False, 0.0
    empty_low, empty_high = _empty(state)
    if count(empty_low, empty_high) > MOST_EMPTY:
        return False, 0.0
    own_low, own_high = _amazons(state, state.turn[0])
    other_low, other_high = _amazons(state, 1 - state.turn[0])
    stride = state.board.shape[1] + 1
    return settle_words(own_low, own_high, other_low, other_high, empty_low, empty_high, stride, scratch)


def closing_turn(state: AmazonsState) -> Filling | None:
    """Return the turn to play at once if a search has nothing left to find, else None.

    This is the case if the side to move certainly wins by filling its own squares, if it certainly loses a closed
    position, or if the position can no longer be opened.
    """
    if state.turn[1] >= 0:
        return None
    filling = _filling(state, PLAY_NODES)
    if filling is None or not (filling.least > 0 or (filling.most <= 0 and closed(state)) or sealed(state)):
        return None
    return filling


def closing_needs(state: AmazonsState) -> list[Need]:
    """Kernels that `closing_turn` calls."""
    count = Need(count_out, (state, PLAY_NODES, endgame_scratch(state.amazons.shape[1])))
    return [count, Need(closed, (state,)), Need(sealed, (state,))]


def _filling(state: AmazonsState, nodes: int) -> Filling | None:
    least, most, turn = count_out(state, nodes, endgame_scratch(state.amazons.shape[1]))
    if turn < 0:
        return None
    stride, squares = state.board.shape[1] + 1, state.board.size
    bits = (turn >> 14, turn >> 7 & 127, turn & 127)
    start, to, arrow = (bit // stride * (stride - 1) + bit % stride for bit in bits)
    return Filling((start * squares + to) * squares + arrow, least, most)
