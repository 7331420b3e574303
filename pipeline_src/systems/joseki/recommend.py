"""Candidate moves on the whole board: moves played in each corner's pattern, by frequency, then by win rate.

The position decides, not its history: different orders of moves lead to one pattern.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.go import FILES, GoState, format_move, is_legal
from pipeline_src.games.go import SIDE as TO_PLAY
from pipeline_src.jit import njit
from pipeline_src.report.board_picture import BoardPicture, star_points
from pipeline_src.systems.joseki.library import Ints, Library, group_begins, key_slot
from pipeline_src.systems.joseki.patterns import (
    CORNER_NAMES,
    CORNERS,
    EMPTY,
    PASS,
    POINTS,
    SIDE,
    WORDS,
    Window,
    canonical,
    corner_window,
    move_images,
    pattern_code,
    pattern_codes,
    square_of,
    window_of_key,
    windows_of_keys,
)

# Look up the moves played in a pattern: by its exact key, or by the published code.
#
# The key needs no search. The paper's look-up: a pattern's code names its state, and the next moves are searched for.
# Two codes do not determine the move between them. Each transition has a hint, the layer of the next move: 0 is the
# border of the mask, the smallest rectangle around all stones; 1 the border of the mask grown by one step, and so on
# outwards; -1 that of the mask shrunk by one, inwards. Each empty point of that layer is tried, until the code of the
# pattern with a stone there is that of the next state. Patterns that clash share a state here (`SharedCodes`), and a
# move that captures is not found: the code after it is of fewer stones.

Points = npt.NDArray[np.int16]


class Found(NamedTuple):
    """A pattern's state and n moves of one colour there."""

    state: int  # -1 where the library does not have the pattern
    forms: int  # Set of forms that are its key
    transitions: Ints  # [n]: the library's, by canonical move
    points: Points  # [n, 2]: where each is in the window; entries differ in patterns that are symmetric themselves


@njit(cache=True, allocates=True)
def _look_up(
    slots: Ints, keys: npt.NDArray[np.uint64], starts: Ints, move: Points, window: Window, colour: int
) -> tuple[int, int, Ints, Points]:
    key = np.empty(WORDS, np.uint64)
    forms = canonical(window, key, np.empty((2, 2, 2), np.uint64))
    state = int(slots[key_slot(slots, keys, key)])
    first, end = (starts[state], starts[state + 1]) if state >= 0 else (0, 0)
    transitions, points = np.empty(end - first, np.int32), np.empty((end - first, 2), np.int16)
    count = 0
    for transition in range(first, end):
        images = move_images(move[transition], colour, forms, points[count])
        if images:
            if images == 1:
                points[count, 1] = points[count, 0]
            transitions[count] = transition
            count += 1
    return state, forms, transitions[:count], points[:count]


def look_up(library: Library, window: Window, colour: int) -> Found:
    """Look up the pattern of a window, int8 [10, 10], and the moves that BLACK or WHITE played there."""
    return Found(*_look_up(library.slots, library.keys, library.starts, library.move, window, colour))


NO_MASK = SIDE  # Layer of every point where there is no stone, and so no mask: all are tried
NOT_FOUND = -1
Codes = npt.NDArray[np.uint64]


class CodeIndex(NamedTuple):
    """A library by code: U codes, V transitions."""

    codes: Codes  # [U], ascending
    starts: Ints  # [U + 1]: transitions of a code
    following: Codes  # [V]: the next state's code; a pass leads back to the same one
    layers: npt.NDArray[np.int8]  # [V]: hint
    counts: Ints  # [V]: how often it was played


@njit(cache=True)
def point_layer(window: Window, point: int) -> int:
    """Layer of a point, NO_MASK in an empty window."""
    top, bottom, left, right = SIDE, -1, SIDE, -1
    for r in range(SIDE):
        for c in range(SIDE):
            if window[r, c]:
                top, bottom, left, right = min(top, r), r, min(left, c), max(right, c)
    if bottom < 0:
        return NO_MASK
    r, c = point // SIDE, point % SIDE
    return max(top - r, r - bottom, left - c, c - right)


@njit(cache=True, allocates=True)
def _codes_and_layers(
    keys: Codes, starts: Ints, move: npt.NDArray[np.int16], codes: Codes, layers: npt.NDArray[np.int8]
) -> None:
    window = np.empty((SIDE, SIDE), np.int8)
    for state in range(len(keys)):
        window_of_key(keys[state], window)
        codes[state] = pattern_code(window)
        for transition in range(starts[state], starts[state + 1]):
            point = move[transition] % (POINTS + 1)
            layers[transition] = 0 if point == PASS else point_layer(window, point)


def code_index(library: Library) -> CodeIndex:
    """The library as the paper's method has it."""
    codes, layers = np.empty(library.states, np.uint64), np.empty(library.transitions, np.int8)
    _codes_and_layers(library.keys, library.starts, library.move, codes, layers)
    of, to = codes[library.origins()], codes[library.to]
    order = np.lexsort((layers, to, of))
    of, to, layers, counts = of[order], to[order], layers[order], library.played[order]
    begins = group_begins(of, to, layers)
    summed = np.add.reduceat(counts, begins) if len(of) else counts
    names = np.unique(codes)
    starts = np.append(np.searchsorted(of[begins], names), len(begins)).astype(np.int32)
    return CodeIndex(names, starts, to[begins], layers[begins], summed.astype(np.int32))


@njit(cache=True, allocates=True)
def look_up_paper(index: CodeIndex, window: Window, colour: int) -> Points:
    """Points of the transitions of the window's code for a player of ``colour``; NOT_FOUND where none fits."""
    code = pattern_code(window)
    at = np.searchsorted(index.codes, code)
    if at == index.codes.size or index.codes[at] != code:
        return np.empty(0, np.int16)
    first, end = index.starts[at], index.starts[at + 1]
    points = np.full(end - first, NOT_FOUND, np.int16)
    for transition in range(first, end):
        if index.following[transition] == code:
            points[transition - first] = PASS
            continue
        for point in range(POINTS):
            r, c = point // SIDE, point % SIDE
            if window[r, c] != EMPTY or point_layer(window, point) != index.layers[transition]:
                continue
            window[r, c] = colour
            after = pattern_code(window)
            window[r, c] = EMPTY
            if after == index.following[transition]:
                points[transition - first] = point
                break
    return points


def state_window(library: Library, state: int) -> Window:
    """The pattern of a state, int8 [10, 10], in its canonical form."""
    window: Window = windows_of_keys(library.keys[state : state + 1])[0]
    return window


class SharedCodes:
    """States by pattern code. Since a state is a pattern in all its forms, states that share a code are clashes."""

    def __init__(self, library: Library) -> None:
        """Compute the code of every state."""
        self._seen = library.seen
        codes = pattern_codes(windows_of_keys(library.keys))
        self._order = np.argsort(codes, kind="stable")
        self._sorted = codes[self._order]
        _, self._first, self._count = np.unique(self._sorted, return_index=True, return_counts=True)

    @property
    def clashing(self) -> int:
        """How many patterns have a code that is also another one's."""
        return int(self._count[self._count > 1].sum())

    def sharing(self, code: int) -> list[int]:
        """States with a code, the most often seen first."""
        first, end = (int(np.searchsorted(self._sorted, np.uint64(code), side)) for side in ("left", "right"))
        return self._by_seen(first, end)

    def groups(self, count: int) -> list[list[int]]:
        """The ``count`` clashes whose second pattern was seen most often, each as `sharing` has it."""
        clashes = [
            self._by_seen(first, first + size)
            for first, size in zip(self._first.tolist(), self._count.tolist(), strict=True)
            if size > 1
        ]
        return sorted(clashes, key=lambda states: (-int(self._seen[states[1]]), states))[:count]

    def _by_seen(self, first: int, end: int) -> list[int]:
        return sorted(self._order[first:end].tolist(), key=lambda state: (-int(self._seen[state]), state))


@dataclass(frozen=True)
class Recommendation:
    """A move that games had in this corner's pattern."""

    corner: int
    actions: tuple[int, ...]  # Legal points, two where the pattern is its own mirror image; none: played elsewhere
    played: int  # How often it was played
    share: float  # Share of all moves of this side in the pattern, including moves elsewhere
    sure_share: float  # Lower end of the share's 95 % interval
    wins: int
    losses: int  # Results of who played it, where they are known
    samples: tuple[tuple[int, int], ...]  # (gid, ply) of games that have it

    @property
    def win_rate(self) -> float | None:
        """None where no result is known."""
        decided = self.wins + self.losses
        return self.wins / decided if decided else None


class Ranked(NamedTuple):
    """A move of a pattern, all its transitions together: its captures may have differed."""

    move: int  # In the canonical frame
    points: tuple[int, ...]  # In the window; two where the pattern is its own mirror image; PASS: played elsewhere
    transitions: list[int]
    played: int
    wins: int
    losses: int

    @property
    def win_rate(self) -> float:
        """0 where no result is known."""
        return self.wins / max(self.wins + self.losses, 1)


def rank_moves(library: Library, window: Window, colour: int) -> list[Ranked]:
    """Return the moves of BLACK or WHITE in a window's pattern, ordered by frequency, then by win rate."""
    found = look_up(library, window, colour)
    moves: dict[int, tuple[list[int], list[int]]] = {}
    of = library.move[found.transitions].tolist()
    for move, transition, points in zip(of, found.transitions.tolist(), found.points.tolist(), strict=True):
        moves.setdefault(move, (points, []))[1].append(transition)
    ranked = []
    for move, (points, same) in moves.items():
        counts = (sum(array[same].tolist()) for array in (library.played, library.wins, library.losses))
        ranked.append(Ranked(move, tuple(sorted(set(points))), same, *counts))
    return sorted(ranked, key=lambda one: (-one.played, -one.win_rate, one.move))


def recommend_in_corner(library: Library, state: GoState, corner: int) -> list[Recommendation]:
    """Return the moves of the side to move in a corner's pattern, most frequent first; empty for unknown patterns.

    Of a point and its mirror image only the legal ones are left: stones outside the corner decide, or a ko.
    """
    ranked = rank_moves(library, corner_window(state.board, corner), int(state.turn[TO_PLAY]) + 1)
    total = sum(one.played for one in ranked)
    made = []
    for one in ranked:
        elsewhere = one.points == (PASS,)
        places = () if elsewhere else sorted(int(square_of(point, corner)) for point in one.points)
        actions = tuple(action for action in places if is_legal(state, action))
        if actions or elsewhere:
            games, plies = (array[one.transitions].ravel().tolist() for array in (library.samples, library.plies))
            known = tuple((int(library.gids[game]), ply) for game, ply in zip(games, plies, strict=True) if game >= 0)
            shares = one.played / total, _low_end(one.played / total, total)
            made.append(Recommendation(corner, actions, one.played, *shares, one.wins, one.losses, known))
    return made


def _rank(one: Recommendation) -> tuple[float, float, tuple[int, ...]]:
    return -one.sure_share, -(one.win_rate or 0.0), one.actions


def _low_end(share: float, n: int) -> float:
    """Return the lower end of Wilson's interval (1927) for a share of n."""
    z = 1.96
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (share + z * z / (2 * n) - half) / (1 + z * z / n)


def recommend(library: Library, state: GoState, corners: Sequence[int] = range(CORNERS)) -> list[Recommendation]:
    """Moves of all corners, by their share in their own corner; a point on a middle line is named by the better corner.

    Corners with few games and with many meet here, so the share that counts is the one that is sure; in a corner the
    order stays by frequency, then win rate. Of two corners that name a point of the middle line and are equal in both,
    the rows of both stay: whichever were left out, another turn of the board would leave out the other. Playing
    elsewhere comes last.

    Raises:
        ZugwerkError: not a 19x19 board, or no such corner.
    """
    found = [one for corner in corners for one in recommend_in_corner(library, state, corner)]
    best: list[Recommendation] = []
    named: set[int] = set()
    for _, equal in groupby(sorted(found, key=_rank), key=lambda one: _rank(one)[:2]):
        free = [one for one in equal if one.actions and not named.intersection(one.actions)]
        named.update(action for one in free for action in one.actions)
        best += free
    return best + sorted((one for one in found if not one.actions), key=_rank)


def recommendation_rows(found: Iterable[Recommendation], size: int = 19) -> list[dict[str, Any]]:
    """Return a row for each recommendation: rank, corner, move, count, share, win_rate, games (gid:ply)."""
    return [
        {
            "rank": rank,
            "corner": CORNER_NAMES[one.corner],
            "move": " ".join(format_move(action, size, size) for action in one.actions) or "elsewhere",
            "count": one.played,
            "share": round(one.share, 4),
            "win_rate": "" if one.win_rate is None else round(one.win_rate, 4),
            "games": " ".join(f"{gid}:{ply}" for gid, ply in one.samples),
        }
        for rank, one in enumerate(found, 1)
    ]


def board_svg(board: npt.NDArray[np.int8], found: Sequence[Recommendation], last: int = -1, title: str = "") -> str:
    """Return a board int8 [H, W] (0 empty, 1 black, 2 white, row 0 the top) as SVG, with candidates' shares in percent.

    The stone on point ``last`` is marked. The more often a candidate was played, the deeper its blue.
    """
    size = board.shape[0]
    picture = BoardPicture(size, FILES, star_points(size))
    for point in np.flatnonzero(board).tolist():
        picture.piece(point, int(board.flat[point]) - 1)
    if last >= 0 and board.flat[last]:
        picture.ring(last)
    for one in reversed(found):  # the best ones on top
        for action in one.actions:
            picture.candidate(action, 0.45 + 0.5 * one.share)
            picture.text(action, f"{100 * one.share:.0f}", "#fff")
    return picture.svg(title)
