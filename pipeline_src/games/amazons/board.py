"""Board and state of the Amazons, start positions, and the position text (FEN).

Coordinates: square s = (rank - 1) * W + (file - 1); ``board[rank - 1, file - 1]``, so row 0 is rank 1 and
``board.ravel()[s]`` is square s.

FEN, as chess programs write it for this game: the ranks from the top down with ``Q`` for a white amazon, ``q`` for a
black one, ``*`` for an arrow and a number for a run of empty squares; then ``w`` or ``b`` for the side to move. What
chess programs add is skipped: a hand in brackets after the ranks, and up to four fields that are ``-``
or a number after the side to move.
"""

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError

ARROW, EMPTY, BLACK, WHITE = 0, 1, 2, 3
FIRST, SECOND = 0, 1  # The sides, as `to_play` numbers them: White moves first
COLOUR = (WHITE, BLACK)  # Board code of each side's amazons
MIN_SIDE, MAX_SIDE = 3, 10
"""Smallest and largest side of a board. The line tables, and two 64-bit words for a board, hold ten at most."""
MOST_AMAZONS = 4  # Largest number of amazons of a side in a position text. The searches have room for no more.
FILES = "abcdefghij"

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


class FenError(ZugwerkError):
    """A position text cannot be read; the message says why."""


class AmazonsState(NamedTuple):
    """A position between two turns or within one: arrays only, so that numba kernels accept it. Treat it as a value.

    The kernels in `moves` change it in place; the functions in `turns` copy it first.
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


def copy_state(state: AmazonsState) -> AmazonsState:
    """Return a copy that shares no array with ``state``."""
    return AmazonsState(
        state.board.copy(), state.lines.copy(), state.amazons.copy(), state.turn.copy(), state.hash.copy()
    )


def to_play(state: AmazonsState) -> int:
    """Return the side to move: 0 White (first), 1 Black (second)."""
    return int(state.turn[0])


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
        raise FenError(f"bad FEN {fen[:200]!r}: expected ranks, a space, and 'w' or 'b'")
    if odd := [field for field in fields[2:] if not _COUNTER.fullmatch(field)]:
        raise FenError(f"bad FEN {fen[:200]!r}: {odd[0]!r} after the side to move is neither '-' nor a number")
    ranks = [_read_rank(text, fen) for text in _HAND.sub("", fields[0]).split("/")]
    if len({len(rank) for rank in ranks}) != 1:
        raise FenError(f"bad FEN {fen!r}: its ranks have {', '.join(str(len(r)) for r in ranks)} squares")
    height, width = len(ranks), len(ranks[0])
    if not (MIN_SIDE <= height <= MAX_SIDE and MIN_SIDE <= width <= MAX_SIDE):
        raise FenError(f"bad FEN {fen!r}: board {height}x{width}; sides go from {MIN_SIDE} to {MAX_SIDE}")
    board = np.array(ranks[::-1], dtype=np.int8)
    if (most := max(np.count_nonzero(board == code) for code in (WHITE, BLACK))) > MOST_AMAZONS:
        raise FenError(f"bad FEN {fen!r}: {most} amazons of one side; at most {MOST_AMAZONS} can be played")
    return from_board(board, FIRST if fields[1] == "w" else SECOND)


_COUNTER = re.compile(r"-|\d{1,9}", re.ASCII)
_HAND = re.compile(r"\[[A-Za-z-]*\]$")  # Pieces in hand, such as the arrows that Fairy-Stockfish lists there
_CODE = {"Q": WHITE, "q": BLACK, "*": ARROW}


def _read_rank(text: str, fen: str) -> list[int]:
    squares: list[int] = []
    number = ""
    for letter in text + "/":
        if letter in "0123456789":
            number += letter
            continue
        if number:
            if len(number) > 2 or int(number) == 0:
                raise FenError(f"bad FEN {fen[:200]!r}: a run of {number[:20]} empty squares")
            squares += [EMPTY] * int(number)
            number = ""
        if letter in _CODE:
            squares.append(_CODE[letter])
        elif letter != "/":
            raise FenError(f"bad FEN {fen!r}: unknown letter {letter!r}; known are Q q * and numbers")
    return squares


def to_fen(state: AmazonsState) -> str:
    """Return the position text of a state between turns."""
    ranks = []
    for row in state.board[::-1]:
        text, empty = "", 0
        for code in [*row, -1]:
            if code == EMPTY:
                empty += 1
                continue
            text += str(empty) if empty else ""
            empty = 0
            if code >= 0:
                text += {WHITE: "Q", BLACK: "q", ARROW: "*"}[int(code)]
        ranks.append(text)
    return "/".join(ranks) + (" w" if to_play(state) == FIRST else " b")


# Text of turns.
#
# Turns are written as ``d9-e10/e5``, and read as ``d9-e10/e5``, ``d9e10e5`` or ``d9-e10(e5)``, in upper or lower case.


_TURN = re.compile(
    r"([a-j])(10|[1-9])-?([a-j])(10|[1-9])(?:/?([a-j])(10|[1-9])|\(([a-j])(10|[1-9])\))", re.IGNORECASE | re.ASCII
)


class MoveTextError(ZugwerkError):
    """A text is not a turn, or names a square outside the board."""


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
