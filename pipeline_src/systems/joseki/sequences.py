"""Convert games to corner sequences: the local moves of each corner, each with the pattern before and after it.

A move is *local* to each corner that contains its point among its 10x10 points. A move on a middle line belongs to both
corners next to it, the centre to all four, since its stone is part of their patterns. Each corner has a clock of its
own, which counts its local moves and stops after `LONGEST`. Where one colour plays two local moves in a row, the other
played elsewhere: a pass (tenuki), recorded in the pattern before the second move and not counted by the clock.

Patterns are read off the real board, captures made: a capture from outside changes a pattern without a move in it, and
the next move is then of the pattern as it stands. Handicap stones are part of the pattern that a corner begins with.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go.board import SIDE as TO_PLAY
from pipeline_src.games.go.board import STANDARD_KOMI, GoState, format_variant, parse_variant
from pipeline_src.games.go.moves import copy_into, legal, play
from pipeline_src.games.go.setup import initial_state
from pipeline_src.jit import njit
from pipeline_src.records.record import GameRecord
from pipeline_src.systems.joseki.corners import BOARD, CORNERS, PASS, corner_point, read_window

LONGEST = 20
"""Local moves of a corner sequence."""
MAX_STEPS = CORNERS * 2 * LONGEST
"""Largest number of steps of one game: each local move may follow a pass."""
OPENING = 60
"""Actions that name a game: few enough that copies cut short still have them all, and more than different games share
(no two of 507 recorded games do)."""
CHUNK = 256
"""Games walked at a time, which bounds the memory."""


class Steps(NamedTuple):
    """Local moves and passes of games, E of them, by game, then ply."""

    game: npt.NDArray[np.int32]
    """[E]: index of the game among those given."""
    ply: npt.NDArray[np.int16]
    """[E]: of the whole game, from 0; a pass has the ply of the local move after it."""
    corner: npt.NDArray[np.int8]
    """[E]: 0 to 3."""
    number: npt.NDArray[np.int8]
    """[E]: of the local move in its corner, from 1; a pass has that of the move after it."""
    point: npt.NDArray[np.int8]
    """[E]: in the corner's frame, 0 to 99, or PASS."""
    colour: npt.NDArray[np.int8]
    """[E]: BLACK or WHITE."""
    before: npt.NDArray[np.int8]
    """[E, 10, 10]: window before the move."""
    after: npt.NDArray[np.int8]
    """[E, 10, 10]: window after it, captured stones gone."""


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
