"""The four 10x10 corners of a 19x19 board, and the frame that each is seen in.

A point of a corner is (r, c), its distances to the corner's two borders, the first line being 1: r to the top or bottom
one, c to the left or right one. A *window* is the corner's int8 [10, 10], ``window[r - 1, c - 1]``: 0 empty, 1 black,
2 white. Neighbouring corners share the tenth line, so its stones are part of both.

Corners are numbered: 0 top left, 1 top right, 2 bottom left, 3 bottom right, board row 0 being the top.

As text a pattern is ``X 3,5 4,4 7,3 O 3,6 4,6 3,9``: points (r, c) of black stones, then of white ones.
"""

import re

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.jit import njit

BOARD = 19
"""Side of the board that joseki are of; also the paper's base."""
SIDE = 10
"""Lines of a corner, the middle one included."""
POINTS = SIDE * SIDE
PASS = POINTS
"""Point of a move that was not played in the corner, a tenuki."""
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
