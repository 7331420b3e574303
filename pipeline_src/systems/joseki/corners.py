"""The four 10x10 corners of a 19x19 board, and the frame that each is seen in.

A point of a corner is (r, c), its distances to the corner's two borders, the first line being 1: r to the top or bottom
one, c to the left or right one. A *window* is the corner's int8 [10, 10], ``window[r - 1, c - 1]``: 0 empty, 1 black,
2 white. Neighbouring corners share the tenth line, so its stones are part of both.

Corners are numbered: 0 top left, 1 top right, 2 bottom left, 3 bottom right, board row 0 being the top.

As text a pattern is ``X 3,5 4,4 7,3 O 3,6 4,6 3,9``: points (r, c) of black stones, then of white ones.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go import SIDE as TO_PLAY
from pipeline_src.games.go import STANDARD_KOMI, GoState, copy_into, format_variant, initial_state, legal, parse_variant
from pipeline_src.games.kernels import play
from pipeline_src.jit import njit
from pipeline_src.records.record import GameRecord

BOARD = 19  # Side of the board that joseki are of; also the paper's base
SIDE = 10  # Lines of a corner, the middle one included
POINTS = SIDE * SIDE
PASS = POINTS  # Point of a move that was not played in the corner, a tenuki
CORNERS = 4
CORNER_NAMES = ("top-left", "top-right", "bottom-left", "bottom-right")
EMPTY, BLACK, WHITE = 0, 1, 2

Window = npt.NDArray[np.int8]


@njit(cache=True)
def corner_point(row: int, column: int, corner: int) -> int:
    """Point (r - 1) * 10 + c - 1 of a board's square in a corner's frame, -1 where it lies outside the corner."""
    r = BOARD - 1 - row if corner & 2 else row
    c = BOARD - 1 - column if corner & 1 else column
    return r * SIDE + c if r < SIDE and c < SIDE else -1


@njit(cache=True)
def square_of(point: int, corner: int) -> int:
    """Square row * 19 + column of the board where a corner's point lies."""
    r, c = point // SIDE, point % SIDE
    return (BOARD - 1 - r if corner & 2 else r) * BOARD + (BOARD - 1 - c if corner & 1 else c)


@njit(cache=True)
def read_window(board: npt.NDArray[np.int8], corner: int, window: Window) -> None:
    """Write a corner of ``board`` int8 [19, 19] to ``window``."""
    for r in range(SIDE):
        row = BOARD - 1 - r if corner & 2 else r
        for c in range(SIDE):
            window[r, c] = board[row, BOARD - 1 - c if corner & 1 else c]


def corner_window(board: npt.NDArray[np.int8], corner: int) -> Window:
    """Corner 0 to 3 of a board int8 [19, 19] as a window of its own.

    Raises:
        ZugwerkError: a board of another size, or no such corner.
    """
    if board.shape != (BOARD, BOARD):
        raise ZugwerkError(f"joseki are of 19x19 boards, not of {board.shape[0]}x{board.shape[1]}")
    if not 0 <= corner < CORNERS:
        raise ZugwerkError(f"no corner {corner}; there are 0 to 3: {', '.join(CORNER_NAMES)}")
    window = np.empty((SIDE, SIDE), np.int8)
    read_window(np.ascontiguousarray(board, np.int8), corner, window)
    return window


def window_of(black: list[tuple[int, int]], white: list[tuple[int, int]]) -> Window:
    """Window of stones given as (r, c) from 1.

    Raises:
        ZugwerkError: a point outside the corner, or given twice.
    """
    window = np.zeros((SIDE, SIDE), np.int8)
    for colour, stones in ((BLACK, black), (WHITE, white)):
        for r, c in stones:
            if not (1 <= r <= SIDE and 1 <= c <= SIDE):
                raise ZugwerkError(f"point {r},{c} is outside the corner; lines go from 1 to {SIDE}")
            if window[r - 1, c - 1]:
                raise ZugwerkError(f"point {r},{c} has two stones")
            window[r - 1, c - 1] = colour
    return window


COLOURS = {"X": BLACK, "O": WHITE}


def parse_pattern(text: str) -> Window:
    """Return the window, int8 [10, 10], for a pattern's text: X black, O white, in either case, one of them optional.

    >>> int(parse_pattern("X 3,5 O 3,6")[2, 4])
    1

    Raises:
        ZugwerkError: a word is not a colour or a point, or a point is outside the corner or given twice; the message
            names it.
    """
    stones: dict[int, list[tuple[int, int]]] = {BLACK: [], WHITE: []}
    colour = 0
    for word in text.split():
        if word.upper() in COLOURS:
            colour = COLOURS[word.upper()]
            continue
        match = re.fullmatch(r"([0-9]{1,3}),([0-9]{1,3})", word, re.ASCII)
        if not match:
            raise ZugwerkError(f"bad pattern: {word[:40]!a} is neither X, O nor a point r,c such as 3,4")
        if not colour:
            raise ZugwerkError(f"bad pattern: X or O has to come before {word}")
        stones[colour].append((int(match[1]), int(match[2])))
    return window_of(stones[BLACK], stones[WHITE])


def format_pattern(window: Window) -> str:
    """Return the text of a window's stones."""
    words = []
    for name, colour in COLOURS.items():
        points = [f"{r + 1},{c + 1}" for r in range(SIDE) for c in range(SIDE) if window[r, c] == colour]
        words += [name, *points] if points else []
    return " ".join(words)


# Convert games to corner sequences: the local moves of each corner, each with the pattern before and after it.
#
# A move is *local* to each corner that contains its point among its 10x10 points. A move on a middle line belongs to
# both corners next to it, the centre to all four, since its stone is part of their patterns. Each corner has a clock of
# its own, which counts its local moves and stops after `LONGEST`. Where one colour plays two local moves in a row, the
# other played elsewhere: a pass (tenuki), recorded in the pattern before the second move and not counted by the clock.
#
# Patterns are read off the real board, captures made: a capture from outside changes a pattern without a move in it,
# and the next move is then of the pattern as it stands. Handicap stones are part of the pattern that a corner begins
# with.


LONGEST = 20  # Local moves of a corner sequence
MAX_STEPS = CORNERS * 2 * LONGEST  # Largest number of steps of one game: each local move may follow a pass
OPENING = 60
"""Actions that name a game: few enough that copies cut short still have them all, and more than different games share
(no two of 507 recorded games do)."""
CHUNK = 256  # Games walked at a time, which bounds the memory


class Steps(NamedTuple):
    """Local moves and passes of games, E of them, by game, then ply."""

    game: npt.NDArray[np.int32]  # [E]: index of the game among those given
    ply: npt.NDArray[np.int16]  # [E]: of the whole game, from 0; a pass has the ply of the local move after it
    corner: npt.NDArray[np.int8]  # [E]: 0 to 3
    number: npt.NDArray[np.int8]  # [E]: of the local move in its corner, from 1; a pass has that of the move after it
    point: npt.NDArray[np.int8]  # [E]: in the corner's frame, 0 to 99, or PASS
    colour: npt.NDArray[np.int8]  # [E]: BLACK or WHITE
    before: npt.NDArray[np.int8]  # [E, 10, 10]: window before the move
    after: npt.NDArray[np.int8]  # [E, 10, 10]: window after it, captured stones gone


def empty_steps(count: int) -> Steps:
    """Return uninitialised steps."""
    small = [np.empty(count, np.int8) for _ in range(4)]
    windows = [np.empty((count, 10, 10), np.int8) for _ in range(2)]
    return Steps(np.empty(count, np.int32), np.empty(count, np.int16), *small, *windows)


def select(steps: Steps, which: slice | npt.NDArray[np.int64]) -> Steps:
    """Some of the steps."""
    return Steps._make(column[which] for column in steps)


@njit(cache=True, allocates=True)
def walk_game(
    start: GoState, state: GoState, actions: npt.NDArray[np.int32], longest: int, game: int, out: Steps, at: int
) -> int:
    """Write a game's steps from entry ``at`` on, at most `MAX_STEPS` of them.

    Args:
        start: the position that the game begins with.
        state: room, a state of the same size.
        actions: int32 [P].
        longest: local moves of a corner after which its clock stops.
        game: what to write as their game.
        out: room.
        at: first free entry.

    Returns:
        The first free entry afterwards; where an action is not legal, -1 - its ply.
    """
    copy_into(start, state)
    numbers = np.zeros(CORNERS, np.int64)
    last = np.zeros(CORNERS, np.int64)
    points = np.empty(CORNERS, np.int64)
    for ply in range(actions.size):
        action = actions[ply]
        if not legal(state, action):
            return -1 - ply
        colour = state.turn[TO_PLAY] + 1
        begin = at
        for corner in range(CORNERS):
            points[corner] = -1
            if action < BOARD * BOARD and numbers[corner] < longest:
                points[corner] = corner_point(action // BOARD, action % BOARD, corner)
            if points[corner] < 0:
                continue
            numbers[corner] += 1
            for tenuki in range(1 if last[corner] == colour else 0, -1, -1):
                out.game[at], out.ply[at], out.corner[at] = game, ply, corner
                out.number[at] = numbers[corner]
                out.point[at] = PASS if tenuki else points[corner]
                out.colour[at] = 3 - colour if tenuki else colour
                read_window(state.board, corner, out.before[at])
                if tenuki:
                    out.after[at] = out.before[at]
                at += 1
            last[corner] = colour
        play(state, action)
        for entry in range(begin, at):
            if out.point[entry] != PASS:
                read_window(state.board, out.corner[entry], out.after[entry])
        if numbers.min() >= longest:
            break
    return at


class Walked(NamedTuple):
    """Result of a walk over some games."""

    steps: Steps
    illegal: list[tuple[int, int]]
    """(index of the game, ply) of each illegal action met; nothing of such a game is among the steps."""


def walk(records: Sequence[GameRecord], longest: int = LONGEST) -> Walked:
    """Steps of games.

    Raises:
        ZugwerkError: a record of another game or size, which cannot be among joseki.
    """
    room, at = empty_steps(len(records) * CORNERS * 2 * longest), 0
    illegal: list[tuple[int, int]] = []
    state = initial_state(BOARD)
    for index, record in enumerate(records):
        if record.game != "go" or (record.height, record.width) != (BOARD, BOARD):
            what = f"{record.game} on {record.height}x{record.width}"
            raise ZugwerkError(f"game {record.gid} is {what}; joseki are of go on {BOARD}x{BOARD}")
        actions = np.array(record.actions, np.int32)
        end = walk_game(_start(record.variant), state, actions, longest, index, room, at)
        if end < 0:
            illegal.append((index, -1 - end))
        else:
            at = end
    return Walked(select(room, slice(at)), illegal)


@lru_cache(maxsize=64)
def _start(variant: str) -> GoState:
    return initial_state(BOARD, variant)


def each_steps(records: Iterable[GameRecord], longest: int = LONGEST) -> Iterator[Steps]:
    """Steps of some games at a time, as `walk` has them of all."""
    first = 0
    for chunk in chunks(records):
        steps = walk(chunk, longest).steps
        yield steps._replace(game=steps.game + np.int32(first))
        first += len(chunk)


def chunks(records: Iterable[GameRecord], size: int = CHUNK) -> Iterator[list[GameRecord]]:
    """The records in lists of ``size``, the last one perhaps shorter."""
    chunk: list[GameRecord] = []
    for record in records:
        chunk.append(record)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def fingerprint(record: GameRecord) -> int:
    """64 bits that name a game by its start and first `OPENING` actions, wherever it came from and whatever its result.

    Copies of a game that end otherwise have the same ones: a site may leave out the closing passes or the last moves.
    """
    end = len(record.actions)
    while end and record.actions[end - 1] == BOARD * BOARD:
        end -= 1
    return _named(record, record.actions[: min(end, OPENING)])


def exact_fingerprint(record: GameRecord) -> int:
    """64 bits of a game's start and all its actions, whatever its result and komi."""
    return _named(record, record.actions)


def _named(record: GameRecord, actions: Sequence[int]) -> int:
    start = format_variant(STANDARD_KOMI, parse_variant(record.variant)[1])
    digest = hashlib.blake2b(f"{start} {record.height}x{record.width} ".encode(), digest_size=8)
    digest.update(np.array(actions, "<i4").tobytes())
    return int.from_bytes(digest.digest(), "little")
