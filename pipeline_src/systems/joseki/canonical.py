"""The exact key of a corner pattern: the same for its 16 symmetric forms, different for any two other patterns.

The board's eight symmetries bring any corner to any other and reflect it on its diagonal; with the exchange of colours
that makes 16. A window is in its corner's own frame, which leaves four forms: as it is, reflected, recoloured, both.
The key is the smallest of them as bits, 100 of black stones and 100 of white ones. It is compared whole: no hash.

A form is numbered by bits, REFLECTED and RECOLOURED. Patterns that are symmetric themselves have several forms that
are the smallest, so a *set* of forms (bit f for form f) belongs to a key, and a move is kept as its smallest image.
"""

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.jit import njit
from pipeline_src.systems.joseki.corners import BLACK, PASS, POINTS, SIDE, WHITE, Window

REFLECTED, RECOLOURED = 1, 2
FORMS = 4
WORDS = 4
"""uint64 of a key: black stones with r = 1 to 5, with 6 to 10; white stones likewise; bit (r - 1) % 5 * 10 + c - 1."""
HALF = POINTS // 2
MOVES = 2 * (POINTS + 1)
"""Moves in the canonical frame: colour (0 for the one that black stones became) * 101 + point."""

Key = npt.NDArray[np.uint64]
_DIGITS = 13  # hex digits of 50 bits


@njit(cache=True)
def form_words(window: Window, words: npt.NDArray[np.uint64]) -> None:
    """Write the bits of a window's stones to ``words`` [2, 2, 2]: reflected or not, colour, half of the lines."""
    words[:] = 0
    for r in range(SIDE):
        for c in range(SIDE):
            code = window[r, c]
            if code:
                point, image = r * SIDE + c, c * SIDE + r
                words[0, code - 1, point // HALF] |= np.uint64(1) << np.uint64(point % HALF)
                words[1, code - 1, image // HALF] |= np.uint64(1) << np.uint64(image % HALF)


@njit(cache=True)
def canonical(window: Window, key: Key, words: npt.NDArray[np.uint64]) -> int:
    """Write the key uint64 [4] of a window; return the set of forms that are that key.

    ``words`` uint64 [2, 2, 2] is room to work in.
    """
    form_words(window, words)
    best, forms = 0, 1
    for form in range(1, FORMS):
        order = 0
        for i in range(WORDS):
            ours = words[form & 1, (i >> 1) ^ (form >> 1), i & 1]
            least = words[best & 1, (i >> 1) ^ (best >> 1), i & 1]
            if ours != least:
                order = -1 if ours < least else 1
                break
        if order < 0:
            best, forms = form, 1 << form
        elif order == 0:
            forms |= 1 << form
    for i in range(WORDS):
        key[i] = words[best & 1, (i >> 1) ^ (best >> 1), i & 1]
    return forms


@njit(cache=True)
def form_point(point: int, form: int) -> int:
    """Where a form puts a point; its own inverse."""
    return point if point == PASS or not form & REFLECTED else point % SIDE * SIDE + point // SIDE


@njit(cache=True)
def canonical_move(point: int, colour: int, forms: int) -> int:
    """The smallest image of a move by BLACK or WHITE under a set of forms: colour * 101 + point, 0 .. 201."""
    smallest = MOVES
    for form in range(FORMS):
        if forms >> form & 1:
            smallest = min(smallest, ((colour - 1) ^ (form >> 1)) * (POINTS + 1) + form_point(point, form))
    return smallest


@njit(cache=True)
def move_images(move: int, colour: int, forms: int, out: npt.NDArray[np.int16]) -> int:
    """Write the points of a window where a canonical move of a player of ``colour`` is; return how many: 0, 1 or 2."""
    count = 0
    for form in range(FORMS):
        if forms >> form & 1 and move // (POINTS + 1) == (colour - 1) ^ (form >> 1):
            point = form_point(move % (POINTS + 1), form)
            if count == 0 or out[0] != point:
                out[count] = point
                count += 1
    return count


@njit(cache=True)
def window_of_key(key: Key, window: Window) -> None:
    """Write the canonical pattern of a key."""
    for point in range(POINTS):
        bit = np.uint64(point % HALF)
        half = point // HALF
        code = 0
        if key[half] >> bit & np.uint64(1):
            code = BLACK
        elif key[2 + half] >> bit & np.uint64(1):
            code = WHITE
        window[point // SIDE, point % SIDE] = code


@njit(cache=True, allocates=True)
def canonical_keys(windows: npt.NDArray[np.int8]) -> npt.NDArray[np.uint64]:
    """Keys of windows int8 [E, 10, 10], uint64 [E, 4]."""
    keys, words = np.empty((len(windows), WORDS), np.uint64), np.empty((2, 2, 2), np.uint64)
    for i in range(len(windows)):
        canonical(windows[i], keys[i], words)
    return keys


@njit(cache=True, allocates=True)
def windows_of_keys(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int8]:
    """The canonical patterns int8 [S, 10, 10] of keys uint64 [S, 4]."""
    windows = np.empty((len(keys), SIDE, SIDE), np.int8)
    for i in range(len(keys)):
        window_of_key(keys[i], windows[i])
    return windows


def canonical_key(window: Window) -> tuple[Key, int]:
    """Key uint64 [4] of a window int8 [10, 10], and the set of forms that are that key.

    Raises:
        ZugwerkError: not a window.
    """
    if window.shape != (SIDE, SIDE) or window.dtype != np.int8 or window.min() < 0 or window.max() > WHITE:
        raise ZugwerkError("a corner pattern is an int8 array of 10x10: 0 empty, 1 black, 2 white")
    key = np.empty(WORDS, np.uint64)
    return key, int(canonical(window, key, np.empty((2, 2, 2), np.uint64)))


def key_text(key: Key) -> str:
    """The key as 52 hex digits, 13 a word."""
    return "".join(f"{int(word):0{_DIGITS}x}" for word in key)
