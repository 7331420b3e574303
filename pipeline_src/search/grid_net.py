"""A net for any game of stones on a grid: a table of what lines through a cell hold, and small heads, in one kernel.

Each cell has a window of cells along each direction of the game (`LINES`), itself in the middle: nine, or seven where a
game has more than three kinds of cells. A cell of a window is off the board, empty, or what stands there by the side to
move. Each window has a row of `FEATURES` numbers for either side to move, since those of Hex look for other lines; a
perceptron makes the rows when a net is opened. The features of a cell are the sum of its rows and of one of its own; a
ReLU, a mixing layer and a 3x3 convolution follow.
Two hidden layers read means and maxima over the board; they give the value, and the weights with which policies read
the cells. The logit of a step (`games.kernels.squares`) has parts for its target, for its source, and for both the
product of two vectors and a bias by where the one lies from the other; a step without cells is a pass.

A position is evaluated whole: nothing is kept from move to move, so that captures, flips and falling stones cost
nothing. Rows are 16-bit integers, the heads 32-bit floats. Training has the same net in torch
(`selfplay.any_game.net`).
"""

import hashlib
from itertools import product
from math import tanh
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.kernels import row, stack
from pipeline_src.jit import Need, njit
from pipeline_src.search.lanes import (
    COUNT,
    add,
    aligned,
    larger,
    layer,
    load,
    multiply_add,
    soften,
    splat,
    store,
    sum_positive,
    total,
)
from pipeline_src.search.mcts.puct import evaluate
from pipeline_src.search.tables import Kind, read_net, write_net

FEATURES, MIXED, HIDDEN = 2 * COUNT, COUNT, 4 * COUNT
"""Features of a cell; outputs of the mixing layer and of the convolution; units of each of the two hidden layers."""
POOLED = 2 * MIXED + FEATURES
READ = 2 * MIXED  # What policies read of a cell: the mixing layer and the convolution after it
VECTOR = COUNT  # Length of the vectors of cells that are multiplied
UNITS = 64  # Units of the perceptron
WANTED = VECTOR + 2 * READ + COUNT  # What policies have of the hidden units; the last part is a pass's, its first entry
SCALE, LARGEST = 1024, 6.39  # Integer of a feature of 1, and bound of a row's features: five rows fit 16 bits
MOST_LINES, MOST_CODES = 4, 5
UNSURE = 0.995  # Largest value of an unfinished position: a win that the search has seen counts for more
At: Any = np.uint64

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


class Shape(NamedTuple):
    """Game and board, as far as a net knows them."""

    height: int
    width: int
    owners: tuple[int, ...]  # Of the codes 1, 2, ...: 0 the first side's, 1 the second's, -1 nobody's
    symmetries: tuple[int, ...]  # Those that keep the game, as `symmetric_maps` numbers them; 0 changes nothing
    lines: tuple[tuple[int, int], ...]  # Directions of windows, (rows down, columns right)

    @property
    def cells(self) -> int:
        """N."""
        return self.height * self.width

    @property
    def symbols(self) -> npt.NDArray[np.uint8]:
        """Uint8 [2, 1 + codes]: symbol of each code by the side to move; 0 is off the board, 1 empty."""
        both = [self._symbols(side) for side in (0, 1)]
        return np.array(both, np.uint8)

    def _symbols(self, side: int) -> list[int]:
        own = [code for code, owner in enumerate(self.owners) if owner == 0]
        other = [code for code, owner in enumerate(self.owners) if owner == 1]
        first, second = (own, other) if side == 0 else (other, own)
        free = [code for code, owner in enumerate(self.owners) if owner < 0]
        order = [*first, *second, *free]
        return [1, *(2 + order.index(code) for code in range(len(self.owners)))]

    @property
    def kinds(self) -> int:
        """Number of symbols of a cell on the board."""
        return 1 + len(self.owners)

    @property
    def bits(self) -> int:
        """Bits of a symbol."""
        return int(self.kinds).bit_length()

    @property
    def reach(self) -> int:
        """Cells of a window on each side of the middle."""
        return 4 if self.kinds <= 3 else 3

    @property
    def halves(self) -> list[tuple[int, ...]]:
        """All halves of windows, from the middle outward, with no cell on the board beyond one that is off it."""
        found: list[tuple[int, ...]] = []
        for length in range(self.reach + 1):
            stones = product(range(1, 1 + self.kinds), repeat=length)
            found += [(*some, *[0] * (self.reach - length)) for some in stones]
        return found

    @property
    def rows(self) -> int:
        """Number of windows of one direction."""
        return len(self.halves) ** 2 * self.kinds

    @property
    def tables(self) -> int:
        """Number of rows of all directions' tables, for one side to move."""
        return (max(self.classes) + 1) * self.rows

    @property
    def classes(self) -> tuple[int, ...]:
        """Number of each direction's table: directions that a symmetry exchanges have the same."""
        found = list(range(len(self.lines)))
        for number in self.symmetries:
            for d, line in enumerate(self.lines):
                there = _turned(line, number)
                for e, other in enumerate(self.lines):
                    if other in (there, (-there[0], -there[1])):
                        low, high = sorted((found[d], found[e]))
                        found = [low if c == high else c for c in found]
        names = sorted(set(found))
        return tuple(names.index(c) for c in found)


def shape_of(game: Any, state: Any) -> Shape:
    """The shape of a game, by its facts for learning, on the board of a state.

    Raises:
        ZugwerkError: a fact is none; says which.
    """
    height, width = state.board.shape[-2:]
    owners, lines = tuple(getattr(game, "OWNERS", (0, 1))), getattr(game, "LINES", ((0, 1), (1, 0), (1, 1), (1, -1)))
    kind = getattr(game, "SYMMETRIES", "square")
    if not 1 <= len(owners) < MOST_CODES or not {0, 1} <= {*owners} <= {0, 1, -1} or owners.count(0) != owners.count(1):
        raise ZugwerkError(f"OWNERS {owners}: expected 0, 1 or -1 for up to four codes, as many of either side's")
    if not 1 <= len(lines) <= MOST_LINES:
        raise ZugwerkError(f"LINES {lines}: expected one to {MOST_LINES} directions such as (1, 0)")
    if kind not in _SYMMETRIES:
        raise ZugwerkError(f"SYMMETRIES {kind!r}: expected one of {', '.join(_SYMMETRIES)}")
    numbers = tuple(n for n in _SYMMETRIES[kind] if height == width or not n & 4)
    return Shape(height, width, owners, numbers, tuple((int(y), int(x)) for y, x in lines))


_SYMMETRIES = {"square": range(8), "mirror": (0, 1), "turn": (0, 3), "none": (0,)}


def _turned(line: tuple[int, int], number: int) -> tuple[int, int]:
    """A direction under a symmetry: bit 0 mirrors left to right, bit 1 top to bottom, then bit 2 swaps the axes."""
    y, x = line[0] * (-1 if number & 2 else 1), line[1] * (-1 if number & 1 else 1)
    return (x, y) if number & 4 else (y, x)


def symmetric_maps(shape: Shape) -> npt.NDArray[np.int32]:
    """Int32 [G, N]: the cell that each of the symmetries takes a cell to."""
    y, x = np.divmod(np.arange(shape.cells, dtype=np.int32), np.int32(shape.width))
    found = []
    for number in shape.symmetries:
        up, left = shape.height - 1 - y if number & 2 else y, shape.width - 1 - x if number & 1 else x
        found.append(left * shape.width + up if number & 4 else up * shape.width + left)
    return np.array(found, np.int32)


class Plan(NamedTuple):
    """How windows are read: along all lines of a direction as one stream, with cells off the board between them."""

    symbols: npt.NDArray[np.uint8]  # [2, codes + 1]
    stream: Ints  # [T]: the cell that enters the window, N for one off the board
    middle: Ints  # [T]: the cell in the middle then, times the number of directions, plus the direction; -1 for none
    first: Ints  # [T]: first row of the direction's table
    near: Ints  # [2^(bits * reach)]: number of the half that came first in the stream
    far: Ints  # The same of the other half
    numbers: Ints  # [5]: bits, reach, number of halves, number of symbols, rows of one side


def plan_of(shape: Shape) -> Plan:
    """The plan of a board."""
    stream, middle, first, reach = list[int](), list[int](), list[int](), shape.reach
    for d, (down, right) in enumerate(shape.lines):
        seen = np.zeros(shape.cells, bool)
        for cell in range(shape.cells):
            y, x = divmod(cell, shape.width)
            if seen[cell] or (0 <= y - down < shape.height and 0 <= x - right < shape.width):
                continue
            line = list[int]()
            while 0 <= y < shape.height and 0 <= x < shape.width:
                line.append(y * shape.width + x)
                y, x = y + down, x + right
            stream += [*line, *[shape.cells] * reach]
            middle += [*[-1] * reach, *(c * len(shape.lines) + d for c in line)]
            first += [shape.classes[d] * shape.rows] * (len(line) + reach)
    bits = shape.bits
    halves = [sum(one << bits * (shape.reach - 1 - i) for i, one in enumerate(half)) for half in shape.halves]
    mirrored = [sum(one << bits * i for i, one in enumerate(half)) for half in shape.halves]
    near, far = np.zeros((2, 1 << bits * reach), np.int32)
    near[mirrored], far[halves] = np.arange(len(halves)), np.arange(len(halves))
    numbers = np.array([bits, reach, len(halves), shape.kinds, shape.tables], np.int32)
    flow = np.array([stream, middle, first], np.int32)
    return Plan(shape.symbols, flow[0], flow[1], flow[2], near, far, numbers)


@njit(cache=True)
def write_keys(plan: Plan, side: int, symbols: npt.NDArray[np.uint8], keys: Ints) -> None:
    """Write the rows of all windows, int32 [N * directions], for symbols uint8 [N + 1], the last of which is 0."""
    base = side * np.int64(plan.numbers[4])
    bits, reach = np.int64(plan.numbers[0]), np.int64(plan.numbers[1])
    halves, kinds = np.int64(plan.numbers[2]), np.int64(plan.numbers[3])
    half, window = bits * reach, np.int64(0)
    low, all_bits, one = (np.int64(1) << half) - 1, (np.int64(1) << (2 * half + bits)) - 1, (np.int64(1) << bits) - 1
    for t in range(plan.stream.size):
        window = (window << bits | np.int64(symbols[At(plan.stream[At(t)])])) & all_bits
        to = plan.middle[At(t)]
        if to >= 0:
            near, far = plan.near[At(window >> (half + bits))], plan.far[At(window & low)]
            keys[At(to)] = base + plan.first[At(t)] + (near * kinds + (window >> half & one) - 1) * halves + far


@njit(cache=True)
def see(state: Any, symbols_of: npt.NDArray[np.uint8], symbols: npt.NDArray[np.uint8]) -> None:
    """Write the symbols of a position's cells."""
    cells, side = state.board.flat, kernels.to_play(state)
    for cell in range(symbols.size - 1):
        symbols[At(cell)] = symbols_of[side, cells[cell]]


def row_inputs(shape: Shape) -> Floats:
    """Inputs of the perceptron for each row, float32 [2 * tables, I], one-hot: symbols, table and side to move."""
    halves, kinds = np.array(shape.halves, np.int64), shape.kinds
    number = np.arange(shape.rows)
    near, middle, far = number // len(halves) // kinds, number // len(halves) % kinds + 1, number % len(halves)
    window = np.concatenate([halves[near][:, ::-1], middle[:, None], halves[far]], 1)
    seen = np.eye(kinds + 1, dtype=np.float32)[window].reshape(shape.rows, -1)
    tables, sides = np.eye(max(shape.classes) + 1, dtype=np.float32), np.eye(2, dtype=np.float32)
    rest = (np.tile(np.concatenate(both[::-1]), (shape.rows, 1)) for both in product(sides, tables))
    return np.concatenate([np.concatenate([seen, one], 1) for one in rest])


def weights_of(shape: Shape) -> dict[str, int]:
    """Number of weights of each layer of a net; a layer's are its biases, and then weights by input and output.

    The convolution has them by row and column of the kernel. ``read`` are the policies' outputs of the hidden units:
    a factor less one for each entry of the source's vector, the weights of a target and of a source, and a pass.
    """
    inputs = (2 * shape.reach + 1) * (shape.kinds + 1) + max(shape.classes) + 1 + 2
    return {
        "first": (1 + inputs) * UNITS,
        "second": (1 + UNITS) * FEATURES,
        "cell": 2 * shape.cells * FEATURES,
        "mix": (1 + FEATURES) * MIXED,
        "around": (1 + 9 * MIXED) * MIXED,
        "hidden": (1 + POOLED) * HIDDEN,
        "deeper": (1 + HIDDEN) * HIDDEN,
        "value": HIDDEN + 1,
        "read": (1 + HIDDEN) * WANTED,
        "source": (1 + READ) * VECTOR,
        "target": VECTOR * (READ + 1),
        "placed": (2 * shape.height - 1) * (2 * shape.width - 1),
        "bias": shape.cells,
    }


class GridNet(NamedTuple):
    """A net for one board, with room for one position. P is (H + 2) * (W + 2)."""

    plan: Plan
    table: npt.NDArray[np.int16]  # [rows * FEATURES]: of the windows, of the cells, and one of zeros
    lines: Ints  # [1]: number of directions
    mix: Floats
    around: Floats
    hidden: Floats
    deeper: Floats
    value: Floats
    read: Floats
    source: Floats
    target: Floats
    placed: Floats
    bias: Floats
    place: Ints  # [N + 3]: place of each cell on the board with its border; the last cell's again for the rest
    symbols: npt.NDArray[np.uint8]  # [N + 1]
    keys: Ints  # [N * directions]
    features: Floats  # [(N + 3) * FEATURES]
    mixed: Floats  # [P * MIXED], 0 on the border
    arounds: Floats  # [(N + 3) * MIXED]
    pooled: Floats  # [POOLED]: what the hidden layers read; `units` and `deep` are their outputs
    units: Floats
    deep: Floats
    wanted: Floats  # [WANTED]
    start: Floats  # [VECTOR]
    ends: Floats  # [READ]: weights of a target, given the source
    logits: Floats  # [S]
    evaluated: npt.NDArray[np.int64]  # [1]: number of positions so far


def tabulate(shape: Shape, weights: dict[str, Floats]) -> npt.NDArray[np.int16]:
    """The table of a net, int16 [rows + 2 * N + 1, FEATURES]: windows, cells by the side to move, a row of zeros."""
    inputs = row_inputs(shape)
    first, second = weights["first"].reshape(-1, UNITS), weights["second"].reshape(-1, FEATURES)
    found = np.maximum(inputs @ first[1:] + first[0], 0) @ second[1:] + second[0]
    rows = np.concatenate([found, weights["cell"].reshape(-1, FEATURES), np.zeros((1, FEATURES), np.float32)])
    table: npt.NDArray[np.int16] = np.rint(np.clip(rows, -LARGEST, LARGEST) * SCALE).astype(np.int16)
    return table


def make_grid_net(shape: Shape, weights: dict[str, Floats], state: Any) -> GridNet:
    """A net for the board of a state, with room of its own.

    Raises:
        ZugwerkError: layers of other sizes, or numbers that are not finite.
    """
    for name, count in weights_of(shape).items():
        found = weights.get(name, np.zeros(0, np.float32))
        if found.shape != (count,) or not np.isfinite(found).all():
            raise ZugwerkError(
                f"layer {name} has {count} finite weights, not {np.isfinite(found).sum()} of {found.size}"
            )
    down, right = np.divmod(np.arange(shape.cells, dtype=np.int32), np.int32(shape.width))
    place = (down + 1) * (shape.width + 2) + right + 1
    heads = {name: aligned(weights[name].astype(np.float32)) for name in weights_of(shape)}

    def room(count: int) -> Any:
        return aligned(np.zeros(count, np.float32))

    return GridNet(
        plan=plan_of(shape),
        table=aligned(tabulate(shape, weights).ravel()),
        lines=np.array([len(shape.lines)], np.int32),
        **{name: heads[name] for name in GridNet._fields if name in heads},
        place=np.append(place, [place[-1]] * 3).astype(np.int32),
        symbols=np.zeros(shape.cells + 1, np.uint8),
        keys=np.zeros(shape.cells * len(shape.lines), np.int32),
        features=room((shape.cells + 3) * FEATURES),
        mixed=room((shape.height + 2) * (shape.width + 2) * MIXED),
        arounds=room((shape.cells + 3) * MIXED),
        pooled=room(POOLED),
        units=room(HIDDEN),
        deep=room(HIDDEN),
        wanted=room(WANTED),
        start=room(VECTOR),
        ends=room(READ),
        logits=room(int(kernels.max_steps(row(state, 0) if state.board.ndim == 3 else state))),
        evaluated=np.zeros(1, np.int64),
    )


@njit(cache=True)
def _look_up(net: GridNet, side: int) -> None:
    """Write the features of all cells."""
    keys, lines, cells = net.keys, net.lines[0], net.symbols.size - 1
    unit, zero = splat(1.0 / SCALE), splat(0.0)
    nothing = net.table.size - FEATURES
    of_cell = nothing - (2 - side) * cells * FEATURES
    for cell in range(cells):
        at = cell * lines
        a = int(keys[At(at)]) * FEATURES
        b = int(keys[At(at + 1)]) * FEATURES if lines > 1 else nothing
        c = int(keys[At(at + 2)]) * FEATURES if lines > 2 else nothing
        d = int(keys[At(at + 3)]) * FEATURES if lines > 3 else nothing
        e = of_cell + cell * FEATURES
        store(net.features, cell * FEATURES, multiply_add(sum_positive(net.table, a, b, c, d, e), unit, zero))
        more = sum_positive(net.table, a + COUNT, b + COUNT, c + COUNT, d + COUNT, e + COUNT)
        store(net.features, cell * FEATURES + COUNT, multiply_add(more, unit, zero))


@njit(cache=True)
def _mix(features: Floats, mix: Floats, place: Ints, cells: int, mixed: Floats) -> None:
    """Write the mixing layer, of four cells at a time, which read each weight once."""
    first, zero = load(mix, 0), splat(0.0)
    for i in range(0, cells, 4):
        a, b, c, d, at = first, first, first, first, i * FEATURES
        for k in range(FEATURES):
            w = load(mix, (1 + k) * MIXED)
            a = multiply_add(splat(features[At(at + k)]), w, a)
            b = multiply_add(splat(features[At(at + FEATURES + k)]), w, b)
            c = multiply_add(splat(features[At(at + 2 * FEATURES + k)]), w, c)
            d = multiply_add(splat(features[At(at + 3 * FEATURES + k)]), w, d)
        store(mixed, place[At(i + 3)] * MIXED, larger(d, zero))
        store(mixed, place[At(i + 2)] * MIXED, larger(c, zero))
        store(mixed, place[At(i + 1)] * MIXED, larger(b, zero))
        store(mixed, place[At(i)] * MIXED, larger(a, zero))


@njit(cache=True)
def _convolve(mixed: Floats, around: Floats, place: Ints, cells: int, stride: int, out: Floats) -> None:
    """Write the 3x3 convolution, of four cells at a time."""
    first, zero = load(around, 0), splat(0.0)
    for i in range(0, cells, 4):
        a, b, c, d, w = first, first, first, first, MIXED
        for k in range(9):
            step = (k // 3 - 1) * stride + k % 3 - 1
            p, q = (place[At(i)] + step) * MIXED, (place[At(i + 1)] + step) * MIXED
            r, s = (place[At(i + 2)] + step) * MIXED, (place[At(i + 3)] + step) * MIXED
            for j in range(MIXED):
                x = load(around, w)
                a = multiply_add(splat(mixed[At(p + j)]), x, a)
                b = multiply_add(splat(mixed[At(q + j)]), x, b)
                c = multiply_add(splat(mixed[At(r + j)]), x, c)
                d = multiply_add(splat(mixed[At(s + j)]), x, d)
                w += MIXED
        store(out, i * MIXED, larger(a, zero))
        store(out, (i + 1) * MIXED, larger(b, zero))
        store(out, (i + 2) * MIXED, larger(c, zero))
        store(out, (i + 3) * MIXED, larger(d, zero))


@njit(cache=True)
def _pool(features: Floats, arounds: Floats, cells: int, pooled: Floats) -> None:
    """Write means and maxima over the board."""
    zero, share = splat(0.0), splat(1.0 / cells)
    mean, most, low, high = zero, zero, zero, zero
    for cell in range(cells):
        x = load(arounds, cell * MIXED)
        mean, most = add(mean, x), larger(x, most)
        low = add(low, load(features, cell * FEATURES))
        high = add(high, load(features, cell * FEATURES + COUNT))
    store(pooled, 0, multiply_add(mean, share, zero))
    store(pooled, MIXED, most)
    store(pooled, 2 * MIXED, multiply_add(low, share, zero))
    store(pooled, 2 * MIXED + COUNT, multiply_add(high, share, zero))


@njit(cache=True)
def _begin(net: GridNet, source: int) -> float:
    """Write the weights ``ends`` of the targets that a step from a cell leads to; return the source's own part."""
    own, near = net.place[At(source)] * MIXED, source * MIXED
    x, y, wanted, zero = load(net.mixed, own), load(net.arounds, near), net.wanted, splat(0.0)
    own_part = multiply_add(x, load(wanted, VECTOR + READ), zero)
    own_part = multiply_add(y, load(wanted, VECTOR + READ + MIXED), own_part)
    v = load(net.source, 0)
    for i in range(MIXED):
        v = multiply_add(splat(net.mixed[At(own + i)]), load(net.source, (1 + i) * VECTOR), v)
        v = multiply_add(splat(net.arounds[At(near + i)]), load(net.source, (1 + MIXED + i) * VECTOR), v)
    v = multiply_add(v, load(wanted, 0), v)
    store(net.start, 0, v)
    a, b = load(wanted, VECTOR), load(wanted, VECTOR + MIXED)
    for i in range(VECTOR):
        factor = splat(net.start[At(i)])
        a = multiply_add(factor, load(net.target, i * READ), a)
        b = multiply_add(factor, load(net.target, i * READ + MIXED), b)
    store(net.ends, 0, a)
    store(net.ends, MIXED, b)
    return float(total(multiply_add(v, load(net.target, VECTOR * READ), own_part)))


@njit(cache=True)
def _write_logits(net: GridNet, state: Any, steps: Ints, count: int) -> None:
    """Write the logits of steps."""
    height, width = state.board.shape
    last, own, zero = -1, 0.0, splat(0.0)
    layer(net.deep, net.read, net.wanted, -np.inf)
    plain = True  # whether ``ends`` are the weights of a target without a source
    store(net.ends, 0, load(net.wanted, VECTOR))
    store(net.ends, MIXED, load(net.wanted, VECTOR + MIXED))
    for i in range(count):
        source, target = kernels.squares(state, steps[At(i)])
        logit = 0.0
        if source >= 0:
            if source != last or plain:
                own, last, plain = _begin(net, source), source, False
            logit = own
            if target < 0:
                target = source
        elif not plain:
            plain = True
            store(net.ends, 0, load(net.wanted, VECTOR))
            store(net.ends, MIXED, load(net.wanted, VECTOR + MIXED))
        if target >= 0:
            x = multiply_add(load(net.mixed, net.place[At(target)] * MIXED), load(net.ends, 0), zero)
            x = multiply_add(load(net.arounds, target * MIXED), load(net.ends, MIXED), x)
            logit += float(total(x)) + float(net.bias[At(target)])
            if source >= 0:
                down = target // width - source // width + height - 1
                right = target % width - source % width + width - 1
                logit += float(net.placed[At(down * (2 * width - 1) + right)])
        else:
            logit = float(net.wanted[VECTOR + 2 * READ])
        net.logits[At(i)] = logit


@njit(cache=True)
def evaluate_position(net: GridNet, state: Any, steps: Ints, count: int, priors: Floats) -> float:
    """Write the priors of a position's legal steps, which sum to 1; return its value to the side to move.

    Args:
        net: for its board.
        state: an unfinished position.
        steps: int32 [S], the first ``count`` are legal.
        count: at least 1.
        priors: float32 [S], of which the first ``count`` are overwritten.
    """
    cells, side = net.symbols.size - 1, kernels.to_play(state)
    net.evaluated[0] += 1
    see(state, net.plan.symbols, net.symbols)
    write_keys(net.plan, side, net.symbols, net.keys)
    _look_up(net, side)
    _mix(net.features, net.mix, net.place, cells, net.mixed)
    _convolve(net.mixed, net.around, net.place, cells, state.board.shape[1] + 2, net.arounds)
    _pool(net.features, net.arounds, cells, net.pooled)
    layer(net.pooled, net.hidden, net.units, 0.0)
    layer(net.units, net.deeper, net.deep, 0.0)
    _write_logits(net, state, steps, count)
    soften(net.logits, count, priors)
    logit = splat(0.0)
    for o in range(0, HIDDEN, COUNT):
        logit = multiply_add(load(net.deep, o), load(net.value, o), logit)
    value = tanh(0.5 * (float(total(logit)) + float(net.value[HIDDEN])))
    return max(-UNSURE, min(UNSURE, value))


@njit(cache=True, nogil=True)
def evaluate_all(
    net: GridNet, states: Any, steps: Ints, counts: npt.NDArray[np.int32], priors: Floats, values: Floats
) -> None:
    """`evaluate_position` of B stacked states: steps int32 [B, S], counts [B], priors [B, S], values [B]."""
    for b in range(len(counts)):
        values[b] = evaluate_position(net, row(states, b), steps[b], counts[b], priors[b])


kernels.implement(evaluate, GridNet, evaluate_position)


class GridEvaluator:
    """`search.mcts.puct_trees.EvaluateBatch` by a net of a game; trees call its kernel."""

    def __init__(self, shape: Shape, weights: dict[str, Floats]) -> None:
        """Nothing is prepared before the first position is seen."""
        self.shape, self.weights = shape, weights
        self._net: GridNet | None = None

    @property
    def evaluated(self) -> int:
        """Number of positions evaluated so far."""
        return 0 if self._net is None else int(self._net.evaluated[0])

    def inside(self, state: Any) -> GridNet:
        """The net, as searches in compiled code take it.

        Raises:
            ZugwerkError: the net is for another board.
        """
        if state.board.shape[-2:] != (self.shape.height, self.shape.width):
            height, width = state.board.shape[-2:]
            raise ZugwerkError(f"a net for {self.shape.height}x{self.shape.width} does not play on {height}x{width}")
        if self._net is None:
            self._net = make_grid_net(self.shape, self.weights, state)
        return self._net

    def twin(self) -> "GridEvaluator":
        """See `search.mcts.puct.Crew`."""
        return GridEvaluator(self.shape, self.weights)

    def __call__(self, states: Any, steps: Ints, counts: Ints) -> tuple[Floats, Floats]:
        """Priors float32 [B, S] of the steps and values float32 [B]; see `search.mcts.puct_trees.EvaluateBatch`."""
        priors, values = np.zeros(steps.shape, np.float32), np.empty(len(counts), np.float32)
        evaluate_all(self.inside(states), states, steps, counts, priors, values)
        return priors, values

    def needs(self, state: Any) -> list[Need]:
        """Kernels that a call needs for states of such a type."""
        floats, ints = np.empty((1, 1), np.float32), np.empty((1, 1), np.int32)
        return [Need(evaluate_all, (self.inside(state), stack(state, 1), ints, ints[0], floats, floats[0]))]


def nothing_known(shape: Shape) -> GridEvaluator:
    """A net whose weights are all 0: every step is as likely, every value 0."""
    return GridEvaluator(shape, {name: np.zeros(count, np.float32) for name, count in weights_of(shape).items()})


FORMAT, VERSION = "zugwerk net of a game", 1


def _kind(name: str, rules: str) -> Kind:
    again = "`zugwerk learn` makes another one"
    return Kind("net of a game", FORMAT, VERSION, f"{FORMAT} of version {VERSION}", (name, rules), again)


def digest_of(weights: dict[str, Floats]) -> str:
    """SHA-256 of a net's numbers."""
    found = hashlib.sha256()
    for name in sorted(weights):
        found.update(name.encode() + np.ascontiguousarray(weights[name]).tobytes())
    return found.hexdigest()


def write_grid_net(path: Path, shape: Shape, weights: dict[str, Floats], name: str, rules: str, variant: str) -> None:
    """Write a net of the game ``name`` under rules with the digest ``rules``; the same net gives the same bytes."""
    about = {"game": name, "version": rules, "variant": variant, "sha256": digest_of(weights)}
    write_net(path, _kind(name, rules), {**about, "shape": [*shape]}, weights)


def read_grid_net(path: Path, name: str, rules: str) -> tuple[GridEvaluator, str]:
    """Read a net of `write_grid_net`, and the variant that it was trained on.

    Raises:
        ZugwerkError: no such file, one that is cut short or damaged, or one of another game, version or rules.
    """

    def make(arrays: dict[str, Any], about: dict[str, Any]) -> tuple[Shape, dict[str, Any], str, str]:
        height, width, owners, symmetries, lines = about["shape"]
        shape = Shape(height, width, tuple(owners), tuple(symmetries), tuple((y, x) for y, x in lines))
        return shape, arrays, str(about["variant"]), about["sha256"]

    kind = _kind(name, rules)
    shape, weights, variant, digest = read_net(path, kind, make)
    if (found := digest_of(weights)) != digest:
        raise ZugwerkError(f"{path}: damaged, its numbers have the digest {found}, not {digest}; {kind.again}")
    if (sizes := {key: array.size for key, array in weights.items()}) != weights_of(shape):
        raise ZugwerkError(f"{path}: layers {sizes} are not those of a net for this board; {kind.again}")
    return GridEvaluator(shape, weights), variant
