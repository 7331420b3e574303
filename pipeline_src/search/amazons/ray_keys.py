"""Keys of the squares of an Amazons board: what a queen sees from there, and how far either side has to it.

Squares are seen by the side to move: empty, own, other, arrow, or the amazon that has moved and is about to shoot. A
ray is the number of empty squares up to the first blocker and the blocker's kind; the edge of the board and an arrow
are the same, so that a small board is a large one with arrows around it. A line through a square has two rays, which
may be exchanged. Straight and diagonal lines have rows of their own. A fifth row is that of the distances: queen and
king moves of both sides to an empty square.

All keys of a board come from one piece of straight code on whole rows of squares in registers: sweeps for the rays, and
sets of squares that grow by a king's or a queen's move at a time for the distances. LLVM maps its vectors to what the
processor has; they are of whole numbers, so that all processors give the same keys.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import lower_builtin, type_callable

STRIDE = 16  # Places of a row: a border, up to ten squares, and more border
PLACES = 12 * STRIDE
"""Places of a board with its border: square (r, c) is place 16 * (r + 1) + c + 1, for a board of any size."""
LINES = 4  # Row, column and both diagonals
KEYS = LINES + 1
EMPTY, OWN, OTHER, SHOOTS = range(4)  # Kinds of squares; `BLOCK`, an edge or an arrow, has no features
BLOCK = 0
RAYS = 40  # Four times the number of empty squares, 0 to 9, plus the kind of the blocker
PAIRS = 4 * RAYS * RAYS  # Rows of a line of one direction: kind of the square, smaller ray, larger ray
SEEN = 2 * PAIRS  # First row of the distances
QUEEN, KING = 5, 7
"""Queen moves 1, 2, 3, more, never; king moves 1, 2, 3, 4, 5, more, never."""
SIDE = QUEEN * KING
ROWS = SEEN + SIDE * SIDE + 3
"""The last three rows are the distances' of an own amazon, another one, and the one that is about to shoot."""
INPUTS = 4 + RAYS + 2 + 2 * (QUEEN + KING) + 3

Bytes = npt.NDArray[np.uint8]
Keys = npt.NDArray[np.uint16]


def row_inputs() -> npt.NDArray[np.float32]:
    """Return a perceptron's inputs for each row, float32 [ROWS, INPUTS]: one-hots; those of the two rays are summed."""
    found = np.zeros((ROWS, INPUTS), np.float32)
    row = np.arange(SEEN)
    found[row, row % PAIRS // RAYS**2] = 1
    for ray in (row // RAYS % RAYS, row % RAYS):
        np.add.at(found, (row, 4 + ray), 1)
    at = 4 + RAYS
    found[row, at + row // PAIRS] = 1
    code, at = np.arange(SIDE * SIDE), at + 2
    for value, many in ((code // SIDE // KING, QUEEN), (code // SIDE % KING, KING), (code % SIDE // KING, QUEEN)):
        found[SEEN + code, at + value] = 1
        at += many
    found[SEEN + code, at + code % KING] = 1
    found[ROWS - 3 + np.arange(3), at + KING + np.arange(3)] = 1
    return found


def write_keys(kinds: Bytes, opens: Bytes, keys: Keys) -> None:
    """Write the rows of all squares that have no arrow; what is written for other places means nothing.

    Args:
        kinds: uint8 [PLACES]: `OWN`, `OTHER` or `SHOOTS` where an amazon stands, 0 elsewhere.
        opens: uint8 [PLACES]: 255 on empty squares, 0 elsewhere.
        keys: uint16 [KEYS * PLACES]: by line, the last one the distances', and place.
    """
    empty, kind = opens.reshape(12, STRIDE) > 0, kinds.reshape(12, STRIDE).astype(int)
    out = keys.reshape(KEYS, 12, STRIDE)
    for line, (down, right) in enumerate(((0, 1), (1, 0), (1, 1), (1, -1))):
        rays = [_rays(empty, kind, sign * down, sign * right) for sign in (1, -1)]
        low, high = np.minimum(*rays), np.maximum(*rays)
        out[line, 1:-1] = (kind * RAYS**2 + low * RAYS + high + (line > 1) * PAIRS)[1:-1]
    sides = [_distances(empty, of) for of in ((kind == OWN) | (kind == SHOOTS), kind == OTHER)]
    out[4] = SEEN + np.where(empty, sides[0] * SIDE + sides[1], SIDE * SIDE - 1 + kind)


def _moved(board: Any, down: int, right: int) -> Any:
    """A board [12, 16] by what lies ``down`` and ``right`` of each place; zeros from beyond."""
    found = np.zeros_like(board)
    rows, columns = board.shape
    found[max(0, -down) : rows - max(0, down), max(0, -right) : columns - max(0, right)] = board[
        max(0, down) : rows - max(0, -down), max(0, right) : columns - max(0, -right)
    ]
    return found


def _rays(empty: Any, kind: Any, down: int, right: int) -> Any:
    ray = kind * 0
    for _ in range(10):
        ray = _moved(np.where(empty, np.minimum(ray + 4, 255), kind), down, right)
    return ray


def _distances(empty: Any, amazons: Any) -> Any:
    eight = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]

    def grown(there: Any, far: int) -> Any:
        found = there.copy()
        for down, right in eight:
            run = there
            for _ in range(far):
                run = _moved(run, down, right) & empty
                found |= run
        return found

    code, reach, whole = np.full(empty.shape, SIDE - 1), amazons, amazons
    for far, many, weight in ((9, QUEEN - 2, KING), (1, KING - 2, 1)):
        reach = amazons
        for _ in range(many):
            reach = grown(reach, far)
            code = code - weight * reach
    while (grown(whole, 9) != whole).any():
        whole = grown(whole, 9)
    return code - (KING + 1) * whole


# The same as intermediate code.


@type_callable(write_keys)
def _type_write_keys(_: Any) -> Any:
    return lambda kinds, opens, keys: types.none  # noqa: ARG005


_BYTE, _WORD, _INT, _LONG = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_BYTES, _BLOCK, _WORDS, _SET = (
    ir.VectorType(_BYTE, 16), ir.VectorType(_BYTE, 64), ir.VectorType(_WORD, 16), ir.VectorType(_WORD, 32),
)  # fmt: skip
"""A row of squares; four rows; a row of keys; two sets of squares, a bit a square, in words of a row each."""


class _Writer:
    """Writes vector instructions."""

    def __init__(self, builder: Any) -> None:
        self.b = builder

    def all(self, kind: Any, number: int) -> Any:
        return ir.Constant(kind, [number] * kind.count)

    def load(self, kind: Any, data: Any, at: int) -> Any:
        loaded = self.b.load(self.b.bitcast(self.b.gep(data, [_INT(at)]), kind.as_pointer()))
        loaded.align = 1
        return loaded

    def store(self, vector: Any, data: Any, at: int) -> None:
        self.b.store(vector, self.b.bitcast(self.b.gep(data, [_INT(at)]), vector.type.as_pointer())).align = 1

    def pick(self, one: Any, other: Any, places: list[int]) -> Any:
        return self.b.shuffle_vector(one, other, ir.Constant(ir.VectorType(_INT, len(places)), places))

    def along(self, vector: Any, by: int) -> Any:
        """Lanes moved up by a number, or down, within each sixteen; zeros come in."""
        count = vector.type.count
        places = [i - by if 0 <= i % 16 - by < 16 else count for i in range(count)]
        return self.pick(vector, ir.Constant(vector.type, None), places)

    def least(self, one: Any, other: Any) -> tuple[Any, Any]:
        below = self.b.icmp_unsigned("<", one, other)
        return self.b.select(below, one, other), self.b.select(below, other, one)

    def shift(self, words: Any, down: int, right: int) -> Any:
        """A set with each square moved; a row's word has a bit a column."""
        if down:
            words = self.along(words, down)
        if right:
            by = self.all(_SET, abs(right))
            words = self.b.shl(words, by) if right > 0 else self.b.lshr(words, by)
        return words


def _passed(w: _Writer, ray: Any, opens: Any, kinds: Any) -> Any:
    """Return a square's part in the view of the one behind it: its ray and one square more, or its amazon."""
    return w.b.or_(w.b.and_(w.b.add(ray, w.all(ray.type, 4)), opens), kinds)


def _sweep(w: _Writer, opens: list[Any], kinds: list[Any], right: int, order: list[int]) -> dict[int, Any]:
    """Rays by row, each going back against ``order`` and ``right``."""
    passed, found = ir.Constant(_BYTES, None), {}
    for r in order:
        found[r] = w.along(passed, right) if right else passed
        passed = _passed(w, found[r], opens[r], kinds[r])
    return found


def _flat_rays(w: _Writer, opens: Any, kinds: Any, right: int) -> Any:
    """Rays along four rows: runs of 1, 2, 4, 8 squares. The border is a blocker, so that no run goes beyond it."""
    for far in (1, 2, 4, 8):
        seen = w.b.add(w.along(kinds, right * far), w.all(_BLOCK, 4 * far))
        kinds = w.b.or_(w.b.and_(seen, opens), w.b.and_(kinds, w.b.not_(opens)))
        opens = w.b.and_(opens, w.along(opens, right * far))
    return w.along(kinds, right)


def _write_rays(w: _Writer, kinds: Any, opens: Any, keys: Any) -> None:
    rows = list(range(1, 11))
    kind, open_ = ({r: w.load(_BYTES, data, STRIDE * r) for r in rows} for data in (kinds, opens))
    up, down = rows, rows[::-1]
    swept = [
        tuple(_sweep(w, open_, kind, sign * right, order) for sign, order in ((1, up), (-1, down)))  # type: ignore[arg-type]
        for right in (0, 1, -1)
    ]
    flat = []
    for right in (1, -1):
        found: dict[int, Any] = {}
        for part in range(3):
            whole = _flat_rays(w, w.load(_BLOCK, opens, 64 * part), w.load(_BLOCK, kinds, 64 * part), right)
            found |= {4 * part + k: w.pick(whole, whole, [*range(16 * k, 16 * k + 16)]) for k in range(4)}
        flat.append(found)
    for r in rows:
        base = w.b.mul(w.b.zext(kind[r], _WORDS), w.all(_WORDS, RAYS**2))
        for line, (one, other) in enumerate([tuple(flat), *swept]):
            low, high = (w.b.zext(ray, _WORDS) for ray in w.least(one[r], other[r]))
            key = w.b.add(w.b.add(w.b.mul(low, w.all(_WORDS, RAYS)), high), base)
            if line > 1:
                key = w.b.add(key, w.all(_WORDS, PAIRS))
            w.store(key, keys, PLACES * line + STRIDE * r)


_EIGHT = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]


def _write_distances(w: _Writer, kinds: Any, opens: Any, keys: Any) -> None:
    b, blocks = w.b, range(3)
    kind, open_ = ([w.load(_BLOCK, data, 64 * part) for part in blocks] for data in (kinds, opens))

    def squares(truths: list[Any]) -> Any:
        """The set of squares, int16 x 16, by three times 64 truths."""
        longs = ir.Constant(ir.VectorType(_LONG, 4), [0] * 4)
        for part in blocks:
            longs = b.insert_element(longs, b.bitcast(truths[part], _LONG), _INT(part))
        return b.bitcast(longs, _WORDS)

    both = [*range(32)]
    other = squares([b.icmp_unsigned("==", k, w.all(_BLOCK, OTHER)) for k in kind])
    amazon = squares([b.icmp_unsigned("!=", k, w.all(_BLOCK, 0)) for k in kind])
    free = squares([b.icmp_unsigned("!=", m, w.all(_BLOCK, 0)) for m in open_])
    amazons, free = w.pick(b.xor(amazon, other), other, both), w.pick(free, free, both)
    runs = {}
    for down, right in _EIGHT:
        two = b.and_(free, w.shift(free, down, right))
        runs[down, right] = (free, two, b.and_(two, w.shift(two, 2 * down, 2 * right)), two)

    def queen(there: Any) -> Any:
        found = there
        for (down, right), run in runs.items():
            ray = there
            for far, empty in zip((1, 2, 4, 2), run, strict=True):
                ray = b.or_(ray, b.and_(w.shift(ray, far * down, far * right), empty))
            found = b.or_(found, ray)
        return found

    def king(there: Any) -> Any:
        three = b.or_(there, b.or_(w.shift(there, 0, 1), w.shift(there, 0, -1)))
        return b.or_(there, b.and_(free, b.or_(three, b.or_(w.shift(three, 1, 0), w.shift(three, -1, 0)))))

    levels = []
    for step, many, weight in ((queen, QUEEN - 2, KING), (king, KING - 2, 1)):
        reach = amazons
        for _ in range(many):
            reach = step(reach)
            levels.append((reach, weight))
    whole = b.or_(levels[QUEEN - 3][0], levels[-1][0])
    start, loop = b.block, b.append_basic_block("reach")
    after = b.append_basic_block("reached")
    b.branch(loop)
    b.position_at_end(loop)
    there = b.phi(_SET)
    more = queen(there)
    there.add_incoming(whole, start)
    there.add_incoming(more, loop)
    wide = ir.IntType(512)
    b.cbranch(b.icmp_unsigned("!=", b.bitcast(more, wide), b.bitcast(there, wide)), loop, after)
    b.position_at_end(after)
    levels.append((more, KING + 1))
    longs = [(b.bitcast(there, ir.VectorType(_LONG, 8)), weight) for there, weight in levels]
    for part in blocks:
        codes = []
        for side in range(2):
            code = w.all(_BLOCK, SIDE - 1)
            for there, weight in longs:
                truths = b.bitcast(b.extract_element(there, _INT(4 * side + part)), ir.VectorType(ir.IntType(1), 64))
                code = b.select(truths, b.sub(code, w.all(_BLOCK, weight)), code)
            codes.append(code)
        for half in range(2):
            places = [*range(32 * half, 32 * half + 32)]
            own, far, here, empty = (
                b.zext(w.pick(x, x, places), _SET) for x in (*codes, kind[part], open_[part])
            )  # fmt: skip
            reached = b.add(b.add(b.mul(own, w.all(_SET, SIDE)), far), w.all(_SET, SEEN))
            stands = b.add(here, w.all(_SET, SEEN + SIDE * SIDE - 1))
            key = b.select(b.icmp_unsigned("!=", empty, w.all(_SET, 0)), reached, stands)
            w.store(key, keys, PLACES * LINES + 64 * part + 32 * half)


@lower_builtin(write_keys, types.Array, types.Array, types.Array)
def _write_keys(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    kinds, opens, keys = (
        context.make_array(kind)(context, builder, value).data
        for kind, value in zip(signature.args, values, strict=True)
    )
    writer = _Writer(builder)
    _write_rays(writer, kinds, opens, keys)
    _write_distances(writer, kinds, opens, keys)
    return context.get_dummy_value()
