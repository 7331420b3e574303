"""Find a position of Go, or a part of one, in an index of games: in any symmetry, in either colour.

A pattern is int8 [N, N]: EMPTY, BLACK, WHITE, or ANY for a point that does not matter. Its forms are its images by the
board's eight symmetries and the exchange of colours. The points that matter have a smallest rectangle around them. One
that reaches a border on no side of an axis moves along that axis, to wherever it reaches none: a pattern on the side is
found all along every side, one in the middle everywhere, and one in a corner in every corner.
"""

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go import FILES, MAX_SIDE, MIN_SIDE, parse_move
from pipeline_src.records.go_index import ANY, Index, Occurrences, scan

LETTERS = {".": 0, "+": 0, ",": 0, "x": 1, "X": 1, "#": 1, "o": 2, "O": 2, "?": ANY, "*": ANY}
"""Letters of a pattern as text."""
Board = npt.NDArray[np.int8]
_OTHER = np.array([0, 2, 1, ANY], np.int8)


class Continuation(NamedTuple):
    """A move played in the pattern, on one of its points."""

    colour: int  # 0 Black, 1 White, as the pattern has the colours
    points: tuple[int, ...]  # Where, row * N + column; several if symmetries of the pattern take one to the other
    played: int  # Number of occurrences
    black_won: int  # How many of these games the side won that is Black in the pattern
    white_won: int
    after_elsewhere: int  # How many times a move elsewhere, or a pass, came first


class Found(NamedTuple):
    """The result of a search."""

    games: int  # Games that have the pattern
    searched: int  # Games searched: those on boards of this size, each once
    black_won: int  # How many occurrences are in games that the side won that is Black in the pattern
    white_won: int
    ended: int
    """Occurrences without a next move in the pattern: the game ends, or stones of it are captured from outside."""
    continuations: tuple[Continuation, ...]  # The most frequent ones first
    occurrences: Occurrences
    chosen: npt.NDArray[np.int32]  # Index of each occurrence's continuation; -1 without one
    winners: npt.NDArray[np.int8]
    """Winner of each occurrence's game in the pattern's colours: 1 Black, 2 White; 3 drawn, 0 unknown."""


class Forms(NamedTuple):
    """The different forms of a pattern, F of them, and its symmetries."""

    wanted: Board  # [F, N * N]: their contents
    place: npt.NDArray[np.int16]  # [F, N * N]: the pattern's point for each point of the board, -1 outside of the form
    recoloured: npt.NDArray[np.bool_]  # [F]: whether the colours are exchanged
    own: list[tuple[npt.NDArray[np.int16], bool]]  # `place` and `recoloured` of all forms that are the pattern itself


def forms(pattern: Board, fixed: bool = False) -> Forms:
    """Return the different forms of a pattern; with ``fixed`` it moves along no border.

    Raises:
        ZugwerkError: no point matters, or the board is not square.
    """
    size = len(pattern)
    if pattern.shape != (size, size):
        raise ZugwerkError(f"a board of {pattern.shape[0]}x{pattern.shape[1]}; games are searched on square boards")
    if (pattern == ANY).all():
        raise ZugwerkError("no point of the pattern matters: there is nothing to find")
    itself, points = np.ascontiguousarray(pattern).tobytes(), np.arange(size * size, dtype=np.int16).reshape(size, size)
    different: dict[bytes, tuple[npt.NDArray[np.int16], bool]] = {}
    own = []
    for turn in range(8):
        board, names = (np.rot90(one.T if turn >= 4 else one, turn) for one in (pattern, points))
        rows, columns = ((board != ANY).any(axis).nonzero()[0] for axis in (1, 0))
        part = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
        content, inside = board[part], np.where(board[part] == ANY, np.int16(-1), names[part])
        for top in _places(int(rows[0]), len(content), size, fixed):
            for left in _places(int(columns[0]), content.shape[1], size, fixed):
                wanted, place = np.full((size, size), ANY, np.int8), np.full((size, size), -1, np.int16)
                at = (slice(top, top + content.shape[0]), slice(left, left + content.shape[1]))
                place[at] = inside
                for recoloured in (False, True):
                    wanted[at] = _OTHER[content] if recoloured else content
                    key = wanted.tobytes()
                    different.setdefault(key, (place.ravel(), recoloured))
                    if key == itself:
                        own.append((place.ravel(), recoloured))
    return Forms(
        np.array([np.frombuffer(key, np.int8) for key in different]),
        np.array([place for place, _ in different.values()]),
        np.array([recoloured for _, recoloured in different.values()]),
        own,
    )


def _places(first: int, length: int, size: int, fixed: bool) -> range:
    """Where the rectangle may begin along one axis."""
    if fixed or first == 0 or first + length == size:
        return range(first, first + 1)
    return range(1, size - length)


def find(index: Index, pattern: Board, to_play: int = 0, fixed: bool = False) -> Found:
    """Find a pattern, int8 [N, N], in an index.

    Where colours are exchangeable, continuations are shown for the side ``to_play``, 0 Black. With ``fixed`` the
    pattern stands only where it is, turned and reflected.

    Raises:
        ZugwerkError: as `forms`.
    """
    found, points = forms(pattern, fixed), pattern.size
    games = index.of_size(len(pattern))
    seen = scan(index.events, index.starts, games, found.wanted, found.place)
    recoloured = found.recoloured[seen.form]
    has_next = seen.following >= 0
    point = found.place[seen.form, seen.following % points].astype(np.int64)
    code = ((seen.following // points) ^ recoloured) * points + point
    least, turned, images = _least(found, points, to_play)
    code[~has_next] = 0
    recoloured = recoloured ^ (turned[code] & has_next)
    winners = index.winners[seen.game]
    winners = np.where(recoloured & np.isin(winners, (1, 2)), 3 - winners, winners).astype(np.int8)
    codes, which = np.unique(least[code[has_next]], return_inverse=True)
    counts = [
        np.bincount(which, weights, len(codes)).astype(int).tolist()
        for weights in (None, *(winners[has_next] == side for side in (1, 2)), seen.elsewhere[has_next] > 0)
    ]
    made = [
        Continuation(int(one) // points, images[int(one)], *numbers)
        for one, *numbers in zip(codes, *counts, strict=True)
    ]
    order = sorted(range(len(made)), key=lambda one: (-made[one].played, codes[one]))
    rank = np.empty(len(made), np.int32)
    rank[order] = np.arange(len(made))
    chosen = np.full(len(seen.game), -1, np.int32)
    chosen[has_next] = rank[which]
    return Found(
        games=len(np.unique(seen.game)),
        searched=len(games),
        black_won=int((winners == 1).sum()),
        white_won=int((winners == 2).sum()),
        ended=int((~has_next).sum()),
        continuations=tuple(made[one] for one in order),
        occurrences=seen,
        chosen=chosen,
        winners=winners,
    )


def _least(
    found: Forms, points: int, to_play: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], dict[int, tuple[int, ...]]]:
    """Return the first images [2N] of moves colour * N + point under the pattern's own symmetries.

    Also whether each has the other colour [2N]; and by image the points of all moves that have it, in its colour.
    """
    codes = np.arange(2 * points)
    colour, point = codes // points, codes % points
    images = np.array([(colour ^ recoloured) * points + place[point] for place, recoloured in found.own])
    images[:, np.array(found.own[0][0])[point] < 0] = 0  # outside of the pattern, where nothing is asked
    rank = ((images // points) ^ to_play) * points + images % points
    best = rank.argmin(0)
    least = images[best, codes]
    turned = np.array([recoloured for _, recoloured in found.own])[best]
    same = {
        int(one): tuple(sorted({int(p) % points for p in images[:, one] if int(p) // points == int(one) // points}))
        for one in np.unique(least)
    }
    return least, turned, same


def parse_pattern(text: str, name: str = "pattern") -> Board:
    """Read a pattern: a line a row, top row first; ``.`` empty, ``x`` black, ``o`` white, ``?`` any of these.

    Spaces, brackets and a border of coordinates, as ``zugwerk go show`` prints them, are left out.

    Raises:
        ZugwerkError: a letter that means nothing, or not a square; names the line.
    """
    rows: list[list[int]] = []
    for number, line in enumerate(text.splitlines(), 1):
        letters = re.sub(r"[\s\[\]()|\d]", "", line)
        if not letters or (len(letters) > 1 and FILES.startswith(letters.upper())):
            continue
        for letter in letters:
            if letter not in LETTERS:
                raise ZugwerkError(f"{name}, line {number}: {letter!r} means nothing; known are {' '.join(LETTERS)}")
        rows.append([LETTERS[letter] for letter in letters])
        if len(rows[-1]) != len(rows[0]):
            raise ZugwerkError(f"{name}, line {number}: {len(rows[-1])} points, the first row has {len(rows[0])}")
    if not rows or len(rows) != len(rows[0]) or not MIN_SIDE <= len(rows) <= MAX_SIDE:
        shape = f"{len(rows)} rows of {len(rows[0])}" if rows else "no row"
        raise ZugwerkError(
            f"{name}: {shape}; expected all rows of a square board of {MIN_SIDE} to {MAX_SIDE}, with ? for points that "
            "do not matter"
        )
    return np.array(rows, np.int8)


def part_of(board: Board, area: str) -> Board:
    """Return a board as a pattern in which only a rectangle matters, given by two corners: ``A1-K10``.

    Raises:
        ZugwerkError: not two points of the board.
    """
    size = len(board)
    words = area.split("-")
    if len(words) != 2:
        raise ZugwerkError(f"area {area[:40]!r}: expected two corners, such as A1-K10")
    points = [parse_move(word, size, size) for word in words]
    if size * size in points:
        raise ZugwerkError(f"area {area[:40]!r}: a pass is no corner")
    (top, bottom), (left, right) = (sorted(point // size for point in points), sorted(point % size for point in points))
    pattern = np.full((size, size), ANY, np.int8)
    pattern[top : bottom + 1, left : right + 1] = board[top : bottom + 1, left : right + 1]
    return pattern
