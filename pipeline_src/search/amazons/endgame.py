"""Endings of the Amazons that counting decides: each side has squares of its own, and the side with more of them wins.

The *own squares* of a side are the empty ones that king moves through empty squares join to its amazons and to none of
the other's. There it can make a number of turns against any play, if its guards keep the other side
out. The other side then gets at most one turn from each empty square that it can reach. If neither side can reach a
square of the other's, the position is *closed*, and both numbers are filling numbers.

The margin of the side to move is its number of turns less the other side's. It wins if the margin is 1 or more; with
equal numbers it runs out first.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons import MAX_REACH, MAX_SIDE, AmazonsState
from pipeline_src.jit import Need, njit
from pipeline_src.search.amazons.terms import U64, Words, count, popcount
from pipeline_src.search.evaluator import COUNTED

# The filling number: how many turns in a row a side can make in a region of its own.
#
# A region is a set of empty squares and amazons of one side, connected by king moves. Each turn removes exactly one
# square, the one that the arrow hits, so the empty squares bound the number of turns; cut points and dead ends reduce
# it ('defective territories': Mueller and Tegos, "Experiments in computer Amazons", More Games of No Chance, 2002).
# Counting is NP-complete (Buro, "Simple Amazons endgames and their connection to Hamilton circuits in cubic subgrid
# graphs", 2000), hence the limit on nodes. Here a depth-first search decides whether a given number of turns is
# possible. It first tries to shoot back at the square just left, if that does not cut the region, which usually
# succeeds at once.
#
# A region includes the squares of its amazons. *Guards* are amazons
# next to squares that the other side might enter: they may leave only with an arrow at the square they left.


# Sets of squares for counting endings: membership, surroundings, connected parts.
#
# A set is two 64-bit words; square (r, c) is bit ``r * stride + c``. The stride is more than the board's width, so that
# no shift wraps around an edge.


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


JOINED = _joined_rings()  # bool [512]: whether the squares around the middle of a 3x3 block hang together without it
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


# The turns of a region that one side has to itself, in the order in which counting tries them.


PLACE = 1 << 7  # Bit numbers are below this


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


NO, YES, UNKNOWN, NONE = 0, 1, 2, 3  # Answers of `fills`. UNKNOWN: the nodes ran out. NONE: not answered yet.
NODES, RUN, TURN, LONGEST = range(4)
"""Places in `EndgameScratch.counters`: nodes left; number of the count; the turn that begins the longest line seen in a
region of one piece all along, and the turns of that line."""
TARGET, LEAST, MOST, KIND, NEXT, LENGTH, MADE, SLACK = range(8)
"""Places in a frame of the search: turns asked for; bounds of the region; current try; next in the list of
turns and its length; of two pieces, the turns of the first and how many may yet be lost."""
BACK, OTHERS, FIRST, REST = range(4)
"""Kinds of a frame: turns that shoot back, other turns; the first of two pieces, the rest."""
ENTRIES = 1 << 13  # Number of entries in the table of regions of one count
FEW = 16  # Least number of nodes for the later, easier questions about a region
_LIST = 16  # turns written in about the time of one node


class EndgameScratch(NamedTuple):
    """Scratch space of one thread."""

    keys: npt.NDArray[np.uint64]  # [ENTRIES]: hash of the region in this entry
    least: npt.NDArray[np.int8]  # [ENTRIES]: turns known to be possible in it
    most: npt.NDArray[np.int8]  # [ENTRIES]: turns not known to be impossible
    turns: npt.NDArray[np.int32]
    """[D, A]: turns to try at each depth, as ``((order * 128 + from) * 128 + to) * 128 + arrow`` in bit numbers."""
    words: npt.NDArray[np.uint64]
    """[D, 9]: region, amazons, guards, first piece (two words each) and hash in each frame of the search."""
    frames: npt.NDArray[np.int64]  # [D, 8]: see TARGET and its fellows
    counters: npt.NDArray[np.int64]  # [4]: see NODES and its fellows


@njit(cache=True)
def _key(words: npt.NDArray[np.uint64]) -> Any:
    x = U64(0x9E3779B97F4A7C15)
    for i in range(6):
        x = (x ^ words[i]) * U64(0xD6E8FEB86659FD93)
        x ^= x >> U64(32)
    return x


@njit(cache=True)
def _mark(key: Any, run: int) -> Any:
    """Key of an entry of this run. Its place does not depend on the run, or results would depend on earlier runs."""
    return (key + U64(run) * U64(0x9E3779B97F4A7C15)) | U64(1)  # never equal to an empty entry


@njit(cache=True)
def _ask(
    region_low: Any,
    region_high: Any,
    amazons_low: Any,
    amazons_high: Any,
    guards_low: Any,
    guards_high: Any,
    target: int,
    depth: int,
    scratch: EndgameScratch,
) -> None:
    # Put a question into its frame.
    words = scratch.words[depth]
    words[0], words[1], words[2], words[3] = region_low, region_high, amazons_low, amazons_high
    words[4], words[5] = guards_low & amazons_low, guards_high & amazons_high
    scratch.frames[depth, TARGET] = target


@njit(cache=True)
def _open(depth: int, stride: int, scratch: EndgameScratch) -> int:
    # Answer the question of a frame if that needs no search; else make the frame ready and return NONE.
    words, frame = scratch.words[depth], scratch.frames[depth]
    region_low, region_high, amazons_low, amazons_high = words[0], words[1], words[2], words[3]
    bound, target = count(region_low, region_high) - count(amazons_low, amazons_high), frame[TARGET]
    if target <= 0:
        return YES
    if target > bound:
        return NO
    if scratch.counters[NODES] <= 0:
        return UNKNOWN
    scratch.counters[NODES] -= 1
    key = _key(words)
    slot = key & U64(ENTRIES - 1)
    frame[LEAST], frame[MOST] = 0, bound
    if scratch.keys[slot] == _mark(key, scratch.counters[RUN]):
        frame[LEAST], frame[MOST] = scratch.least[slot], scratch.most[slot]
        if target <= frame[LEAST]:
            return YES
        if target > frame[MOST]:
            return NO
    words[8] = key
    frame[KIND], frame[NEXT], frame[LENGTH] = BACK, 0, -1
    first_low, first_high = lowest_bit(amazons_low, amazons_high)
    if first_low != amazons_low or first_high != amazons_high:
        part_low, part_high = flood(first_low, first_high, region_low, region_high, stride)
        if part_low != region_low or part_high != region_high:
            # Two pieces with amazons in both count apart: the most of the first, then the remainder to the rest.
            words[6], words[7], frame[KIND] = part_low, part_high, FIRST
            frame[MADE] = count(part_low, part_high) - count(amazons_low & part_low, amazons_high & part_high)
            frame[SLACK] = bound - target
    return NONE


@njit(cache=True)
def _ask_piece(depth: int, first: bool, scratch: EndgameScratch) -> None:
    words, frame = scratch.words[depth], scratch.frames[depth]
    low, high, target = words[6], words[7], frame[MADE]
    if not first:
        low, high, target = ~low, ~high, frame[TARGET] - frame[MADE]
    _ask(
        words[0] & low,
        words[1] & high,
        words[2] & low,
        words[3] & high,
        words[4],
        words[5],
        target,
        depth + 1,
        scratch,
    )


@njit(cache=True)
def _ask_turn(depth: int, stride: int, scratch: EndgameScratch) -> bool:
    # Put the question after the next turn of a frame into the next frame; False where there is none left.
    words, frame, turns = scratch.words[depth], scratch.frames[depth], scratch.turns[depth]
    region_low, region_high, amazons_low, amazons_high = words[0], words[1], words[2], words[3]
    while frame[NEXT] >= frame[LENGTH]:
        if frame[KIND] == OTHERS:
            return False
        if frame[LENGTH] >= 0:
            frame[KIND] = OTHERS
        frame[NEXT] = 0
        frame[LENGTH] = write_shots(
            region_low,
            region_high,
            amazons_low,
            amazons_high,
            words[4],
            words[5],
            stride,
            frame[KIND] == BACK,
            turns,
        )
        scratch.counters[NODES] -= frame[LENGTH] // _LIST
    turn = int(turns[frame[NEXT]])
    frame[NEXT] += 1
    start, to, arrow = turn >> 14 & 127, turn >> 7 & 127, turn & 127
    bit_low, bit_high = single(arrow)
    left_low, left_high = region_low & ~bit_low, region_high & ~bit_high
    bit_low, bit_high = single(start)
    to_low, to_high = single(to)
    amazons_low, amazons_high = amazons_low & ~bit_low | to_low, amazons_high & ~bit_high | to_high
    if not JOINED[block_at(region_low, region_high, arrow, stride)]:
        left_low, left_high = flood(amazons_low, amazons_high, left_low, left_high, stride)
    _ask(
        left_low,
        left_high,
        amazons_low,
        amazons_high,
        words[4],
        words[5],
        frame[TARGET] - 1,
        depth + 1,
        scratch,
    )
    return True


@njit(cache=True)
def fills(
    region_low: Any,
    region_high: Any,
    amazons_low: Any,
    amazons_high: Any,
    guards_low: Any,
    guards_high: Any,
    stride: int,
    target: int,
    scratch: EndgameScratch,
) -> int:
    """Whether ``target`` turns running can be made in a region of one piece, with its amazons: YES, NO or UNKNOWN.

    ``counters[LONGEST]`` rises to the turns of the longest line seen, and ``counters[TURN]`` begins it.
    """
    # Not a recursive function: numba cannot link one that it has loaded from its cache into another.
    _ask(region_low, region_high, amazons_low, amazons_high, guards_low, guards_high, target, 0, scratch)
    answer = _open(0, stride, scratch)
    if answer != NONE:
        return answer
    depth, pieces, asked = 0, 0, False
    while True:
        # Here the frame at ``depth`` is ready, or has the answer to the question it put last.
        frame = scratch.frames[depth]
        if frame[KIND] == FIRST:
            pieces += answer == NONE
            if answer == NO:
                frame[MADE] -= 1
                frame[SLACK] -= 1
            elif answer == YES:
                frame[KIND], answer = REST, NONE
            asked = answer != UNKNOWN and frame[SLACK] >= 0
            if asked:
                _ask_piece(depth, frame[KIND] == FIRST, scratch)
        elif frame[KIND] == REST:
            asked = False
        else:
            asked = answer in (NO, NONE) and _ask_turn(depth, stride, scratch)
            if asked and pieces == 0 and depth >= scratch.counters[LONGEST]:
                scratch.counters[LONGEST] = depth + 1
                scratch.counters[TURN] = scratch.turns[0, scratch.frames[0, NEXT] - 1] % PLACE**3
            if not asked and answer == NONE:
                answer = NO
        if asked:
            answer = _open(depth + 1, stride, scratch)
            if answer == NONE:
                depth += 1
            continue
        if answer == YES:
            frame[LEAST] = max(frame[LEAST], frame[TARGET])
        elif answer == NO:
            frame[MOST] = min(frame[MOST], frame[TARGET] - 1)
        key = scratch.words[depth, 8]
        slot = key & U64(ENTRIES - 1)
        scratch.keys[slot] = _mark(key, scratch.counters[RUN])
        scratch.least[slot], scratch.most[slot] = frame[LEAST], frame[MOST]
        pieces -= frame[KIND] >= FIRST
        depth -= 1
        if depth < 0:
            if answer == YES and scratch.counters[LONGEST] < target:
                scratch.counters[LONGEST] = target
                scratch.counters[TURN] = scratch.turns[0, frame[NEXT] - 1] % PLACE**3
            return answer


@njit(cache=True)
def most_turns(
    region_low: Any,
    region_high: Any,
    amazons_low: Any,
    amazons_high: Any,
    guards_low: Any,
    guards_high: Any,
    stride: int,
    nodes: int,
    scratch: EndgameScratch,
) -> tuple[int, int, int]:
    """Return (least, most, turn) for the sum of the filling numbers of a side's regions, with a node limit per region.

    ``turn`` begins a line of ``least`` turns: ``(from * 128 + to) * 128 + arrow`` in bit numbers, in a region counted
    exactly if there is one; -1 where there is none.
    """
    least, most, turn, exact = 0, 0, -1, False
    while (amazons_low | amazons_high) != U64(0):
        first_low, first_high = lowest_bit(amazons_low, amazons_high)
        part_low, part_high = flood(first_low, first_high, region_low, region_high, stride)
        in_low, in_high = amazons_low & part_low, amazons_high & part_high
        amazons_low, amazons_high = amazons_low & ~part_low, amazons_high & ~part_high
        scratch.counters[RUN] += 1
        scratch.counters[LONGEST] = 0
        target = count(part_low, part_high) - count(in_low, in_high)
        highest, budget, step = target, nodes, 1
        while target > scratch.counters[LONGEST]:
            scratch.counters[NODES] = budget
            answer = fills(part_low, part_high, in_low, in_high, guards_low, guards_high, stride, target, scratch)
            if answer == UNKNOWN:
                # Ask for less and less, which lines of plain turns soon find.
                target, step, budget = target - step, 2 * step, max(budget // 2, FEW)
            else:
                target -= 1
                highest -= answer == NO and highest == target + 1
        made = scratch.counters[LONGEST]
        if made > 0 and (turn < 0 or (not exact and made == highest)):
            turn, exact = int(scratch.counters[TURN]), made == highest
        least, most = least + made, most + highest
    return least, most, turn


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
def write_owners(state: AmazonsState, owners: npt.NDArray[np.int8]) -> None:
    """Fill ``owners`` [N]: 1 for squares of the side to move, -1 for the other's, 0 for nobody's.

    A square is a side's if it has an amazon there, or if its amazons alone reach it by king moves.
    """
    t, width = _territory_of(state), state.board.shape[1]
    for s in range(owners.size):
        bit = s + s // width
        own = has(t.own_low | t.reach_low, t.own_high | t.reach_high, bit)
        owners[s] = int(own) - int(has(t.other_low | t.far_low, t.other_high | t.far_high, bit))


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
