"""The Game of the Amazons.

A turn moves one amazon like a chess queen, then shoots an arrow along a queen line from her new square. The arrow may
cross or hit the square that she left. Arrows stay on the board. White moves first. The side that cannot move loses.

Coordinates: square s = (rank - 1) * W + (file - 1); ``board[rank - 1, file - 1]``, so row 0 is rank 1 and
``board.ravel()[s]`` is square s. An action is a whole turn, ``(from * N + to) * N + arrow`` with N = H * W.

FEN, as chess programs write it for this game: the ranks from the top down with ``Q`` for a white amazon, ``q`` for a
black one, ``*`` for an arrow and a number for a run of empty squares; then ``w`` or ``b`` for the side to move. What
chess programs add is skipped: a hand in brackets after the ranks, and up to four fields that are ``-`` or a number
after the side to move.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.rules import copy_state, divide, is_legal, legal_actions, perft, play, to_play, winner
from pipeline_src.games.stones import MoveTextError, bad, read_ranks, write_ranks
from pipeline_src.jit import njit

ARROW, EMPTY, BLACK, WHITE = 0, 1, 2, 3
FIRST, SECOND = 0, 1  # The sides, as `to_play` numbers them: White moves first
COLOUR = (WHITE, BLACK)  # Board code of each side's amazons
MIN_SIDE, MAX_SIDE = 3, 10
"""Smallest and largest side of a board. The line tables, and two 64-bit words for a board, hold ten at most."""
MOST_AMAZONS = 4  # Largest number of amazons of a side in a position text. The searches have room for no more.
FILES = "abcdefghij"
LETTERS = "*.qQ"  # Letters of the board codes in position texts; a run of empty squares is a number there

STANDARD = "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w"
CROSS = "3Q2Q3/10/10/q8q/10/10/q8q/10/10/3Q2Q3 w"


def _keys() -> npt.NDArray[np.uint64]:
    keys = np.random.default_rng(0).integers(0, 1 << 64, (6, MAX_SIDE * MAX_SIDE), dtype=np.uint64)
    keys[EMPTY] = 0
    return keys


SIDE_KEY, MOVED_KEY = 4, 5
KEYS = _keys()
"""uint64 [6, 100]: random numbers of the Zobrist hash (Zobrist, 1970). A row for each board code, by square (0 for
empty squares); ``[SIDE_KEY, 0]`` for Black to move; and a row for the amazon that is about to shoot, by square."""
START = {
    (10, "standard"): STANDARD,
    (10, "cross"): CROSS,
    (8, "standard"): "2q2q2/8/q6q/8/8/Q6Q/8/2Q2Q2 w",
    (6, "standard"): "1q2q1/q4q/6/6/Q4Q/1Q2Q1 w",
}
"""Start positions by (size, variant). The site's 'Size 10' is ``standard``; 8 and 6 are the usual small boards."""


class AmazonsState(NamedTuple):
    """A position between two turns or within one: arrays only, so that numba kernels accept it. Treat it as a value.

    Kernels change it in place; Python functions copy it first.
    """

    board: npt.NDArray[np.int8]  # [H, W]: ARROW, EMPTY, BLACK or WHITE
    lines: npt.NDArray[np.uint16]
    """[4, H + W - 1]: occupied squares of each row, column, diagonal and anti-diagonal; bit k is place k of 10.

    Places off the board count as occupied."""
    amazons: npt.NDArray[np.int16]
    """[2, Q]: squares of White's (row 0) and Black's amazons, ascending, with -1 in front where a side has fewer."""
    turn: npt.NDArray[np.int16]
    """[3]: side to move (0 or 1), square of the amazon that has moved and not shot yet (-1: none), ply."""
    hash: npt.NDArray[np.uint64]
    """[1]: Zobrist hash of the board, the side to move and the amazon that is about to shoot; the ply is left out."""


def initial_state(size: int = 10, variant: str = "standard") -> AmazonsState:
    """Return the start position.

    Raises:
        ZugwerkError: the game has no such size or variant; the message lists the valid ones.
    """
    if (size, variant) not in START:
        known = ", ".join(f"{n} {name}" for n, name in START)
        raise ZugwerkError(f"no Amazons start of size {size}, variant '{variant}'; there are: {known}")
    return from_fen(START[size, variant])


def from_board(board: npt.NDArray[np.int8], side: int, ply: int = 0) -> AmazonsState:
    """Return the state for a board, int8 [H, W] (row 0 is rank 1), with ``side`` to move. The board is copied."""
    height, width = board.shape
    board = np.array(board, dtype=np.int8, order="C")
    squares = [np.flatnonzero(board.ravel() == colour) for colour in COLOUR]
    amazons = np.full((2, max(1, *map(len, squares))), -1, dtype=np.int16)
    for row, found in zip(amazons, squares, strict=True):
        row[len(row) - len(found) :] = found
    edges, place, bit = _lines(height, width)
    occupied = board.ravel() != EMPTY
    lines = edges.copy()
    np.bitwise_or.at(lines.ravel(), place[:, occupied], bit[:, occupied])
    key = np.bitwise_xor.reduce(KEYS[board.ravel(), np.arange(board.size)]) ^ (KEYS[SIDE_KEY, 0] * np.uint64(side))
    return AmazonsState(board, lines, amazons, np.array([side, -1, ply], dtype=np.int16), np.array([key], np.uint64))


@lru_cache(maxsize=16)
def _lines(height: int, width: int) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int64], npt.NDArray[np.uint16]]:
    """Return the lines of an empty board, and for each square the flat indices of its lines and its bits, [4, N]."""
    rows, columns = np.divmod(np.arange(height * width), width)
    number = np.stack([rows, columns, rows - columns + width - 1, rows + columns])
    place = number + np.arange(4)[:, None] * (height + width - 1)
    bit = (1 << np.stack([columns, rows, columns, columns])).astype(np.uint16)
    edges = np.full((4, height + width - 1), (1 << MAX_SIDE) - 1, dtype=np.uint16)
    np.bitwise_and.at(edges.ravel(), place, ~bit)
    return edges, place, bit


def from_fen(fen: str) -> AmazonsState:
    """Read a position text; the module's docstring describes the format.

    >>> from_fen("3Q/4/4/q3 w").board.shape
    (4, 4)

    Raises:
        FenError: wrong number of fields, an unknown letter, ranks of unequal length, a size outside 3..10, more than
            `MOST_AMAZONS` of a side.
    """
    fields = fen.split()
    if not 2 <= len(fields) <= 6 or fields[1] not in ("w", "b"):
        raise bad(fen, "expected ranks, a space, and 'w' or 'b'")
    if odd := [field for field in fields[2:] if not _COUNTER.fullmatch(field)]:
        raise bad(fen, f"{odd[0]!r} after the side to move is neither '-' nor a number")
    board = read_ranks(_HAND.sub("", fields[0]), fen, MIN_SIDE, MAX_SIDE, "squares", LETTERS)[::-1]
    if (most := max(np.count_nonzero(board == code) for code in (WHITE, BLACK))) > MOST_AMAZONS:
        raise bad(fen, f"{most} amazons of one side; at most {MOST_AMAZONS} can be played")
    return from_board(board, FIRST if fields[1] == "w" else SECOND)


_COUNTER = re.compile(r"-|\d{1,9}", re.ASCII)
_HAND = re.compile(r"\[[A-Za-z-]*\]$")  # Pieces in hand, such as the arrows that Fairy-Stockfish lists there


def to_fen(state: AmazonsState) -> str:
    """Return the position text of a state between turns."""
    return write_ranks(state.board[::-1], LETTERS) + (" w" if to_play(state) == FIRST else " b")


# Text of turns.
#
# Turns are written as ``d9-e10/e5``, and read as ``d9-e10/e5``, ``d9e10e5`` or ``d9-e10(e5)``, in upper or lower case.


_TURN = re.compile(
    r"([a-j])(10|[1-9])-?([a-j])(10|[1-9])(?:/?([a-j])(10|[1-9])|\(([a-j])(10|[1-9])\))", re.IGNORECASE | re.ASCII
)


def parse_square(text: str, height: int = 10, width: int = 10) -> int:
    """Return the number of a square from its name, such as ``d9``.

    Raises:
        MoveTextError: not a square, or not on a board of this size.
    """
    name, rank = text[:1].lower(), text[1:]
    if (
        name not in FILES[:width]
        or not name
        or not rank.isascii()
        or not rank.isdigit()
        or rank[0] == "0"
        or int(rank) > height
    ):
        raise MoveTextError(f"no such square on a {height}x{width} board: {text!r}")
    return (int(rank) - 1) * width + FILES.index(name)


def format_square(square: int, width: int = 10) -> str:
    """Return the name of a square, e.g. ``d9``."""
    return f"{FILES[square % width]}{square // width + 1}"


def parse_move(text: str, height: int = 10, width: int = 10) -> int:
    """Return the action id of a turn's text. The form is checked, the legality is not.

    >>> parse_move("d1-d7/g7", 10, 10)
    36366

    Raises:
        MoveTextError: not a turn, or a square is not on the board.
    """
    match = _TURN.fullmatch(text.strip())
    if not match:
        raise MoveTextError(f"not a turn: {text!r}; expected e.g. d9-e10/e5")
    parts = [part for part in match.groups() if part is not None]
    start, to, arrow = (parse_square(parts[i] + parts[i + 1], height, width) for i in (0, 2, 4))
    squares = height * width
    return (start * squares + to) * squares + arrow


def format_move(action: int, height: int = 10, width: int = 10) -> str:
    """Return the text of an action id, e.g. ``d9-e10/e5``."""
    squares = height * width
    start, to, arrow = action // (squares * squares), action // squares % squares, action % squares
    return f"{format_square(start, width)}-{format_square(to, width)}/{format_square(arrow, width)}"


# Kernels that read and change an `AmazonsState`.
#
# A table gives the squares reachable along a line: ``STEPS[place, occupied]`` holds the number of free squares below
# (low four bits) and above (high four bits) ``place`` on a line with the occupied squares ``occupied``. The bit of
# ``place`` itself is ignored, so an amazon stays on the board while her moves are looked up.


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


NAME = "amazons"
VERSION = 1  # Version of the rules and of the action numbering. Models store it.
SIZES = tuple(dict.fromkeys(size for size, _ in START))
VARIANTS = tuple(dict.fromkeys(variant for _, variant in START))

__all__ = ["NAME", "SIZES", "VARIANTS", "VERSION", "format_move", "from_fen", "initial_state", "parse_move", "to_fen"]
__all__ += ["divide", "is_legal", "legal_actions", "perft", "play", "to_play", "winner"]  # the same for all games


# Parts of turns, and games.


def legal_moves(state: AmazonsState) -> npt.NDArray[np.int32]:
    """Return all legal ``from * N + to``, int32 [A]: the first halves of the legal turns."""
    out, _ = buffers(state)
    return out[: write_moves(state, out)]


def move(state: AmazonsState, start: int, to: int) -> AmazonsState:
    """Return the state after the first half of a turn; its ``turn[1]`` is ``to``."""
    after = copy_state(state)
    move_amazon(after, start, to)
    return after


@njit(cache=True)
def play_turns(state: AmazonsState, actions: npt.NDArray[np.int64]) -> int:
    """Play actions in place up to the first illegal one; return the number of actions played."""
    squares = state.board.size
    for ply in range(actions.size):
        action = actions[ply]
        if not legal(state, action // (squares * squares), action // squares % squares, action % squares):
            return ply
        play_turn(state, action)
    return actions.size


def replay(state: AmazonsState, actions: Sequence[int]) -> tuple[AmazonsState, int]:
    """Return the state after the legal turns at the head of ``actions``, and the number of those turns.

    >>> from pipeline_src.games.amazons import initial_state, parse_move
    >>> replay(initial_state(), [parse_move("d1-d7/g7", 10, 10), 0])[1]
    1

    The number is ``len(actions)`` if all turns are legal, and otherwise the index of the first illegal one. ``state``
    is not changed. Actions may be any int64.
    """
    after = copy_state(state)
    played = play_turns(after, np.asarray(actions, dtype=np.int64))
    return after, int(played)


# The Amazons for searches: an action is a whole turn; a step is ``from * N + to`` or the arrow's square.


Ids = npt.NDArray[np.int32]


@njit(cache=True)
def _outcome(state: AmazonsState) -> tuple[bool, float]:
    if state.turn[1] >= 0 or can_move(state):
        return False, 0.0
    return True, -1.0


@njit(cache=True)
def _max_steps(state: AmazonsState) -> int:
    return int(state.amazons.shape[1] * MAX_REACH + SPARE)


@njit(cache=True)
def _max_actions(state: AmazonsState) -> int:
    return int(state.amazons.shape[1] * MAX_REACH * MAX_REACH + SPARE)


@njit(cache=True, allocates=True)
def _write_actions(state: AmazonsState, out: Ids) -> int:
    return int(write_turns(state, np.empty(state.amazons.shape[1] * MAX_REACH + SPARE, np.int32), out))


@njit(cache=True)
def _is_legal(state: AmazonsState, action: int) -> bool:
    squares = state.board.size
    return bool(legal(state, action // (squares * squares), action // squares % squares, action % squares))


@njit(cache=True)
def _take_back(state: AmazonsState, action: int) -> None:
    squares = state.board.size
    take_back(state, action // (squares * squares), action // squares % squares, action % squares)


@njit(cache=True)
def _write_steps(state: AmazonsState, out: Ids) -> int:
    if state.turn[1] >= 0:
        return int(reach(state.lines, state.board.shape[1], state.turn[1], out, 0, 0))
    return int(write_moves(state, out))


@njit(cache=True)
def _play_step(state: AmazonsState, step: int) -> None:
    if state.turn[1] >= 0:
        shoot(state, step)
    else:
        move_amazon(state, step // state.board.size, step % state.board.size)


kernels.implement_game(
    AmazonsState,
    copy_into=copy_into,
    outcome=_outcome,
    max_actions=_max_actions,
    max_steps=_max_steps,
    write_actions=_write_actions,
    count_actions=count_turns,
    is_legal=_is_legal,
    play=play_turn,
    take_back=_take_back,
    write_steps=_write_steps,
    play_step=_play_step,
)
