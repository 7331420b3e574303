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
from itertools import islice
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
    """Corner 0 to 3 of a board int8 [19, 19] as a window. Raises ZugwerkError: another size, or no such corner."""
    if board.shape != (BOARD, BOARD):
        raise ZugwerkError(f"joseki are of 19x19 boards, not of {board.shape[0]}x{board.shape[1]}")
    if not 0 <= corner < CORNERS:
        raise ZugwerkError(f"no corner {corner}; there are 0 to 3: {', '.join(CORNER_NAMES)}")
    window = np.empty((SIDE, SIDE), np.int8)
    read_window(np.ascontiguousarray(board, np.int8), corner, window)
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
    window, colour = np.zeros((SIDE, SIDE), np.int8), EMPTY
    for word in text.split():
        if word.upper() in COLOURS:
            colour = COLOURS[word.upper()]
            continue
        match = re.fullmatch(r"([0-9]{1,3}),([0-9]{1,3})", word, re.ASCII)
        if not match:
            raise ZugwerkError(f"bad pattern: {word[:40]!a} is neither X, O nor a point r,c such as 3,4")
        if not colour:
            raise ZugwerkError(f"bad pattern: X or O has to come before {word}")
        r, c = int(match[1]), int(match[2])
        if not (1 <= r <= SIDE and 1 <= c <= SIDE):
            raise ZugwerkError(f"point {word} is outside the corner; lines go from 1 to {SIDE}")
        if window[r - 1, c - 1]:
            raise ZugwerkError(f"point {word} has two stones")
        window[r - 1, c - 1] = colour
    return window


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


def select(steps: Steps, which: slice | npt.NDArray[np.int64]) -> Steps:
    """Some of the steps."""
    return Steps._make(column[which] for column in steps)


@njit(cache=True, allocates=True)
def walk_game(
    start: GoState, state: GoState, actions: npt.NDArray[np.int32], longest: int, game: int, out: Steps, at: int
) -> int:
    """Write a game's steps to ``out`` from entry ``at`` on, at most two for each of the ``longest`` moves of a corner.

    ``state`` is room of the same size as ``start``. Return the first free entry afterwards, or -1 - ply of an illegal
    one of the ``actions`` [P].
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

    steps: Steps  # Without those of games with an illegal action
    illegal: list[tuple[int, int]]  # (index of the game, ply) of each illegal action met


def walk(records: Sequence[GameRecord], longest: int = LONGEST) -> Walked:
    """Steps of games. Raises ZugwerkError: a record of another game or size, which cannot be among joseki."""
    most, at, illegal = len(records) * CORNERS * 2 * longest, 0, list[tuple[int, int]]()
    kinds = {"game": np.int32, "ply": np.int16}
    shapes = {"before": (most, SIDE, SIDE), "after": (most, SIDE, SIDE)}
    room = Steps(*(np.empty(shapes.get(name, most), kinds.get(name, np.int8)) for name in Steps._fields))
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
    left = iter(records)
    while chunk := list(islice(left, size)):
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


# Codes of corner patterns: the published one, one of ours, two earlier ones; and clashes among them.
#
# - The pattern code of Yue, Li and Qiu (2007): one number for a corner pattern, its reflection and its colour exchange.
#   A set of points has K = A * B + C, a position S = K_B * K_W * K_t, modulo 2^64; K_t is of both colours taken as one.
# - A second code, as symmetric and cheaper: the mixed Zobrist hashes of a pattern's four forms, summed. A symmetry only
#   changes the order of the four hashes, so their sum is the same; each is mixed first (the finaliser of SplitMix64:
#   Steele, Lea and Flood, 2014), or the sum would lose which point goes with which. Two different patterns share it
#   with a chance of about 2^-64. Adding a stone changes each hash by one exclusive or.
# - Plain Zobrist hashing has another name in each corner, reflection and colouring. Gu et al. (2004) turn the corner,
#   reflect it by the first move off its diagonal and recolour it by the first move, so that one position reached by two
#   orders of moves can have two names.
#
# Different patterns can share a code, and some do: a clash. `canonical` tells which patterns are the same. An encoding
# is the pattern after a local move. It clashes where its code was first that of another pattern; a pattern clashes
# where its first encoding does.
#
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
ONE = np.uint64(1)
MOVES = 2 * (POINTS + 1)  # Moves in the canonical frame: colour (0 for the one that black stones became) * 101 + point

Key = npt.NDArray[np.uint64]


@njit(cache=True)
def form_words(window: Window, words: npt.NDArray[np.uint64]) -> None:
    """Write the bits of a window's stones to ``words`` [2, 2, 2]: reflected or not, colour, half of the lines."""
    words[:] = 0
    for r in range(SIDE):
        for c in range(SIDE):
            code = window[r, c]
            if code:
                point, image = r * SIDE + c, c * SIDE + r
                words[0, code - 1, point // HALF] |= ONE << np.uint64(point % HALF)
                words[1, code - 1, image // HALF] |= ONE << np.uint64(image % HALF)


@njit(cache=True)
def canonical(window: Window, key: Key, words: npt.NDArray[np.uint64]) -> int:
    """Write the key uint64 [4] of a window; return the set of forms that are that key; ``words`` [2, 2, 2] is room."""
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
    """Key uint64 [4] of a window int8 [10, 10], and the set of forms that are it. Raises ZugwerkError: not a window."""
    if window.shape != (SIDE, SIDE) or window.dtype != np.int8 or window.min() < 0 or window.max() > WHITE:
        raise ZugwerkError("a corner pattern is an int8 array of 10x10: 0 empty, 1 black, 2 white")
    key = np.empty(WORDS, np.uint64)
    return key, int(canonical(window, key, np.empty((2, 2, 2), np.uint64)))


def key_text(key: Key) -> str:
    """The key as 52 hex digits, 13 a word."""
    return "".join(f"{int(word):013x}" for word in key)


BOTH = BLACK | WHITE  # Argument of `factors` for stones of either colour; the numbers of the colours are bits


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

    >>> from pipeline_src.systems.joseki.patterns import parse_pattern
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


KEYS = np.random.default_rng(2004).integers(0, 1 << 64, (2, BOARD * BOARD), dtype=np.uint64)  # by colour and square
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
def gu_code(window: Window, points: npt.NDArray[np.int8], colours: npt.NDArray[np.int8]) -> np.uint64:
    """Code of the position after moves [M], in the form whose first is black, and first off r = c has r < c."""
    form, first = 0, True
    for i in range(points.size):
        if points[i] == PASS:
            continue
        if first and colours[i] == WHITE:
            form |= RECOLOURED
        first = False
        r, c = points[i] // SIDE, points[i] % SIDE
        if r != c:
            form |= REFLECTED if r > c else 0
            break
    return zobrist_code(window, 0, form)


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
    """Number of windows [E, 10, 10] whose keys [E, 4] are not their patterns'; it shares no code with the key."""
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
