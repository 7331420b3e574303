"""Codes of corner patterns: the published one, one of ours, two earlier ones; and clashes among them.

- The pattern code of Yue, Li and Qiu (2007): one number for a corner pattern, its reflection and its colour exchange.
  A set of points has K = A * B + C, a position S = K_B * K_W * K_t, modulo 2^64; K_t is of both colours taken as one.
- A second code, as symmetric and cheaper: the mixed Zobrist hashes of a pattern's four forms, summed. A symmetry only
  changes the order of the four hashes, so their sum is the same; each is mixed first (the finaliser of SplitMix64:
  Steele, Lea and Flood, 2014), or the sum would lose which point goes with which. Two different patterns share it with
  a chance of about 2^-64. Adding a stone changes each hash by one exclusive or.
- Plain Zobrist hashing has another name in each corner, reflection and colouring. Gu et al. (2004) turn the corner,
  reflect it by the first move off its diagonal and recolour it by the first move, so that one position reached by two
  orders of moves can have two names.

Different patterns can share a code, and some do: a clash. `canonical` tells which patterns are the same. An encoding is
the pattern after a local move. It clashes where its code was first that of another pattern; a pattern clashes where its
first encoding does.
"""

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.jit import njit
from pipeline_src.systems.joseki.corners import (
    BLACK,
    BOARD,
    CORNERS,
    PASS,
    POINTS,
    SIDE,
    WHITE,
    Steps,
    Window,
    square_of,
)

# The exact key of a corner pattern: the same for its 16 symmetric forms, different for any two other patterns.
#
# The board's eight symmetries bring any corner to any other and reflect it on its diagonal; with the exchange of
# colours that makes 16. A window is in its corner's own frame, which leaves four forms: as it is, reflected,
# recoloured, both. The key is the smallest of them as bits, 100 of black stones and 100 of white ones. It is compared
# whole: no hash.
#
# A form is numbered by bits, REFLECTED and RECOLOURED. Patterns that are symmetric themselves have several forms that
# are the smallest, so a *set* of forms (bit f for form f) belongs to a key, and a move is kept as its smallest image.


REFLECTED, RECOLOURED = 1, 2
FORMS = 4
WORDS = 4
"""uint64 of a key: black stones with r = 1 to 5, with 6 to 10; white stones likewise; bit (r - 1) % 5 * 10 + c - 1."""
HALF = POINTS // 2
MOVES = 2 * (POINTS + 1)  # Moves in the canonical frame: colour (0 for the one that black stones became) * 101 + point

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


BOTH = BLACK | WHITE  # Argument of `factors` for stones of either colour; the numbers of the colours are bits
ONE = np.uint64(1)


@njit(cache=True, allocates=True)
def factors(window: Window, colours: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """(A, B, C) of the stones of ``colours`` (BLACK, WHITE or BOTH), modulo 2^64; (1, 1, 0) where there are none.

    A, the neighbour code: the product over all points of the number of points directly connected, itself included, and
    19 more on the first line. B, the row-column code: the product of 19 + the largest c of each row that holds a point
    and of 19 + the largest r of each such column. C, the outline code: points of the smallest rectangle around all.
    """
    neighbours, lines = ONE, ONE
    top, bottom, left, right = SIDE, -1, SIDE, -1
    deepest = np.zeros(SIDE, np.int64)
    for r in range(SIDE):
        widest = 0
        for c in range(SIDE):
            if window[r, c] & colours:
                connected = 1
                if r > 0 and window[r - 1, c] & colours:
                    connected += 1
                if r < SIDE - 1 and window[r + 1, c] & colours:
                    connected += 1
                if c > 0 and window[r, c - 1] & colours:
                    connected += 1
                if c < SIDE - 1 and window[r, c + 1] & colours:
                    connected += 1
                if r == 0 or c == 0:
                    connected += BOARD
                neighbours *= np.uint64(connected)
                widest = c + 1
                deepest[c] = r + 1
                left, right = min(left, c), max(right, c)
        if widest:
            lines *= np.uint64(BOARD + widest)
            top, bottom = min(top, r), r
    if bottom < 0:
        return ONE, ONE, np.uint64(0)
    for c in range(left, right + 1):
        if deepest[c]:
            lines *= np.uint64(BOARD + deepest[c])
    return neighbours, lines, np.uint64((bottom - top + 1) * (right - left + 1))


@njit(cache=True)
def colour_code(window: Window, colours: int) -> np.uint64:
    """K = (A * B + C) mod 2^64 of the stones of ``colours``; 1 where there are none."""
    a, b, c = factors(window, colours)
    return np.uint64(a * b + c)


@njit(cache=True)
def pattern_code(window: Window) -> np.uint64:
    """Return S = (K_B * K_W * K_t) mod 2^64 of a window.

    >>> from pipeline_src.systems.joseki.corners import parse_pattern
    >>> int(pattern_code(parse_pattern("X 4,4"))) == int(pattern_code(parse_pattern("O 4,4")))
    True
    """
    return np.uint64(colour_code(window, BLACK) * colour_code(window, WHITE) * colour_code(window, BOTH))


@njit(cache=True, allocates=True)
def pattern_codes(windows: npt.NDArray[np.int8]) -> npt.NDArray[np.uint64]:
    """S of each window of int8 [E, 10, 10], uint64 [E]."""
    codes = np.empty(len(windows), np.uint64)
    for i in range(len(windows)):
        codes[i] = pattern_code(windows[i])
    return codes


def _form_keys() -> npt.NDArray[np.uint64]:
    random = np.random.default_rng(2007).integers(0, 1 << 64, (2, POINTS), dtype=np.uint64)
    keys = np.empty((2, POINTS, FORMS), np.uint64)
    for form in range(FORMS):
        images = [form_point(point, form) for point in range(POINTS)]
        keys[:, :, form] = (random[::-1] if form >> 1 else random)[:, images]
    return keys


FORM_KEYS = _form_keys()  # uint64 [2, 100, 4]: summand of a stone of a colour on a point in the hash of each form


@njit(cache=True)
def mix(x: np.uint64) -> np.uint64:
    """SplitMix64's finaliser, a bijection of 64 bits."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(x ^ (x >> np.uint64(31)))


@njit(cache=True)
def symmetric_code(window: Window) -> np.uint64:
    """The code of a window int8 [10, 10]."""
    a, b, c, d = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    for r in range(SIDE):
        for column in range(SIDE):
            code = window[r, column]
            if code:
                keys = FORM_KEYS[code - 1, r * SIDE + column]
                a ^= keys[0]
                b ^= keys[1]
                c ^= keys[2]
                d ^= keys[3]
    return np.uint64(mix(a) + mix(b) + mix(c) + mix(d))


@njit(cache=True, allocates=True)
def symmetric_codes(windows: npt.NDArray[np.int8]) -> npt.NDArray[np.uint64]:
    """The code of each window of int8 [E, 10, 10], uint64 [E]."""
    codes = np.empty(len(windows), np.uint64)
    for i in range(len(windows)):
        codes[i] = symmetric_code(windows[i])
    return codes


KEYS = np.random.default_rng(2004).integers(0, 1 << 64, (2, BOARD * BOARD), dtype=np.uint64)
"""uint64 [2, 361]: by colour and square."""
Codes = npt.NDArray[np.uint64]


@njit(cache=True)
def zobrist_code(window: Window, corner: int, form: int) -> np.uint64:
    """Zobrist hash (1970) of a form of a window's stones, on their squares of the board in ``corner``."""
    code = np.uint64(0)
    for point in range(POINTS):
        stone = window[point // SIDE, point % SIDE]
        if stone:
            code ^= KEYS[(stone - 1) ^ (form >> 1), square_of(form_point(point, form), corner)]
    return code


@njit(cache=True)
def gu_form(points: npt.NDArray[np.int8], colours: npt.NDArray[np.int8]) -> int:
    """The form that a sequence of moves chooses: the first is black, the first off the diagonal has r < c."""
    form, first = 0, True
    for i in range(points.size):
        if points[i] == PASS:
            continue
        if first and colours[i] == WHITE:
            form |= RECOLOURED
        first = False
        r, c = points[i] // SIDE, points[i] % SIDE
        if r != c:
            return form | REFLECTED if r > c else form
    return form


@njit(cache=True)
def gu_code(window: Window, points: npt.NDArray[np.int8], colours: npt.NDArray[np.int8]) -> np.uint64:
    """Code of the position that a corner's sequence of moves (points, colours [M]) led to."""
    return zobrist_code(window, 0, gu_form(points, colours))


@njit(cache=True, allocates=True)
def earlier_codes(steps: Steps) -> tuple[Codes, Codes]:
    """Zobrist's and Gu's codes after each step, uint64 [E] each; a pass has the code before it."""
    zobrist, gu = np.empty(steps.game.size, np.uint64), np.empty(steps.game.size, np.uint64)
    points, colours = np.empty((CORNERS, BOARD * BOARD), np.int8), np.empty((CORNERS, BOARD * BOARD), np.int8)
    lengths = np.zeros(CORNERS, np.int64)
    for step in range(steps.game.size):
        if step and steps.game[step] != steps.game[step - 1]:
            lengths[:] = 0
        corner = steps.corner[step]
        points[corner, lengths[corner]] = steps.point[step]
        colours[corner, lengths[corner]] = steps.colour[step]
        lengths[corner] += 1
        end = lengths[corner]
        zobrist[step] = zobrist_code(steps.after[step], corner, 0)
        gu[step] = gu_code(steps.after[step], points[corner, :end], colours[corner, :end])
    return zobrist, gu


def count_unresolved(windows: npt.NDArray[np.int8], keys: npt.NDArray[np.uint64]) -> int:
    """Number of windows int8 [E, 10, 10] whose keys uint64 [E, 4] are not those of their patterns.

    It shares no code with the key: the smallest of the four forms of a window, compared stone by stone.
    """
    recolour = np.array([0, WHITE, BLACK], np.int8)
    looked = (windows, windows.transpose(0, 2, 1))
    forms = np.stack([form for one in looked for form in (one, recolour[one])])  # [4, E, 10, 10]
    bits = np.zeros((FORMS, len(windows), WORDS, 64), np.bool_)
    for word in range(WORDS):
        stones = forms.reshape(FORMS, -1, 2, POINTS // 2)[:, :, word % 2] == (BLACK, WHITE)[word // 2]
        bits[:, :, word, -POINTS // 2 :] = stones[..., ::-1]
    words = np.packbits(bits, axis=-1).view(">u8")[..., 0]
    names = np.ascontiguousarray(words).view("S32")[..., 0]  # [4, E]
    return int((np.sort(names, axis=0)[0] != np.ascontiguousarray(keys, ">u8").view("S32")[:, 0]).sum())
