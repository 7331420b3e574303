"""Kernels that read and change an `AmazonsState`.

A table gives the squares reachable along a line: ``STEPS[place, occupied]`` holds the number of free squares below
(low four bits) and above (high four bits) ``place`` on a line with the occupied squares ``occupied``. The bit of
``place`` itself is ignored, so an amazon stays on the board while her moves are looked up.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons.board import (
    ARROW,
    BLACK,
    EMPTY,
    KEYS,
    MAX_SIDE,
    MOVED_KEY,
    SIDE_KEY,
    WHITE,
    AmazonsState,
)
from pipeline_src.jit import njit


def _steps_table() -> npt.NDArray[np.uint8]:
    table = np.zeros((MAX_SIDE, 1 << MAX_SIDE), dtype=np.uint8)
    for place in range(MAX_SIDE):
        for occupied in range(1 << MAX_SIDE):
            low = high = 0
            while place - low > 0 and not occupied >> (place - low - 1) & 1:
                low += 1
            while place + high < MAX_SIDE - 1 and not occupied >> (place + high + 1) & 1:
                high += 1
            table[place, occupied] = low | high << 4
    return table


STEPS = _steps_table()
REACH = (STEPS & 15) + (STEPS >> 4)  # uint8 [10, 1024]: number of reachable squares on a line, both directions together
MAX_REACH = 35  # The most squares a queen reaches on a 10x10 board
SPARE = MAX_SIDE - 1  # Number of entries that `reach` may write past its last one


@njit(cache=True)
def flip(lines: npt.NDArray[np.uint16], width: int, square: int) -> None:
    """Toggle a square between empty and occupied on its four lines."""
    r, c = square // width, square % width
    bit_r, bit_c = np.uint16(1 << r), np.uint16(1 << c)
    lines[0, r] ^= bit_c
    lines[1, c] ^= bit_r
    lines[2, r - c + width - 1] ^= bit_c
    lines[3, r + c] ^= bit_c


@njit(cache=True)
def reach_count(lines: npt.NDArray[np.uint16], width: int, square: int) -> int:
    """Count the squares that a queen on ``square`` reaches."""
    w = np.uint64(width)  # unsigned: numba then leaves out its test for negative indices
    r, c = np.uint64(square) // w, np.uint64(square) % w
    return (
        int(REACH[c, lines[0, r]])
        + int(REACH[r, lines[1, c]])
        + int(REACH[c, lines[2, r + w - np.uint64(1) - c]])
        + int(REACH[c, lines[3, r + c]])
    )


@njit(inline="always")
def _run(out: npt.NDArray[np.int32], n: int, at: Any, stride: Any, count: Any) -> int:
    # Always nine stores: cheaper than a loop whose end the processor cannot foresee. The next run overwrites the rest.
    i = np.uint64(n)
    for k in range(MAX_SIDE - 1):
        out[i + np.uint64(k)] = np.int32(at + stride * np.int32(k + 1))
    return int(n + count)


@njit(inline="always")
def reach(lines: npt.NDArray[np.uint16], width: int, square: int, out: npt.NDArray[np.int32], n: int, base: int) -> int:
    """Write ``base +`` each square a queen on ``square`` reaches to ``out[n:]``; return the new ``n``.

    Up to `SPARE` entries past the last one are overwritten, so ``out`` needs that much extra room.
    """
    w = np.uint64(width)
    r, c = np.uint64(square) // w, np.uint64(square) % w
    at, one, up = np.int32(base + square), np.int32(1), np.int32(width)
    steps = STEPS[c, lines[0, r]]
    n = _run(out, n, at, -one, np.int64(steps & 15))
    n = _run(out, n, at, one, np.int64(steps >> 4))
    steps = STEPS[r, lines[1, c]]
    n = _run(out, n, at, -up, np.int64(steps & 15))
    n = _run(out, n, at, up, np.int64(steps >> 4))
    steps = STEPS[c, lines[2, r + w - np.uint64(1) - c]]
    n = _run(out, n, at, -up - one, np.int64(steps & 15))
    n = _run(out, n, at, up + one, np.int64(steps >> 4))
    steps = STEPS[c, lines[3, r + c]]
    n = _run(out, n, at, up - one, np.int64(steps & 15))
    return _run(out, n, at, one - up, np.int64(steps >> 4))


def buffers(state: AmazonsState) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return uninitialised arrays for all moves and all turns of any position with this number of amazons."""
    moves = state.amazons.shape[1] * MAX_REACH
    return np.empty(moves + SPARE, np.int32), np.empty(moves * MAX_REACH + SPARE, np.int32)


@njit(cache=True)
def write_moves(state: AmazonsState, out: npt.NDArray[np.int32]) -> int:
    """Write all ``from * N + to`` of the side to move to ``out``; return their number."""
    squares, width, n = state.board.size, state.board.shape[1], 0
    for start in state.amazons[state.turn[0]]:
        if start >= 0:
            n = reach(state.lines, width, start, out, n, int(start) * squares)
    return n


@njit(cache=True)
def write_turns(state: AmazonsState, moves: npt.NDArray[np.int32], out: npt.NDArray[np.int32]) -> int:
    """Write all turns ``(from * N + to) * N + arrow`` to ``out``; return their number. ``moves`` is scratch space."""
    squares, width, n = state.board.size, state.board.shape[1], 0
    count = write_moves(state, moves)
    lifted = -1
    for i in range(count):
        start, to = moves[i] // squares, moves[i] % squares
        if start != lifted:
            if lifted >= 0:
                flip(state.lines, width, lifted)
            flip(state.lines, width, start)
            lifted = start
        n = reach(state.lines, width, to, out, n, int(moves[i]) * squares)
    if lifted >= 0:
        flip(state.lines, width, lifted)
    return n


@njit(cache=True)
def count_turns(state: AmazonsState, moves: npt.NDArray[np.int32]) -> int:
    """Count the legal turns. ``moves`` is scratch space."""
    _squares, width, n = state.board.size, state.board.shape[1], 0
    for start in state.amazons[state.turn[0]]:
        if start >= 0:
            count = reach(state.lines, width, start, moves, 0, 0)
            flip(state.lines, width, start)
            for i in range(count):
                n += reach_count(state.lines, width, moves[i])
            flip(state.lines, width, start)
    return n


@njit(cache=True)
def can_move(state: AmazonsState) -> bool:
    """Whether the side to move has a turn. An amazon that can move can always shoot at the square she came from."""
    width = state.board.shape[1]
    for start in state.amazons[state.turn[0]]:
        if start >= 0 and reach_count(state.lines, width, start) > 0:
            return True
    return False


@njit(cache=True)
def sees(lines: npt.NDArray[np.uint16], width: int, start: int, to: int) -> bool:
    """Whether a queen on ``start`` reaches ``to``."""
    r, c = start // width, start % width
    dr, dc = to // width - r, to % width - c
    if (dr == 0 and dc == 0) or not (dr == 0 or dc == 0 or abs(dr) == abs(dc)):
        return False
    if dr == 0:
        steps, forward = STEPS[c, lines[0, r]], dc > 0
    elif dc == 0:
        steps, forward = STEPS[r, lines[1, c]], dr > 0
    elif dr == dc:
        steps, forward = STEPS[c, lines[2, r - c + width - 1]], dc > 0
    else:
        steps, forward = STEPS[c, lines[3, r + c]], dc > 0
    return bool(max(abs(dr), abs(dc)) <= (steps >> 4 if forward else steps & 15))


@njit(cache=True)
def legal(state: AmazonsState, start: int, to: int, arrow: int) -> bool:
    """Whether a whole turn is legal. Squares outside the board are accepted and make it illegal."""
    squares, width = state.board.size, state.board.shape[1]
    if not (0 <= start < squares and 0 <= to < squares and 0 <= arrow < squares):
        return False
    if state.board[start // width, start % width] != (WHITE if state.turn[0] == 0 else BLACK):
        return False
    if not sees(state.lines, width, start, to):
        return False
    flip(state.lines, width, start)
    flip(state.lines, width, to)
    shot = bool(sees(state.lines, width, to, arrow))
    flip(state.lines, width, to)
    flip(state.lines, width, start)
    return shot


@njit(cache=True)
def move_amazon(state: AmazonsState, start: int, to: int) -> None:
    """Move an amazon of the side to move, in place: the first half of a turn, or its undoing."""
    width, side = state.board.shape[1], state.turn[0]
    colour = state.board[start // width, start % width]
    state.hash[0] ^= KEYS[colour, start] ^ KEYS[colour, to] ^ KEYS[MOVED_KEY, to]
    state.board[to // width, to % width] = colour
    state.board[start // width, start % width] = EMPTY
    flip(state.lines, width, start)
    flip(state.lines, width, to)
    row = state.amazons[side]
    i = 0
    while row[i] != start:
        i += 1
    while i > 0 and row[i - 1] > to:  # keep the squares ascending, so that equal positions are equal states
        row[i] = row[i - 1]
        i -= 1
    while i < row.size - 1 and row[i + 1] < to:
        row[i] = row[i + 1]
        i += 1
    row[i] = to
    state.turn[1] = to


@njit(cache=True)
def shoot(state: AmazonsState, arrow: int) -> None:
    """Shoot an arrow, in place: the second half of a turn."""
    width = state.board.shape[1]
    state.board[arrow // width, arrow % width] = ARROW
    state.hash[0] ^= KEYS[ARROW, arrow] ^ KEYS[SIDE_KEY, 0] ^ KEYS[MOVED_KEY, state.turn[1]]
    flip(state.lines, width, arrow)
    state.turn[0] = 1 - state.turn[0]
    state.turn[1] = -1
    state.turn[2] += 1


@njit(cache=True)
def take_back(state: AmazonsState, start: int, to: int, arrow: int) -> None:
    """Undo a whole turn, in place."""
    width = state.board.shape[1]
    state.board[arrow // width, arrow % width] = EMPTY
    flip(state.lines, width, arrow)
    state.turn[0] = 1 - state.turn[0]
    state.turn[2] -= 1
    move_amazon(state, to, start)
    state.turn[1] = -1
    state.hash[0] ^= KEYS[ARROW, arrow] ^ KEYS[SIDE_KEY, 0] ^ KEYS[MOVED_KEY, start]


@njit(cache=True)
def play_turn(state: AmazonsState, action: int) -> None:
    """Play a whole legal turn, in place."""
    squares = state.board.size
    move_amazon(state, action // (squares * squares), action // squares % squares)
    shoot(state, action % squares)


@njit(cache=True)
def copy_into(state: AmazonsState, other: AmazonsState) -> None:
    """Make ``other``, a state of the same board size, equal to ``state``."""
    for i in range(state.board.size):  # entry by entry: numba makes an array for each slice that it copies
        other.board.flat[i] = state.board.flat[i]
    for i in range(state.lines.size):
        other.lines.flat[i] = state.lines.flat[i]
    for i in range(state.amazons.size):
        other.amazons.flat[i] = state.amazons.flat[i]
    for i in range(state.turn.size):
        other.turn[i] = state.turn[i]
    other.hash[0] = state.hash[0]
