"""Games of Go as streams of changes to a board, and the scan that finds patterns in them.

A stream is int16 [E] over a board of N = H * W points. A code below N is a black stone placed on that point, one from N
on a white stone, 2N a pass, 2N + 1 the end of the start position's stones; 2N + 2 + point takes a black stone away,
3N + 2 + point a white one. Stones that a move captures come before the move, so that every code below 2N + 2 completes
a position.

The scan counts for each form of a pattern the points that differ from the form. A change of the board
changes that count by a number that depends on code and form alone. The counts of 16 forms, or of 32 where fewer than
127 points matter, are fields of four words of 64 bits, so that a look-up and four additions follow all of them; a field
of zero is an occurrence. Nothing is hashed, and no position is set up.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.go.board import MOVES_KEPT, PLY, SIDE, GoState
from pipeline_src.games.go.moves import legal, play
from pipeline_src.games.go.setup import initial_state
from pipeline_src.jit import njit

WORDS = 4
"""uint64 whose fields hold the counts of one scan."""
ANY = 3
"""Content of a point that may be empty, black or white."""
CAPTURES = 15
"""Bits of `GoState.undo` that are set where stones were captured."""

Codes = npt.NDArray[np.int16]


class Occurrences(NamedTuple):
    """Places where forms of a pattern stand, O of them, by game, then ply."""

    game: npt.NDArray[np.int32]
    """[O]: index of the stream."""
    ply: npt.NDArray[np.int32]
    """[O]: moves played before the first position with the form."""
    form: npt.NDArray[np.int32]
    """[O]"""
    following: npt.NDArray[np.int32]
    """[O]: code of the first move on a point of the form, which ends the occurrence; -1 where the game ends before it
    or a move outside captures stones of the form."""
    elsewhere: npt.NDArray[np.int32]
    """[O]: moves outside the form, passes included, before that move or the end."""


@njit(cache=True, allocates=True)
def _write(state: GoState, actions: npt.NDArray[np.int32], shadow: npt.NDArray[np.int8], out: Codes) -> int:
    points = state.board.size
    at = 0
    for point in range(points):
        shadow[point] = state.board.flat[point]
        if shadow[point]:
            out[at] = (shadow[point] - 1) * points + point
            at += 1
    out[at] = 2 * points + 1
    at += 1
    for ply in range(actions.size):
        action = actions[ply]
        if not legal(state, action):
            return -1 - ply
        colour, entry = state.turn[SIDE], state.turn[PLY] % MOVES_KEPT
        play(state, action)
        if action == points:
            out[at] = 2 * points
        else:
            shadow[action] = colour + 1
            if state.undo[entry] & CAPTURES:
                for point in range(points):
                    if shadow[point] != state.board.flat[point]:
                        out[at] = 2 * points + 2 + (shadow[point] - 1) * points + point
                        shadow[point] = 0
                        at += 1
            out[at] = colour * points + action
        at += 1
    return at


def write_events(size: int, variant: str, actions: npt.ArrayLike) -> Codes:
    """Return the stream of a game.

    Raises:
        ZugwerkError: no such board or variant.
        ValueError: an action is not legal; the argument is its ply.
    """
    plies = np.asarray(actions, np.int32)
    state = initial_state(size, variant)
    out = np.empty(2 * (plies.size + size * size) + 1, np.int16)
    end = _write(state, plies, np.empty(size * size, np.int8), out)
    if end < 0:
        raise ValueError(-1 - end)
    return out[:end].copy()


@njit(cache=True, allocates=True)
def _scan(
    events: Codes,
    starts: npt.NDArray[np.int64],
    games: npt.NDArray[np.int32],
    points: int,
    bits: int,
    change: npt.NDArray[np.uint64],
    least: npt.NDArray[np.uint64],
    place: npt.NDArray[np.int16],
) -> npt.NDArray[np.int32]:
    """Return occurrences as int32 [O, 5]: game, ply, field, following, elsewhere.

    Args:
        events: all streams, one after the other.
        starts: [G + 1]: where each begins.
        games: the streams to scan, in this order.
        points: points of their boards.
        bits: bits of a field, 8 or 16.
        change: [codes, WORDS]: what a code adds to the counts; a field that falls lends from the next one, and all are
            right again in the sum.
        least: [WORDS]: counts of the empty board.
        place: [fields, points]: -1 for a point outside a field's form.
    """
    found, count = np.empty((64, 5), np.int32), 0
    low = np.uint64(0x0101010101010101 if bits == 8 else 0x0001000100010001)
    high = low << np.uint64(bits - 1)
    mask = np.uint64((1 << bits) - 1)
    fields = 64 // bits
    last = np.empty(WORDS * fields, np.int64)
    for game in games:
        a, b, c, d = least[0], least[1], least[2], least[3]
        last[:] = -2
        ply = -1  # of the position that a code completes: the start is 0
        for at in range(starts[game], starts[game + 1]):
            code = np.intp(events[at])
            a += change[code, 0]
            b += change[code, 1]
            c += change[code, 2]
            d += change[code, 3]
            if code >= 2 * points + 2 or (ply < 0 and code != 2 * points + 1):
                continue  # a captured stone, or one of the start position
            ply += 1
            # A field without its highest bit gets it by the subtraction of one only if it is zero, or if it lends to
            # one that is.
            if not (((a - low) & ~a) | ((b - low) & ~b) | ((c - low) & ~c) | ((d - low) & ~d)) & high:
                continue
            for field in range(WORDS * fields):
                word = a if field < fields else b if field < 2 * fields else c if field < 3 * fields else d
                if word >> np.uint64(field % fields * bits) & mask:
                    continue
                before, last[field] = last[field], ply
                if before == ply - 1:
                    continue
                if count == len(found):
                    larger = np.empty((2 * count, 5), np.int32)
                    larger[:count] = found
                    found = larger
                following, elsewhere, gone = np.intp(-1), 0, False
                for then in range(at + 1, starts[game + 1]):
                    move = np.intp(events[then])
                    if move < 2 * points and place[field, move % points] >= 0:
                        following = move
                        break
                    if move >= 2 * points + 2:
                        gone |= place[field, (move - 2) % points] >= 0
                    elif gone:
                        break
                    else:
                        elsewhere += 1
                found[count, 0], found[count, 1], found[count, 2] = game, ply, field
                found[count, 3], found[count, 4] = following, elsewhere
                count += 1
    return found[:count]


def scan(
    events: Codes,
    starts: npt.NDArray[np.int64],
    games: npt.NDArray[np.int32],
    wanted: npt.NDArray[np.int8],
    place: npt.NDArray[np.int16],
) -> Occurrences:
    """Find forms of a pattern in games.

    Args:
        events: all streams, one after the other.
        starts: [G + 1]: where each begins.
        games: [g]: the streams to look into, all of boards with N points.
        wanted: [F, N]: what each form wants on each point: empty, BLACK, WHITE or ANY.
        place: [F, N]: -1 for points outside the form.
    """
    forms, points = wanted.shape
    bits = 8 if (wanted != ANY).sum(1).max(initial=0) < 127 else 16
    fields = 64 // bits
    at_once = WORDS * fields
    on_empty = np.isin(wanted, (1, 2)).astype(np.int64)  # [F, N]: 1 where an empty point differs
    units = np.int64(1) << np.arange(0, 64, bits)
    parts = [np.empty((0, 5), np.int32)]
    for first in range(0, forms, at_once):
        lanes = slice(first, first + at_once)
        width = min(at_once, forms - first)
        change = np.zeros((4 * points + 2, at_once), np.int64)
        least = np.ones(at_once, np.int64)  # a field without a form never comes to zero
        of_fields = np.full((at_once, points), -1, np.int16)
        least[:width], of_fields[:width] = on_empty[lanes].sum(1), place[lanes]
        for colour in (1, 2):
            differs = ((wanted[lanes] != colour) & (wanted[lanes] != ANY)) - on_empty[lanes]
            change[(colour - 1) * points : colour * points, :width] = differs.T
            change[(colour + 1) * points + 2 : (colour + 2) * points + 2, :width] = -differs.T
        words = [(one.reshape(-1, WORDS, fields) * units).sum(2).view(np.uint64) for one in (change, least)]
        rows = _scan(events, starts, games, points, bits, words[0], words[1][0], of_fields)
        rows[:, 2] += first
        parts.append(rows)
    rows = np.concatenate(parts)
    if len(parts) > 2:
        rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    return Occurrences(*np.ascontiguousarray(rows.T))
