"""A line net in play: a table of line windows, sums that moves update, and small heads, in one compiled kernel.

After Jin, Duan and Hang, "Rapfi: Distilling Efficient Neural Network for the Game of Gomoku", 2025, arXiv 2503.13178.
The window of a cell in one of four directions is the cells of that line around it, each empty, own, other or off the
board, seen by the side to move. The net has a row of `CHANNELS` features for each window, and a window read backwards
has the same one. The features of a cell are the sum of its four rows; a ReLU, a depthwise 3x3 convolution of half of
the channels, a mixing layer and another such convolution follow. Two hidden layers read means and maxima over the
board; they give the value, and the weights with which the policy reads each cell, so that it knows who attacks.

On a board of another size than that of the training, a mean is the one of an empty board of the training's size, plus
what the stones add: else the value would follow the size more than the stones.

The rows are 16-bit integers, so that sums are exact in any order of moves: the kernel keeps the sums of the
last position for either side, and adds and takes off what has changed. The heads are 32-bit floats. Training has the
same net in torch (`systems.gomoku_zero.nets`), with a perceptron in place of the table.
"""

from functools import lru_cache
from math import exp, tanh
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku, kernels
from pipeline_src.games.gomoku import MAX_SIDE, MIN_SIDE, SIDE, GomokuState
from pipeline_src.games.kernels import row
from pipeline_src.jit import njit
from pipeline_src.search.lanes import (
    COUNT,
    add,
    exchange,
    larger,
    layer,
    load,
    load_part,
    load_positive,
    multiply_add,
    part,
    splat,
    splat_part,
    store,
    total,
)
from pipeline_src.search.mcts.puct import evaluate
from pipeline_src.search.tables import Kind, read_net, write_net

CHANNELS, MIXED, HIDDEN = 2 * COUNT, COUNT, 4 * COUNT
"""Features of a cell; outputs of the mixing layer; units of each of the two hidden layers."""
POOLED = 2 * MIXED + CHANNELS
TOGETHER = 3  # Cells of a row that the mixing layer takes at a time
SCALE = 1024  # Integer of a feature of 1
LARGEST = 7.99  # Bound of a row's features: four rows fit 16 bits
EMPTY, OWN, OTHER, OFF = range(4)
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
At: Any = np.uint64

Floats = npt.NDArray[np.float32]


class Windows(NamedTuple):
    """All windows of W cells that a board can have, each with its mirror image in one of K rows."""

    digits: npt.NDArray[np.int8]  # [K, W]: the cells of each row's window
    rows: npt.NDArray[np.int32]  # [4^W]: row of each code, sum of digit p times 4^p; -1 for one that no board has


@lru_cache(maxsize=2)
def windows(length: int) -> Windows:
    """The windows of ``length`` cells, an odd number: those whose cells off the board lie at their ends.

    Raises:
        ZugwerkError: a length that is not 9 or 11, which see a five through their middle.
    """
    if length not in (9, 11):
        raise ZugwerkError(f"windows of a line net have 9 or 11 cells, not {length}")
    codes = np.arange(4**length, dtype=np.int64)
    digits = (codes[:, None] >> 2 * np.arange(length)) & 3
    off = digits == OFF
    inside = np.maximum.accumulate(~off, axis=1) & np.maximum.accumulate(~off[:, ::-1], axis=1)[:, ::-1]
    possible = ~(off & inside).any(axis=1) & ~off[:, length // 2]
    mirrored = (digits[:, ::-1] << 2 * np.arange(length)).sum(axis=1)
    first = np.minimum(codes, mirrored)
    kept = np.flatnonzero(possible & (first == codes))
    numbers = np.full(4**length, -1, np.int32)
    numbers[kept] = np.arange(len(kept), dtype=np.int32)
    return Windows(digits[kept].astype(np.int8), np.where(possible, numbers[first], -1).astype(np.int32))


def neighbours(height: int, width: int, length: int) -> npt.NDArray[np.int32]:
    """Cells of the windows of a board, int32 [N, 4, length]; -1 off the board."""
    row, column = np.divmod(np.arange(height * width), width)
    steps = np.arange(length) - length // 2
    down, right = (np.array([d[axis] for d in DIRECTIONS])[:, None] * steps for axis in (0, 1))
    rows, columns = row[:, None, None] + down, column[:, None, None] + right
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    return np.where(inside, rows * width + columns, -1).astype(np.int32)


class LineNet(NamedTuple):
    """A tabulated net with the sums of the position that it saw last; N cells, K rows of the table, W cells a window.

    Weights of a layer are by input and then output, flat; convolutions by row and column of the kernel.
    """

    table: npt.NDArray[np.int16]  # [K * CHANNELS]: features times `SCALE`
    rows: npt.NDArray[np.int32]  # [4^W], see `Windows`
    near: npt.NDArray[np.int32]  # [N, 4, W], `neighbours`
    spread: Floats  # Depthwise convolution of the first half of the channels: bias [16], kernel [9, 16]
    mix: Floats  # Mixing layer: bias [MIXED], weights [CHANNELS, MIXED]
    policy: Floats
    """Layer from the last hidden units to the policy's weights: bias [2 * MIXED], weights [HIDDEN, 2 * MIXED]. A cell's
    logit is the sum, with these weights, of its outputs of the mixing layer and of the convolution after it."""
    around: Floats  # Depthwise convolution of the mixing layer's outputs: bias [MIXED], kernel [9, MIXED]
    hidden: Floats  # First hidden layer: bias [HIDDEN], weights [POOLED, HIDDEN]
    deeper: Floats  # Second one: bias [HIDDEN], weights [HIDDEN, HIDDEN]
    value: Floats  # Value: weights [HIDDEN], bias
    filling: Floats  # [POOLED - MIXED]: `_pooled` of the training's empty board less that of this one
    share: Floats  # [1]: 1 / (cells of the board of the training)
    blank: npt.NDArray[np.int32]  # [N, 4]: codes of the empty board
    blank_sums: npt.NDArray[np.int16]  # [N * CHANNELS]: its sums
    boards: npt.NDArray[np.int8]  # [2, N]: the board last seen with each side to move
    codes: npt.NDArray[np.int32]  # [2, N, 4]: its codes
    sums: npt.NDArray[np.int16]  # [2, N * CHANNELS]: its sums
    features: Floats  # [(H + 2) * (W + 2) * CHANNELS]: cells with a border of zeros; likewise `mixed`
    mixed: Floats  # [(H + 2) * (W + 2) * MIXED]
    surroundings: Floats  # [N * MIXED]: outputs of the convolution of `mixed`
    logits: Floats  # [N]: of the last position
    pooled: Floats  # [POOLED]: what the hidden layers read; `units` and `deep` are their outputs
    units: Floats  # [HIDDEN]
    deep: Floats  # [HIDDEN]
    evaluated: npt.NDArray[np.int64]  # [1]: number of positions so far


WEIGHTS = {
    "spread": (1 + 9) * COUNT,
    "mix": (1 + CHANNELS) * MIXED,
    "policy": (1 + HIDDEN) * 2 * MIXED,
    "around": (1 + 9) * MIXED,
    "hidden": (1 + POOLED) * HIDDEN,
    "deeper": (1 + HIDDEN) * HIDDEN,
    "value": HIDDEN + 1,
}
"""Number of weights of each layer of the heads."""


class LineTable(NamedTuple):
    """A net as its file has it, for boards of any size."""

    table: npt.NDArray[np.int16]  # [K, CHANNELS]: the features of each window, times `SCALE`
    heads: dict[str, Floats]  # Layers of the heads, see `WEIGHTS`
    window: int  # W
    height: int  # Height of the board that it was trained on; likewise `width`
    width: int


def _is_side(number: Any) -> bool:
    """Whether a number, which a file may have, is the side of a board."""
    return isinstance(number, int) and MIN_SIDE <= number <= MAX_SIDE


def make_line_net(made: LineTable, height: int, width: int) -> LineNet:
    """A net for one board, with room of its own for the sums of positions.

    Raises:
        ZugwerkError: no such board, arrays of other sizes, or numbers that are not finite.
    """
    if not (_is_side(height) and _is_side(width)):
        raise ZugwerkError(f"made for a board of {height}x{width}, sides have {MIN_SIDE} to {MAX_SIDE} cells")
    found, cells, table = windows(made.window), height * width, made.table
    if table.shape != (len(found.digits), CHANNELS) or table.dtype != np.int16:
        raise ZugwerkError(
            f"a table of {table.dtype} {table.shape} is not one of windows of {made.window} cells, "
            f"int16 ({len(found.digits)}, {CHANNELS})"
        )
    for name, count in WEIGHTS.items():
        weights = made.heads.get(name, np.zeros(0))
        if weights.shape != (count,) or not np.isfinite(weights).all():
            raise ZugwerkError(
                f"layer {name} of a line net has {count} finite weights, not {np.isfinite(weights).sum()} "
                f"of {weights.size}; other weights are another version's, or the training has diverged"
            )
    near, blank, blank_sums = _empty_board(made, height, width)
    trained = made.height, made.width
    *_, trained_sums = _empty_board(made, *trained)
    border = (height + 2) * (width + 2)
    layers = {name: np.ascontiguousarray(made.heads[name], np.float32) for name in WEIGHTS}
    return LineNet(
        table=np.ascontiguousarray(table).ravel(),
        rows=found.rows,
        near=near,
        **layers,
        filling=_pooled(made, trained_sums, *trained) - _pooled(made, blank_sums, height, width),
        share=np.array([1.0 / (trained[0] * trained[1])], np.float32),
        blank=blank,
        blank_sums=blank_sums.ravel(),
        boards=np.zeros((2, cells), np.int8),
        codes=np.stack([blank, blank]),
        sums=np.stack([blank_sums.ravel()] * 2),
        features=np.zeros(border * CHANNELS, np.float32),
        mixed=np.zeros(border * MIXED, np.float32),
        surroundings=np.zeros(cells * MIXED, np.float32),
        logits=np.zeros(cells, np.float32),
        pooled=np.zeros(POOLED, np.float32),
        units=np.zeros(HIDDEN, np.float32),
        deep=np.zeros(HIDDEN, np.float32),
        evaluated=np.zeros(1, np.int64),
    )


def _empty_board(
    made: LineTable, height: int, width: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int16]]:
    """`neighbours`, and codes [N, 4] and sums [N, CHANNELS] of an empty board."""
    near = neighbours(height, width, made.window)
    codes = (np.where(near < 0, OFF, 0) << 2 * np.arange(made.window)).sum(axis=2).astype(np.int32)
    return near, codes, made.table[windows(made.window).rows[codes]].sum(axis=1, dtype=np.int16)


def _pooled(made: LineTable, sums: npt.NDArray[np.int16], height: int, width: int) -> Floats:
    """The sums over a board's cells of which `run_heads` takes the means, float32 [POOLED - MIXED]."""

    def around(name: str, cells: Floats) -> Floats:
        bias, *kernel = made.heads[name].reshape(-1, COUNT)
        padded = np.pad(cells, ((1, 1), (1, 1), (0, 0)))
        parts = [padded[k // 3 :, k % 3 :][:height, :width] * kernel[k] for k in range(9)]
        found: Floats = np.maximum(bias + np.sum(parts, axis=0), 0)
        return found

    features: Floats = np.maximum(sums, 0).reshape(height, width, CHANNELS).astype(np.float32) / np.float32(SCALE)
    kept = np.concatenate([around("spread", features[..., :COUNT]), features[..., COUNT:]], axis=2)
    bias, *weights = made.heads["mix"].reshape(-1, MIXED)
    mixed: Floats = np.maximum(bias + kept @ np.stack(weights), 0)
    pooled: Floats = np.concatenate([around("around", mixed), kept], axis=2).sum((0, 1))
    return pooled


AGAIN = "`zugwerk export MODEL` makes it again"
KIND = Kind("line net", "zugwerk line net", 2, "version 2", (gomoku.NAME, gomoku.VERSION), AGAIN)


def write_table(path: Path | str, made: LineTable, about: dict[str, Any]) -> None:
    """Write a net to a file; the same net gives the same bytes.

    Args:
        path: the file.
        made: the net.
        about: game, variant, version of its rules, and height and width of the board that it was trained on.

    Raises:
        ZugwerkError: see `make_line_net`.
    """
    make_line_net(made, about["height"], about["width"])
    write_net(path, KIND, {"window": made.window, **about}, {"table": made.table, **made.heads})


def read_table(path: Path | str) -> tuple[LineTable, dict[str, Any]]:
    """Read a table of `write_table`: the net, and its description.

    Raises:
        ZugwerkError: no such file, one that is cut short or damaged, or one of another version.
    """

    def make(arrays: dict[str, Any], about: dict[str, Any]) -> tuple[LineTable, dict[str, Any]]:
        size = about["height"], about["width"]
        return LineTable(arrays.pop("table"), arrays, about.pop("window"), *size), about

    made, about = read_net(path, KIND, make)
    try:
        make_line_net(made, made.height, made.width)
    except ZugwerkError as error:
        raise ZugwerkError(f"{path}: {error}; {KIND.again}") from None
    return made, about


@njit(cache=True)
def _put(net: LineNet, side: int, cell: int, change: int) -> None:
    """Add ``change`` to the digit of a cell in all windows that contain it."""
    codes, sums, length = net.codes[side], net.sums[side], net.near.shape[2]
    for d in range(4):
        for p in range(length):
            around = net.near[At(cell), At(d), At(p)]
            if around < 0:
                continue
            code = codes[At(around), At(d)]
            new = code + (change << 2 * (length - 1 - p))  # seen from there, the cell lies on the other side
            codes[At(around), At(d)] = new
            after, before = net.rows[At(new)] * CHANNELS, net.rows[At(code)] * CHANNELS
            exchange(sums, around * CHANNELS, net.table, after, before)
            exchange(sums, around * CHANNELS + COUNT, net.table, after + COUNT, before + COUNT)


@njit(cache=True)
def bring(net: LineNet, side: int, board: npt.NDArray[np.int8]) -> None:
    """Make the sums for a side to move those of a board int8 [H, W], from those of the last one or of the empty one."""
    seen, cells = net.boards[side], board.flat
    stones, others = 0, 0
    for cell in range(board.size):
        stones += int(cells[cell] != 0)
        others += int(cells[cell] != seen[cell])
    if others > stones:
        codes, sums = net.codes[side], net.sums[side]
        for cell in range(board.size):
            seen[cell] = 0
            for d in range(4):
                codes[cell, d] = net.blank[cell, d]
        for i in range(sums.size):
            sums[i] = net.blank_sums[i]
    for cell in range(board.size):
        now, then = cells[cell], seen[cell]
        if now != then:
            after, before = (OWN if now == side + 1 else OTHER), (OWN if then == side + 1 else OTHER)
            _put(net, side, cell, (after if now != 0 else EMPTY) - (before if then != 0 else EMPTY))
            seen[cell] = now


@njit(cache=True)
def _convolve(inputs: Floats, channels: int, weights: Floats, height: int, width: int, outputs: Floats) -> None:
    """Write a depthwise 3x3 convolution of 16 channels with its ReLU; the weights of a part stay in registers.

    Args:
        inputs: cells with a border of zeros, of which the first 16 channels count.
        channels: of a cell of ``inputs``.
        weights: bias and kernel.
        height: of the board.
        width: of the board.
        outputs: [N * 16]
    """
    line, zero = (width + 2) * channels, splat_part(0.0)
    for p in range(0, COUNT, part()):
        bias, a = load_part(weights, p), load_part(weights, COUNT + p)
        b, c = load_part(weights, 2 * COUNT + p), load_part(weights, 3 * COUNT + p)
        d, e = load_part(weights, 4 * COUNT + p), load_part(weights, 5 * COUNT + p)
        f, g = load_part(weights, 6 * COUNT + p), load_part(weights, 7 * COUNT + p)
        h, i = load_part(weights, 8 * COUNT + p), load_part(weights, 9 * COUNT + p)
        for r in range(height):
            for column in range(width):
                up = r * line + column * channels + p
                same, down = up + line, up + 2 * line
                x = multiply_add(load_part(inputs, up), a, bias)
                x = multiply_add(load_part(inputs, up + channels), b, x)
                x = multiply_add(load_part(inputs, up + 2 * channels), c, x)
                x = multiply_add(load_part(inputs, same), d, x)
                x = multiply_add(load_part(inputs, same + channels), e, x)
                x = multiply_add(load_part(inputs, same + 2 * channels), f, x)
                x = multiply_add(load_part(inputs, down), g, x)
                x = multiply_add(load_part(inputs, down + channels), h, x)
                x = multiply_add(load_part(inputs, down + 2 * channels), i, x)
                store(outputs, (r * width + column) * COUNT + p, larger(x, zero))


@njit(cache=True)
def _sums(inputs: Floats, at: int, step: int, weights: Floats, first: int, start: Any) -> tuple[Any, Any, Any]:
    """Add every second one of 16 inputs of three cells, ``step`` apart, times its weights to ``start``.

    The three stay in registers, also in those of WebAssembly, of which sixteen lanes take four.
    """
    a, b, c = start, start, start
    for i in range(0, COUNT, 2):
        w = load(weights, first + i * MIXED)
        a = multiply_add(splat(inputs[At(at + i)]), w, a)
        b = multiply_add(splat(inputs[At(at + step + i)]), w, b)
        c = multiply_add(splat(inputs[At(at + 2 * step + i)]), w, c)
    return a, b, c


@njit(cache=True)
def _mix(features: Floats, spread: Floats, mix: Floats, at: int, place: int, mixed: Floats) -> None:
    """Write the mixing layer of three cells of a row, which read each weight once.

    Each cell has four sums, since each step waits for the last one's. The arrays are passed one by one, because a call
    with a whole `LineNet` takes longer than the layer.

    Args:
        features: see `LineNet`; likewise ``mix`` and ``mixed``.
        spread: outputs of the first convolution.
        mix: weights.
        at: index of the first cell in ``spread``.
        place: the first cell, on the board with a border.
        mixed: outputs.
    """
    zero, own = splat(0.0), place * CHANNELS + COUNT
    a, e, k = _sums(spread, at, COUNT, mix, MIXED, load(mix, 0))
    b, f, m = _sums(spread, at + 1, COUNT, mix, 2 * MIXED, zero)
    c, g, n = _sums(features, own, CHANNELS, mix, (1 + COUNT) * MIXED, zero)
    d, h, o = _sums(features, own + 1, CHANNELS, mix, (2 + COUNT) * MIXED, zero)
    store(mixed, place * MIXED, larger(add(add(a, b), add(c, d)), zero))
    store(mixed, (place + 1) * MIXED, larger(add(add(e, f), add(g, h)), zero))
    store(mixed, (place + 2) * MIXED, larger(add(add(k, m), add(n, o)), zero))


@njit(cache=True)
def run_heads(net: LineNet, side: int, height: int, width: int) -> float:
    """Write the logits of all cells for the sums of a side to move; return the value, -1..1."""
    sums, features, mixed, pooled = net.sums[side], net.features, net.mixed, net.pooled
    line, zero, unit, share = width + 2, splat(0.0), splat(1.0 / SCALE), splat(net.share[0])
    mean, most = load(net.filling, 0), zero
    mean_spread, mean_kept = load(net.filling, MIXED), load(net.filling, MIXED + COUNT)
    for r in range(height):
        for column in range(width):
            place, cell = ((r + 1) * line + column + 1) * CHANNELS, (r * width + column) * CHANNELS
            kept = multiply_add(load_positive(sums, cell + COUNT), unit, zero)
            store(features, place, multiply_add(load_positive(sums, cell), unit, zero))
            store(features, place + COUNT, kept)
            mean_kept = add(mean_kept, kept)
    _convolve(features, CHANNELS, net.spread, height, width, net.surroundings)  # room until the second convolution
    for cell in range(height * width):
        mean_spread = add(mean_spread, load(net.surroundings, cell * COUNT))
    for r in range(height):
        for column in range(0, width, TOGETHER):
            first = min(column, width - TOGETHER)
            at, place = (r * width + first) * COUNT, (r + 1) * line + first + 1
            _mix(features, net.surroundings, net.mix, at, place, mixed)
    _convolve(mixed, MIXED, net.around, height, width, net.surroundings)
    for cell in range(height * width):
        x = load(net.surroundings, cell * MIXED)
        mean, most = add(mean, x), larger(most, x)
    store(pooled, 0, multiply_add(mean, share, zero))
    store(pooled, MIXED, most)
    store(pooled, 2 * MIXED, multiply_add(mean_spread, share, zero))
    store(pooled, 2 * MIXED + COUNT, multiply_add(mean_kept, share, zero))
    layer(pooled, net.hidden, net.units, 0.0)
    layer(net.units, net.deeper, net.deep, 0.0)
    own, near, found = load(net.policy, 0), load(net.policy, MIXED), zero
    for i in range(HIDDEN):
        unit = splat(net.deep[i])
        own = multiply_add(unit, load(net.policy, (1 + i) * 2 * MIXED), own)
        near = multiply_add(unit, load(net.policy, (1 + i) * 2 * MIXED + MIXED), near)
    for r in range(height):
        for column in range(width):
            cell, place = r * width + column, (r + 1) * line + column + 1
            x = multiply_add(load(net.surroundings, cell * MIXED), near, zero)
            net.logits[cell] = total(multiply_add(load(mixed, place * MIXED), own, x))
    for o in range(0, HIDDEN, COUNT):
        found = multiply_add(load(net.deep, o), load(net.value, o), found)
    return tanh(total(found) + float(net.value[HIDDEN]))


@njit(cache=True)
def evaluate_position(
    net: LineNet, state: GomokuState, steps: npt.NDArray[np.int32], count: int, priors: Floats
) -> float:
    """Write the priors of a position's legal steps, which sum to 1; return its value to the side to move.

    Args:
        net: for its board.
        state: an unfinished position.
        steps: int32 [S], the first ``count`` are legal.
        count: at least 1.
        priors: float32 [S], of which the first ``count`` are overwritten.
    """
    height, width = state.board.shape
    side = int(state.turn[SIDE])
    net.evaluated[0] += 1
    bring(net, side, state.board)
    value = run_heads(net, side, height, width)
    top, weights = net.logits[At(steps[0])], 0.0
    for i in range(1, count):
        top = max(top, net.logits[At(steps[At(i)])])
    for i in range(count):
        weight = exp(float(net.logits[At(steps[At(i)])] - top))
        priors[At(i)] = weight
        weights += weight
    for i in range(count):
        priors[At(i)] = priors[At(i)] / weights
    return value


@njit(cache=True, nogil=True)
def evaluate_all(
    net: LineNet,
    states: GomokuState,
    steps: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int32],
    priors: Floats,
    values: Floats,
) -> None:
    """`evaluate_position` of B stacked states: steps int32 [B, S], counts [B], priors [B, S], values [B]."""
    for b in range(len(counts)):
        values[b] = evaluate_position(net, row(states, b), steps[b], counts[b], priors[b])


kernels.implement(evaluate, LineNet, evaluate_position)
