"""A net of rays in play: a table of what queens see from a square, and small heads, in one compiled kernel.

The net has a row of `CHANNELS` features for each key of `ray_keys`: four for the lines through a square and one for
its distances. The features of a square are the sum of its five rows; a ReLU, a depthwise 3x3 convolution of half of the
channels, a mixing layer and another such convolution follow. Two hidden layers read means and maxima over the board;
they give the value, and the weights with which the policies read the squares. The logit of a move is the product of two
vectors, of the square that an amazon leaves and of the one that she goes to, and a bias by where the one lies from the
other; that of an arrow is the same with weights of its own.

A square with an arrow has no features, in any layer, and the edge of the board looks like arrows. So all boards are
parts of the largest one: the net plays on any size, and a mean is that of the largest board.

Rows are 16-bit integers, the heads 32-bit floats. Training has the same net in torch (`systems.amazons_net.rays`), with
a perceptron in place of the table.
"""

import hashlib
from math import tanh
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, kernels
from pipeline_src.games.amazons import ARROW, COLOUR, MAX_SIDE, AmazonsState
from pipeline_src.games.amazons import EMPTY as FREE
from pipeline_src.games.kernels import row, stack
from pipeline_src.jit import Need, njit
from pipeline_src.search.amazons.endgame import EndgameScratch, endgame_scratch, settle_amazons
from pipeline_src.search.amazons.ray_keys import KEYS, OTHER, OWN, PLACES, ROWS, SHOOTS, STRIDE, write_keys
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
from pipeline_src.search.mcts.puct import UNSURE, evaluate
from pipeline_src.search.tables import Kind, read_net, write_net

CHANNELS, MIXED, HIDDEN = 2 * COUNT, COUNT, 4 * COUNT
"""Features of a square; outputs of the mixing layer; units of each of the two hidden layers."""
POOLED = 2 * MIXED + CHANNELS
READ = 2 * MIXED  # What policies read of a square: the mixing layer and the convolution after it
VECTOR = COUNT  # Length of the vectors of squares that are multiplied
SCALE = 1024  # Integer of a feature of 1
LARGEST = 6.39  # Bound of a row's features: five rows fit 16 bits
SHARE = 1.0 / MAX_SIDE**2
ACROSS = 2 * MAX_SIDE - 1
PLACED = ACROSS**2  # Ways that one square can lie from another, by rows and then columns
STEPS = ("move", "arrow")
At: Any = np.uint64

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

WEIGHTS = {
    "spread": (1 + 9) * COUNT,
    "mix": (1 + CHANNELS) * MIXED,
    "around": (1 + 9) * MIXED,
    "hidden": (1 + POOLED) * HIDDEN,
    "deeper": (1 + HIDDEN) * HIDDEN,
    "value": HIDDEN + 1,
    **{f"{step}_read": (1 + HIDDEN) * (VECTOR + 2 * READ) for step in STEPS},
    **{f"{step}_start": (1 + READ) * VECTOR for step in STEPS},
    **{f"{step}_end": VECTOR * (READ + 1) for step in STEPS},
    **{f"{step}_placed": PLACED for step in STEPS},
}
"""Number of weights of each layer; a layer's are its biases, and then weights by input and output.

Convolutions have theirs by row and column of the kernel. ``read`` are a policy's outputs of the hidden units: a factor
less one for each entry of the vector of the start, and the weights of an end and of a start. ``start`` gives the vector
of a start, ``end`` that of an end, by entry of the vector and then input, with the biases last.
"""


class StepWeights(NamedTuple):
    """Layers of one policy, see `WEIGHTS`."""

    read: Floats
    start: Floats
    end: Floats
    placed: Floats


class RayTable(NamedTuple):
    """A net as its file has it."""

    table: npt.NDArray[np.int16]  # [ROWS, CHANNELS]: features times `SCALE`
    heads: dict[str, Floats]  # Layers, see `WEIGHTS`


class RayNet(NamedTuple):
    """A tabulated net for boards of H rows and W columns, with room for one position. P is `PLACES`."""

    table: npt.NDArray[np.int16]  # [ROWS * CHANNELS]
    spread: Floats
    mix: Floats
    around: Floats
    hidden: Floats
    deeper: Floats
    value: Floats
    move: StepWeights
    arrow: StepWeights
    place: Ints  # [N]: place of each square; likewise `spot`, its index among `PLACED`, up to a constant
    spot: Ints
    kinds: npt.NDArray[np.uint8]  # [P]: see `write_keys`; likewise `opens` and `keys`
    opens: npt.NDArray[np.uint8]
    keys: npt.NDArray[np.uint16]  # [KEYS * P]
    live: Ints  # [N + 2]: places without an arrow
    features: Floats  # [P * CHANNELS], 0 on arrows and off the board; likewise `mixed`
    mixed: Floats  # [P * MIXED]
    spreads: Floats  # [P * MIXED]: outputs of the first convolution
    arounds: Floats  # [P * MIXED]: outputs of the second one
    pooled: Floats  # [POOLED]: what the hidden layers read; `units` and `deep` are their outputs
    units: Floats  # [HIDDEN]
    deep: Floats  # [HIDDEN]
    wanted: Floats  # [VECTOR + 2 * READ]: outputs of ``read``
    start: Floats  # [VECTOR]: vector of a start
    ends: Floats  # [READ]: weights of an end, given the start
    logits: Floats  # [S]: of the last position's steps
    settles: npt.NDArray[np.bool_]  # [1]: whether endings that counting decides have their result as value
    endgame: EndgameScratch
    evaluated: npt.NDArray[np.int64]  # [1]: number of positions so far


def make_ray_net(made: RayTable, state: AmazonsState, settles: bool = False) -> RayNet:
    """A net for the board of a state, with room of its own.

    Args:
        made: the net.
        state: any of the board's size and number of amazons.
        settles: whether endings that counting decides have the value 1 or -1; the net's own value is never so large.

    Raises:
        ZugwerkError: arrays of other sizes, or numbers that are not finite.
    """
    if made.table.shape != (ROWS, CHANNELS) or made.table.dtype != np.int16:
        raise ZugwerkError(
            f"a table of {made.table.dtype} {made.table.shape} is not one of a net of rays, int16 ({ROWS}, {CHANNELS})"
        )
    for name, count in WEIGHTS.items():
        weights = made.heads.get(name, np.zeros(0))
        if weights.shape != (count,) or not np.isfinite(weights).all():
            raise ZugwerkError(
                f"layer {name} of a net of rays has {count} finite weights, not {np.isfinite(weights).sum()} "
                f"of {weights.size}; other weights are another version's, or the training has diverged"
            )
    layers = {name: aligned(made.heads[name].astype(np.float32)) for name in WEIGHTS}
    moves, arrows = (
        StepWeights(*(layers.pop(f"{step}_{part}") for part in StepWeights._fields)) for step in STEPS
    )  # fmt: skip
    height, width = state.board.shape[-2:]
    down, right = np.divmod(np.arange(height * width, dtype=np.int32), np.int32(width))

    def room(count: int) -> Floats:
        return aligned(np.zeros(count, np.float32))  # type: ignore[no-any-return]

    return RayNet(
        table=aligned(made.table.ravel()),
        **layers,
        move=moves,
        arrow=arrows,
        place=STRIDE * (down + 1) + right + 1,
        spot=ACROSS * down + right,
        kinds=aligned(np.zeros(PLACES, np.uint8)),
        opens=aligned(np.zeros(PLACES, np.uint8)),
        keys=aligned(np.zeros(KEYS * PLACES, np.uint16)),
        live=np.zeros(height * width + 2, np.int32),
        features=room(PLACES * CHANNELS),
        mixed=room(PLACES * MIXED),
        spreads=room(PLACES * MIXED),
        arounds=room(PLACES * MIXED),
        pooled=room(POOLED),
        units=room(HIDDEN),
        deep=room(HIDDEN),
        wanted=room(VECTOR + 2 * READ),
        start=room(VECTOR),
        ends=room(READ),
        logits=room(int(kernels.max_steps(row(state, 0) if state.board.ndim == 3 else state))),
        settles=np.array([settles]),
        endgame=endgame_scratch(state.amazons.shape[-1]),
        evaluated=np.zeros(1, np.int64),
    )


FORMAT, VERSION = "zugwerk net of rays", 1
AGAIN = "`zugwerk export MODEL --out NET.rays` makes it again"
KIND = Kind("net of rays", FORMAT, VERSION, f"{FORMAT} of version {VERSION}", (amazons.NAME, amazons.VERSION), AGAIN)


def digest_of(made: RayTable) -> str:
    """SHA-256 of a net's numbers."""
    found = hashlib.sha256(np.ascontiguousarray(made.table))  # type: ignore[arg-type]
    for name in sorted(made.heads):
        found.update(name.encode() + np.ascontiguousarray(made.heads[name]).tobytes())
    return found.hexdigest()


def write_table(path: Path | str, made: RayTable, size: int) -> None:
    """Write a net to a file, with the size of the board that it was trained on; the same net gives the same bytes.

    Raises:
        ZugwerkError: see `make_ray_net`.
    """
    make_ray_net(made, amazons.initial_state())
    about = {"game": amazons.NAME, "version": amazons.VERSION, "size": size, "sha256": digest_of(made)}
    write_net(path, KIND, about, {"table": made.table, **made.heads})


def read_table(path: Path | str) -> tuple[RayTable, int]:
    """Read a net of `write_table`, and the size of the board that it was trained on.

    Raises:
        ZugwerkError: no such file, one that is cut short or damaged, or one of another version or game.
    """

    def make(arrays: dict[str, Any], about: dict[str, Any]) -> tuple[RayTable, int, str]:
        return RayTable(arrays.pop("table"), arrays), int(about["size"]), about["sha256"]

    made, size, digest = read_net(path, KIND, make)
    if (found := digest_of(made)) != digest:
        raise ZugwerkError(f"{path}: damaged, its numbers have the digest {found}, not {digest}; {KIND.again}")
    try:
        make_ray_net(made, amazons.initial_state())
    except ZugwerkError as error:
        raise ZugwerkError(f"{path}: {error}; {KIND.again}") from None
    return made, size


@njit(cache=True)
def see(
    state: AmazonsState,
    place: Ints,
    kinds: npt.NDArray[np.uint8],
    opens: npt.NDArray[np.uint8],
    live: Ints,
) -> int:
    """Write kinds and open squares, as `write_keys` takes them, and the places without arrows; return their number."""
    cells, own, n = state.board.flat, COLOUR[state.turn[0]], 0
    for square in range(place.size):
        code, at = cells[square], place[At(square)]
        kinds[At(at)] = 0 if code <= FREE else (OWN if code == own else OTHER)
        opens[At(at)] = 255 if code == FREE else 0
        live[At(n)] = at
        n += int(code != ARROW)
    if state.turn[1] >= 0:
        kinds[At(place[At(state.turn[1])])] = SHOOTS
    return n


@njit(cache=True)
def _look_up(table: npt.NDArray[np.int16], keys: npt.NDArray[np.uint16], live: Ints, n: int, features: Floats) -> None:
    """Write the features of live squares."""
    unit, zero = splat(1.0 / SCALE), splat(0.0)
    for i in range(n):
        p = live[At(i)]
        a, b = int(keys[At(p)]) * CHANNELS, int(keys[At(p + PLACES)]) * CHANNELS
        c, d = int(keys[At(p + 2 * PLACES)]) * CHANNELS, int(keys[At(p + 3 * PLACES)]) * CHANNELS
        e = int(keys[At(p + 4 * PLACES)]) * CHANNELS
        store(features, p * CHANNELS, multiply_add(sum_positive(table, a, b, c, d, e), unit, zero))
        more = sum_positive(table, a + COUNT, b + COUNT, c + COUNT, d + COUNT, e + COUNT)
        store(features, p * CHANNELS + COUNT, multiply_add(more, unit, zero))


@njit(cache=True)
def _convolve(inputs: Floats, channels: int, weights: Floats, live: Ints, n: int, outputs: Floats) -> None:
    """Write a depthwise 3x3 convolution of the first 16 channels with its ReLU, on the ``n`` places of ``live``.

    The weights stay in registers.

    Args:
        inputs: [P * channels], 0 on all other places.
        channels: of a place of ``inputs``.
        weights: bias and kernel.
        live: places.
        n: their number.
        outputs: [P * 16]
    """
    line, zero, bias = STRIDE * channels, splat(0.0), load(weights, 0)
    a, b, c = load(weights, COUNT), load(weights, 2 * COUNT), load(weights, 3 * COUNT)
    d, e, f = load(weights, 4 * COUNT), load(weights, 5 * COUNT), load(weights, 6 * COUNT)
    g, h, k = load(weights, 7 * COUNT), load(weights, 8 * COUNT), load(weights, 9 * COUNT)
    for i in range(n):
        p = live[At(i)]
        same = p * channels
        below, above = same - line, same + line
        x = multiply_add(load(inputs, below - channels), a, bias)
        y = multiply_add(load(inputs, same), e, zero)
        x = multiply_add(load(inputs, below), b, x)
        y = multiply_add(load(inputs, same + channels), f, y)
        x = multiply_add(load(inputs, below + channels), c, x)
        y = multiply_add(load(inputs, above - channels), g, y)
        x = multiply_add(load(inputs, same - channels), d, x)
        y = multiply_add(load(inputs, above), h, y)
        y = multiply_add(load(inputs, above + channels), k, y)
        store(outputs, p * COUNT, larger(add(x, y), zero))


@njit(cache=True)
def _mix(features: Floats, spreads: Floats, mix: Floats, one: int, two: int, three: int, mixed: Floats) -> None:
    """Write the mixing layer of three places, which read each weight once; each has two sums, for their latency."""
    zero = splat(0.0)
    a, b = load(mix, 0), zero
    c, d, e, f = a, zero, a, zero
    for i in range(COUNT):
        w = load(mix, (1 + i) * MIXED)
        a = multiply_add(splat(spreads[At(one * COUNT + i)]), w, a)
        c = multiply_add(splat(spreads[At(two * COUNT + i)]), w, c)
        e = multiply_add(splat(spreads[At(three * COUNT + i)]), w, e)
        w = load(mix, (1 + COUNT + i) * MIXED)
        b = multiply_add(splat(features[At(one * CHANNELS + COUNT + i)]), w, b)
        d = multiply_add(splat(features[At(two * CHANNELS + COUNT + i)]), w, d)
        f = multiply_add(splat(features[At(three * CHANNELS + COUNT + i)]), w, f)
    store(mixed, one * MIXED, larger(add(a, b), zero))
    store(mixed, two * MIXED, larger(add(c, d), zero))
    store(mixed, three * MIXED, larger(add(e, f), zero))


@njit(cache=True)
def _pool(features: Floats, spreads: Floats, arounds: Floats, live: Ints, n: int, pooled: Floats) -> None:
    """Write means, over the largest board, and maxima."""
    zero, share = splat(0.0), splat(SHARE)
    mean, most, spread, kept = zero, zero, zero, zero
    for i in range(n):
        p = live[At(i)]
        x = load(arounds, p * MIXED)
        mean, most = add(mean, x), larger(x, most)
        spread = add(spread, load(spreads, p * COUNT))
        kept = add(kept, load(features, p * CHANNELS + COUNT))
    store(pooled, 0, multiply_add(mean, share, zero))
    store(pooled, MIXED, most)
    store(pooled, 2 * MIXED, multiply_add(spread, share, zero))
    store(pooled, 2 * MIXED + COUNT, multiply_add(kept, share, zero))


@njit(cache=True)
def _begin(
    mixed: Floats, arounds: Floats, p: int, wanted: Floats, start: Floats, end: Floats, vector: Floats, ends: Floats
) -> float:
    """Write the weights ``ends`` of the squares that a step from place ``p`` leads to; return its own part."""
    one = splat(1.0)
    own, near = load(mixed, p * MIXED), load(arounds, p * MIXED)
    a, b = load(start, 0), splat(0.0)
    for i in range(MIXED):
        a = multiply_add(splat(mixed[At(p * MIXED + i)]), load(start, (1 + i) * VECTOR), a)
        b = multiply_add(splat(arounds[At(p * MIXED + i)]), load(start, (1 + MIXED + i) * VECTOR), b)
    a = add(a, b)
    a = multiply_add(a, load(wanted, 0), multiply_add(a, one, splat(0.0)))
    store(vector, 0, a)
    x, y = load(wanted, VECTOR), load(wanted, VECTOR + MIXED)
    for o in range(VECTOR):
        factor = splat(vector[At(o)])
        x = multiply_add(factor, load(end, o * READ), x)
        y = multiply_add(factor, load(end, o * READ + MIXED), y)
    store(ends, 0, x)
    store(ends, MIXED, y)
    a = multiply_add(a, load(end, VECTOR * READ), multiply_add(own, load(wanted, VECTOR + READ), splat(0.0)))
    return float(total(multiply_add(near, load(wanted, VECTOR + READ + MIXED), a)))


@njit(cache=True, forceinline=True)
def read_board(net: RayNet, state: AmazonsState) -> int:
    """Write the outputs of the squares and the hidden units of a position; return the number of live squares."""
    n = see(state, net.place, net.kinds, net.opens, net.live)
    live, features, mixed, zero = net.live, net.features, net.mixed, splat(0.0)
    write_keys(net.kinds, net.opens, net.keys)
    for square in range(net.place.size):
        p = net.place[At(square)]
        if net.opens[At(p)] == 0 and net.kinds[At(p)] == 0:
            store(features, p * CHANNELS, zero)
            store(features, p * CHANNELS + COUNT, zero)
            store(mixed, p * MIXED, zero)
    live[n], live[n + 1] = live[n - 1], live[n - 1]
    _look_up(net.table, net.keys, live, n, features)
    _convolve(features, CHANNELS, net.spread, live, n, net.spreads)
    for i in range(0, n, 3):
        _mix(features, net.spreads, net.mix, live[At(i)], live[At(i + 1)], live[At(i + 2)], mixed)
    _convolve(mixed, MIXED, net.around, live, n, net.arounds)
    _pool(features, net.spreads, net.arounds, live, n, net.pooled)
    layer(net.pooled, net.hidden, net.units, 0.0)
    layer(net.units, net.deeper, net.deep, 0.0)
    return n


@njit(cache=True, forceinline=True)
def _write_logits(net: RayNet, weights: StepWeights, squares: int, shooter: int, steps: Ints, count: int) -> None:
    """Write the logits of steps from the outputs of `read_board`."""
    mixed, arounds, ends, placed, zero = net.mixed, net.arounds, net.ends, weights.placed, splat(0.0)
    layer(net.deep, weights.read, net.wanted, -np.inf)
    first, spot, own = -squares - 1, 0, 0.0
    for i in range(count):
        to = int(steps[At(i)]) - first
        if shooter >= 0:
            to = int(steps[At(i)])
        if (shooter < 0 and not 0 <= to < squares) or i == 0:
            start = shooter if shooter >= 0 else int(steps[At(i)]) // squares
            first = start * squares
            to = int(steps[At(i)]) - (0 if shooter >= 0 else first)
            p, spot = net.place[At(start)], net.spot[At(start)] - (ACROSS + 1) * (MAX_SIDE - 1)
            own = _begin(mixed, arounds, p, net.wanted, weights.start, weights.end, net.start, ends)
        p = net.place[At(to)]
        x = multiply_add(load(mixed, p * MIXED), load(ends, 0), zero)
        x = multiply_add(load(arounds, p * MIXED), load(ends, MIXED), x)
        net.logits[At(i)] = total(x) + placed[At(net.spot[At(to)] - spot)] + np.float32(own)


@njit(cache=True, forceinline=True)
def evaluate_position(net: RayNet, state: AmazonsState, steps: Ints, count: int, priors: Floats) -> float:
    """Write the priors of a position's legal steps, which sum to 1; return its value to the side to move.

    Args:
        net: for its board.
        state: an unfinished position, between turns or within one.
        steps: int32 [S], the first ``count`` are legal; those from one square are neighbours.
        count: at least 1.
        priors: float32 [S], of which the first ``count`` are overwritten.
    """
    squares, shooter, known = state.board.size, int(state.turn[1]), 0.0
    net.evaluated[0] += 1
    if net.settles[0] and shooter < 0:
        decided, margin = settle_amazons(state, net.endgame)
        if decided:
            known = 1.0 if margin > 0 else -1.0
            if known > 0:  # nobody searches on from there
                for i in range(count):
                    priors[At(i)] = 1.0 / count
                return known
    read_board(net, state)
    if shooter < 0:
        _write_logits(net, net.move, squares, shooter, steps, count)
    else:
        _write_logits(net, net.arrow, squares, shooter, steps, count)
    soften(net.logits, count, priors)
    if known != 0.0:
        return known
    logit = splat(0.0)
    for o in range(0, HIDDEN, COUNT):
        logit = multiply_add(load(net.deep, o), load(net.value, o), logit)
    value = tanh(0.5 * (float(total(logit)) + float(net.value[HIDDEN])))
    return max(-float(UNSURE), min(float(UNSURE), value))


@njit(cache=True, nogil=True)
def evaluate_all(
    net: RayNet, states: AmazonsState, steps: Ints, counts: npt.NDArray[np.int32], priors: Floats, values: Floats
) -> None:
    """`evaluate_position` of B stacked states: steps int32 [B, S], counts [B], priors [B, S], values [B]."""
    for b in range(len(counts)):
        values[b] = evaluate_position(net, row(states, b), steps[b], counts[b], priors[b])


kernels.implement(evaluate, RayNet, evaluate_position)


class RayEvaluator:
    """`search.mcts.puct_trees.EvaluateBatch` by a net of rays, on boards of any size; trees call its kernel."""

    def __init__(self, made: RayTable, size: int = MAX_SIDE, settles: bool = False) -> None:
        """See `make_ray_net`; nothing is prepared before the first board is seen.

        ``size`` is that of the boards that the net was trained on.
        """
        self.made, self.size, self.settles = made, size, settles
        self._nets: dict[tuple[int, ...], RayNet] = {}

    @property
    def evaluated(self) -> int:
        """Number of positions evaluated so far."""
        return sum(int(net.evaluated[0]) for net in self._nets.values())

    def inside(self, state: Any) -> RayNet:
        """The net for the board of a state, or of stacked ones, as searches in compiled code take it."""
        key = (*state.board.shape[-2:], state.amazons.shape[-1])
        if key not in self._nets:
            self._nets[key] = make_ray_net(self.made, state, self.settles)
        return self._nets[key]

    def twin(self) -> "RayEvaluator":
        """See `search.mcts.puct.Crew`."""
        return RayEvaluator(self.made, self.size, self.settles)

    def check_board(self, height: int, width: int) -> None:
        """All boards of the game are fine."""

    def __call__(self, states: Any, steps: Ints, counts: Ints) -> tuple[Floats, Floats]:
        """Priors float32 [B, S] of the steps and values float32 [B]; see `search.mcts.puct_trees.EvaluateBatch`."""
        priors, values = np.zeros(steps.shape, np.float32), np.empty(len(counts), np.float32)
        evaluate_all(self.inside(states), states, steps, counts, priors, values)
        return priors, values

    def needs(self, state: AmazonsState) -> list[Need]:
        """Kernels that a call needs for states of such a type."""
        floats, ints = np.empty((1, 1), np.float32), np.empty((1, 1), np.int32)
        return [Need(evaluate_all, (self.inside(state), stack(state, 1), ints, ints[0], floats, floats[0]))]
