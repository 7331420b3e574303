"""The net of rays in torch: a perceptron turns keys of squares into features, and small heads read their sums.

Shape: `search.amazons.rays`, where the trained net plays from a table. Here only the rows of the keys in a batch go
through the perceptron, and all layers see the squares without arrows alone, as one list over the batch.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_src.games.amazons import MAX_SIDE
from pipeline_src.jit import njit
from pipeline_src.search.amazons.ray_keys import EMPTY, KEYS, OWN, PLACES, ROWS, SHOOTS, STRIDE, row_inputs, write_keys
from pipeline_src.search.amazons.rays import (
    ACROSS,
    CHANNELS,
    HIDDEN,
    LARGEST,
    MIXED,
    PLACED,
    POOLED,
    READ,
    SCALE,
    SHARE,
    STEPS,
    VECTOR,
    RayTable,
)
from pipeline_src.search.lanes import (
    COUNT,
    add,
    larger,
    load,
    multiply_add,
    splat,
    store,
    total,
    where_positive,
)
from pipeline_src.systems.amazons_net.encode import AMAZONS, SHOT_AT, Config

Floats = npt.NDArray[np.float32]
Longs = npt.NDArray[np.int64]
Answers = tuple[Tensor, Tensor]  # See `nets.Answers`
LEAST_VARIANCE = 1e-3
"""Added to the variance in the normalisation, so that the table's rounding is at most thirty times as large."""


@dataclass(frozen=True)
class RaysConfig:
    """The shape of the net."""

    size: int = 10
    """Squares along one side of the boards that it is trained on; it plays on any."""
    units: int = 128  # Units of the perceptron
    owners: bool = False
    """Whether it also says who will own each square, as KataGo's nets do: a target of training alone, which no table
    has (Wu, "Accelerating self-play learning in Go", 2019, arXiv 1902.10565)."""

    encoding: ClassVar[str] = "rays"

    @property
    def options(self) -> dict[str, bool]:
        """Keyword arguments of the encoder, which has none."""
        return {}


class Squares(NamedTuple):
    """The M squares without arrows on B boards of N, by board and then square s = (rank - 1) * W + (file - 1)."""

    rows: Longs  # [D]: rows of the table that some square has
    places: Longs  # [M, 5]: where each square's rows are among them
    near: npt.NDArray[np.int32]  # [M, 9]: its neighbours in the list, by rank and then file, itself too; -1 for none
    board: Longs  # [M]: board of each
    square: Longs  # [M]
    at: npt.NDArray[np.int32]  # [B, N]: index in the list, -1 for an arrow


@njit(cache=True)
def _find_squares(
    codes: npt.NDArray[np.int8],
    among: npt.NDArray[np.int32],
    kinds: npt.NDArray[np.uint8],
    opens: npt.NDArray[np.uint8],
    keys: npt.NDArray[np.uint16],
    out: Squares,
) -> tuple[int, int]:
    """Fill ``out`` from kinds of squares [B, H, W], row 0 = rank 1; return M and D.

    ``among`` int32 [ROWS] is -1 at first; ``kinds``, ``opens`` (zeros) and ``keys`` are room for `write_keys`.
    """
    m, d, (count, height, width) = 0, 0, codes.shape
    for b in range(count):
        first = m
        for r in range(height):
            for c in range(width):
                code, p = codes[b, r, c], STRIDE * (r + 1) + c + 1
                kinds[p] = code if code < SHOT_AT else 0
                opens[p] = 255 if code == EMPTY else 0
                out.at[b, r * width + c] = -1
                if code < SHOT_AT:
                    out.at[b, r * width + c] = m
                    out.board[m], out.square[m] = b, r * width + c
                    m += 1
        write_keys(kinds, opens, keys)
        for i in range(first, m):
            r, c = out.square[i] // width, out.square[i] % width
            for k in range(KEYS):
                row = keys[k * PLACES + STRIDE * (r + 1) + c + 1]
                if among[row] < 0:
                    among[row], out.rows[d] = d, row
                    d += 1
                out.places[i, k] = among[row]
            for k in range(9):
                y, x = r + k // 3 - 1, c + k % 3 - 1
                out.near[i, k] = out.at[b, y * width + x] if 0 <= y < height and 0 <= x < width else -1
    return m, d


def find_squares(kinds: Tensor) -> Squares:
    """The squares of boards float [B, 1, H, W], row 0 = the top rank, as `encode_kinds` makes them."""
    codes = kinds[:, 0].flip(1).to("cpu", torch.int8).contiguous().numpy()
    most, boards, squares = codes.size, len(codes), codes[0].size
    room = Squares(
        np.empty(ROWS, np.int64),
        np.empty((most, KEYS), np.int64),
        np.empty((most, 9), np.int32),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty((boards, squares), np.int32),
    )
    among, seen = np.full(ROWS, -1, np.int32), np.zeros((2, PLACES), np.uint8)
    m, d = _find_squares(codes, among, seen[0], seen[1], np.empty(KEYS * PLACES, np.uint16), room)
    return Squares(room.rows[:d], room.places[:m], room.near[:m], room.board[:m], room.square[:m], room.at)


# Layers over the list of squares, with their gradients: torch has them for whole boards alone, or sorts.


@njit(cache=True)
def _gather(table: Floats, places: Longs, out: Floats) -> None:
    """Write the sums [M * CHANNELS] of the rows of a flat table at places [M, 5], 0 for those below 0."""
    zero = splat(0.0)
    for m in range(len(places)):
        for part in range(0, CHANNELS, COUNT):
            x = load(table, places[m, 0] * CHANNELS + part)
            for d in range(1, KEYS):
                x = add(x, load(table, places[m, d] * CHANNELS + part))
            store(out, m * CHANNELS + part, larger(x, zero))


@njit(cache=True)
def _scatter(grad: Floats, sums: Floats, places: Longs, out: Floats) -> None:
    """Add the gradients [M * CHANNELS] of the sums above 0 to the five rows of each."""
    for m in range(len(places)):
        for part in range(0, CHANNELS, COUNT):
            at = m * CHANNELS + part
            x = where_positive(load(sums, at), load(grad, at))
            for d in range(KEYS):
                row = places[m, d] * CHANNELS + part
                store(out, row, add(load(out, row), x))


@njit(cache=True)
def _convolve(
    inputs: Floats, channels: int, near: npt.NDArray[np.int32], weights: Floats, bias: Floats, out: Floats
) -> None:
    """Write the outputs [M * COUNT] of a depthwise 3x3 convolution, with its ReLU, of the first 16 channels."""
    zero, first = splat(0.0), load(bias, 0)
    for m in range(len(near)):
        x = first
        for k in range(9):
            if near[m, k] >= 0:
                x = multiply_add(load(inputs, near[m, k] * channels), load(weights, k * COUNT), x)
        store(out, m * COUNT, larger(x, zero))


@njit(cache=True)
def _convolve_back(
    inputs: Floats,
    channels: int,
    near: npt.NDArray[np.int32],
    weights: Floats,
    out: Floats,
    grad: Floats,
    of_inputs: Floats,
    of_weights: Floats,
    of_bias: Floats,
) -> None:
    """Add the gradients of inputs [M * channels], weights and bias, given that of the outputs."""
    bias = splat(0.0)
    for m in range(len(near)):
        x = where_positive(load(out, m * COUNT), load(grad, m * COUNT))
        bias = add(bias, x)
        for k in range(9):
            if near[m, k] >= 0:
                at = near[m, k] * channels
                store(of_inputs, at, multiply_add(x, load(weights, k * COUNT), load(of_inputs, at)))
                store(of_weights, k * COUNT, multiply_add(x, load(inputs, at), load(of_weights, k * COUNT)))
    store(of_bias, 0, bias)


@njit(cache=True)
def _pool(arounds: Floats, kept: Floats, board: Longs, most: npt.NDArray[np.int32], out: Floats) -> None:
    """Write means and maxima [B * POOLED], zeros at first; ``most`` [B, MIXED] becomes where the maxima are."""
    for m in range(len(board)):
        at = board[m] * POOLED
        for part in range(2 + CHANNELS // COUNT):
            here = out[at + part * COUNT : at + (part + 1) * COUNT]
            if part == 1:
                for j in range(MIXED):
                    if arounds[m * MIXED + j] > here[j]:
                        here[j], most[board[m], j] = arounds[m * MIXED + j], m
            elif part == 0:
                store(out, at, add(load(out, at), load(arounds, m * MIXED)))
            else:
                of = at + part * COUNT
                store(out, of, add(load(out, of), load(kept, m * CHANNELS + (part - 2) * COUNT)))
    share, zero = splat(SHARE), splat(0.0)
    for of in range(0, out.size, COUNT):
        if of % POOLED != MIXED:
            store(out, of, multiply_add(load(out, of), share, zero))


@njit(cache=True)
def _pool_back(grad: Floats, board: Longs, most: npt.NDArray[np.int32], of_arounds: Floats, of_kept: Floats) -> None:
    """Write the gradients of `_pool`'s inputs."""
    share, zero = splat(SHARE), splat(0.0)
    for m in range(len(board)):
        at = board[m] * POOLED
        store(of_arounds, m * MIXED, multiply_add(load(grad, at), share, zero))
        for part in range(0, CHANNELS, COUNT):
            store(of_kept, m * CHANNELS + part, multiply_add(load(grad, at + 2 * MIXED + part), share, zero))
    for b in range(len(most)):
        for j in range(MIXED):
            if most[b, j] >= 0:
                of_arounds[most[b, j] * MIXED + j] += grad[b * POOLED + MIXED + j]


@njit(cache=True)
def _multiply(weights: Floats, read: Floats, at: npt.NDArray[np.int32], out: Floats) -> None:
    """Write the products [B, K, N] of weights [B * K * READ] and what is read of each square, 0 on arrows."""
    for b in range(len(at)):
        for s in range(at.shape[1]):
            if at[b, s] >= 0:
                x, y = load(read, at[b, s] * READ), load(read, at[b, s] * READ + COUNT)
                for k in range(out.shape[1]):
                    of, zero = (b * out.shape[1] + k) * READ, splat(0.0)
                    near = multiply_add(load(weights, of + COUNT), y, zero)
                    out[b, k, s] = total(multiply_add(load(weights, of), x, near))


@njit(cache=True)
def _multiply_back(
    grad: Floats, weights: Floats, read: Floats, at: npt.NDArray[np.int32], of_weights: Floats, of_read: Floats
) -> None:
    """Add the gradients of `_multiply`'s inputs. That of an illegal step is 0, which most are."""
    for b in range(len(at)):
        for k in range(grad.shape[1]):
            of = (b * grad.shape[1] + k) * READ
            for s in range(at.shape[1]):
                if grad[b, k, s] != 0.0 and at[b, s] >= 0:
                    factor, to = splat(grad[b, k, s]), at[b, s] * READ
                    for part in range(0, READ, COUNT):
                        x = multiply_add(factor, load(read, to + part), load(of_weights, of + part))
                        store(of_weights, of + part, x)
                        x = multiply_add(factor, load(weights, of + part), load(of_read, to + part))
                        store(of_read, to + part, x)


def _flat(tensor: Tensor) -> Floats:
    array: Floats = tensor.detach().cpu().contiguous().view(-1).numpy()
    return array


def _there(tensors: tuple[Tensor, ...], other: Tensor) -> Any:
    """Tensors on the device of another one: these layers run on the CPU."""
    return (tensor.to(other.device) for tensor in tensors)


class _Sums(torch.autograd.Function):
    """Sums of rows and their ReLU."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, places: Longs) -> Tensor:
        out = torch.empty(len(places), CHANNELS)
        _gather(_flat(table), places, _flat(out))
        ctx.save_for_backward(out)
        ctx.places, ctx.rows = places, len(table)
        return out.to(table.device)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (sums,) = ctx.saved_tensors
        out = torch.zeros(ctx.rows, CHANNELS)
        _scatter(_flat(grads[0]), _flat(sums), ctx.places, _flat(out))
        return out.to(grads[0].device), None


class _Convolution(torch.autograd.Function):
    """A depthwise convolution with its ReLU."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weights: Tensor, bias: Tensor, near: npt.NDArray[np.int32]) -> Tensor:
        out = torch.empty(len(near), COUNT)
        _convolve(_flat(inputs), inputs.shape[1], near, _flat(weights), _flat(bias), _flat(out))
        ctx.save_for_backward(inputs, weights, out)
        ctx.near = near
        return out.to(inputs.device)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        inputs, weights, out = ctx.saved_tensors
        found = torch.zeros(inputs.shape), torch.zeros(weights.shape), torch.zeros(COUNT)
        given = _flat(inputs), inputs.shape[1], ctx.near, _flat(weights), _flat(out), _flat(grads[0])
        _convolve_back(*given, *map(_flat, found))
        return (*_there(found, inputs), None)


class _Pooled(torch.autograd.Function):
    """Means over the largest board, and maxima."""

    @staticmethod
    def forward(ctx: Any, arounds: Tensor, kept: Tensor, board: Longs, boards: int) -> Tensor:
        out, most = torch.zeros(boards, POOLED), np.full((boards, MIXED), -1, np.int32)
        _pool(_flat(arounds), _flat(kept), board, most, _flat(out))
        ctx.board, ctx.most = board, most
        return out.to(arounds.device)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        found = torch.empty(len(ctx.board), MIXED), torch.empty(len(ctx.board), CHANNELS)
        _pool_back(_flat(grads[0]), ctx.board, ctx.most, *map(_flat, found))
        return (*_there(found, grads[0]), None, None)


class _Products(torch.autograd.Function):
    """Products [B, K, N] of weights [B, K, READ] and squares."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, read: Tensor, at: npt.NDArray[np.int32]) -> Tensor:
        out = torch.zeros(*weights.shape[:2], at.shape[1])
        _multiply(_flat(weights), _flat(read), at, out.numpy())
        ctx.save_for_backward(weights, read)
        ctx.at = at
        return out.to(weights.device)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        weights, read = ctx.saved_tensors
        found = torch.zeros(weights.shape), torch.zeros(read.shape)
        grad = grads[0].cpu().contiguous().numpy()
        _multiply_back(grad, _flat(weights), _flat(read), ctx.at, *map(_flat, found))
        return (*_there(found, weights), None)


class _Depthwise(nn.Module):
    """Weights of a depthwise 3x3 convolution, [9, COUNT] by place in the kernel, ranks first."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(9, COUNT)), nn.Parameter(torch.empty(COUNT))
        nn.init.uniform_(self.weight, -1 / 3, 1 / 3)
        nn.init.uniform_(self.bias, -1 / 3, 1 / 3)

    def forward(self, inputs: Tensor, near: npt.NDArray[np.int32]) -> Tensor:
        """[M, C] -> [M, COUNT], of the first channels."""
        found: Tensor = _Convolution.apply(inputs, self.weight, self.bias, near)  # type: ignore[no-untyped-call]
        return found


class StepPolicy(nn.Module):
    """Vectors of where a step begins and ends, and what the hidden units make of them."""

    def __init__(self) -> None:
        super().__init__()
        self.read = nn.Linear(HIDDEN, VECTOR + 2 * READ)
        self.start, self.end = nn.Linear(READ, VECTOR), nn.Linear(READ, VECTOR)
        self.placed = nn.Parameter(torch.zeros(PLACED))
        for weights in (self.read.weight, self.read.bias):
            nn.init.zeros_(weights)

    def forward(
        self, read: Tensor, hidden: Tensor, start: Tensor, squares: npt.NDArray[np.int32], placed: Tensor
    ) -> Tensor:
        """Logits [B, K, N] of steps on boards with hidden units [B, HIDDEN], from squares ``start`` [B, K].

        ``squares`` is `Squares.at` of these boards, for the list of which ``read`` [M, READ] is read; ``placed``
        [N, N] is the index of the bias.
        """
        at = torch.from_numpy(squares).to(read.device).long().gather(1, start).clamp(min=0)
        starts = read.index_select(0, at.flatten()).view(*start.shape, READ)
        scale, of_end, of_start = self.read(hidden).split([VECTOR, READ, READ], 1)
        vector = self.start(starts) * (1 + scale)[:, None]
        weights = vector @ self.end.weight + of_end[:, None]
        own = vector @ self.end.bias + (starts @ of_start[:, :, None]).squeeze(2)
        products: Tensor = _Products.apply(weights, read, squares)  # type: ignore[no-untyped-call]
        logits: Tensor = products + own[:, :, None] + self.placed[placed[start]]
        return logits


@cache
def _placed(height: int, width: int) -> Tensor:
    """int64 [N, N]: index of the bias of (start, end)."""
    square = torch.arange(height * width)
    down, right = (c[None, :] - c[:, None] + MAX_SIDE - 1 for c in (square // width, square % width))
    return down * ACROSS + right


class RaysNet(nn.Module):
    """A net as `nets.Nets` describes it; see the module.

    `move` gives the rows of the mover's amazons alone, [B, 4, N], and `arrow` gives [B, N]. What the heads read is
    normalised over the batch (Ioffe and Szegedy, 2015), which the table's heads take into their weights.
    """

    config: Config
    inputs: Tensor

    def __init__(self, config: RaysConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("inputs", torch.from_numpy(row_inputs()), persistent=False)
        self.first, self.second = nn.Linear(self.inputs.shape[1], config.units), nn.Linear(config.units, CHANNELS)
        self.own = nn.Parameter(torch.zeros(ROWS, CHANNELS))
        self.spread, self.around = _Depthwise(), _Depthwise()
        self.mix_norm, self.pool_norm = (
            nn.BatchNorm1d(count, eps=LEAST_VARIANCE, affine=False) for count in (CHANNELS, POOLED)
        )
        self.mix = nn.Linear(CHANNELS, MIXED)
        self.hidden, self.deeper, self.value = (
            nn.Linear(POOLED, HIDDEN),
            nn.Linear(HIDDEN, HIDDEN),
            nn.Linear(HIDDEN, 1),
        )
        for layer in (self.hidden, self.deeper):
            nn.init.kaiming_normal_(layer.weight)
        for weights in (self.value.weight, self.value.bias):
            nn.init.zeros_(weights)
        self.move_policy, self.arrow_policy = StepPolicy(), StepPolicy()
        self.owner = nn.Linear(READ, 1) if config.owners else None

    def features(self, rows: Tensor) -> Tensor:
        """Features [D, CHANNELS] of the table's rows [D]: the perceptron's, and what a row adds to them by itself."""
        learnt: Tensor = self.second(functional.relu(self.first(self.inputs[rows]))) + self.own[rows]
        return learnt.clamp(-LARGEST, LARGEST)

    def move(self, features: Tensor) -> Answers:
        """Value [B], policy [B, 4, N]."""
        return self._answers(features, len(features))[0]

    def arrow(self, features: Tensor) -> Answers:
        """Value [B], policy [B, N]."""
        return self._answers(features, 0)[1]

    def both(self, move: Tensor, arrow: Tensor) -> tuple[Answers, Answers]:
        """`move` of the one and `arrow` of the other; in training normalised together, as one batch."""
        return self._answers(torch.cat([move, arrow]), len(move))[:2]

    def with_owners(self, move: Tensor, arrow: Tensor) -> tuple[Answers, Answers, Tensor]:
        """`both`, and who will own each square of all these boards, [B, N] in -1..1; 0 on arrows.

        All are 0 for a config without ``owners``.
        """
        return self._answers(torch.cat([move, arrow]), len(move))

    def _answers(self, kinds: Tensor, moves: int) -> tuple[Answers, Answers, Tensor]:
        """See `with_owners`; in 32-bit floats always."""
        with torch.autocast(kinds.device.type, enabled=False):
            return self._answers_of(kinds, moves)

    def _answers_of(self, kinds: Tensor, moves: int) -> tuple[Answers, Answers, Tensor]:
        found, (count, _, height, width) = find_squares(kinds), kinds.shape
        table = self.features(torch.from_numpy(found.rows).to(kinds.device))
        cells: Tensor = _Sums.apply(table, found.places)  # type: ignore[no-untyped-call]
        kept = torch.cat([self.spread(cells, found.near), cells[:, COUNT:]], 1)
        mixed = functional.relu(self.mix(self.mix_norm(kept)))
        arounds = self.around(mixed, found.near)
        pooled: Tensor = _Pooled.apply(arounds, kept, found.board, count)  # type: ignore[no-untyped-call]
        deep = functional.relu(self.deeper(functional.relu(self.hidden(self.pool_norm(pooled)))))
        value = self.value(deep).squeeze(1)
        read, placed = torch.cat([mixed, arounds], 1), _placed(height, width).to(kinds.device)
        standing = kinds[:, 0].flip(1).flatten(1)
        squares = torch.arange(height * width, device=kinds.device)
        own = torch.where(standing[:moves] == OWN, squares, len(squares) - 1).sort(1).values[:, :AMAZONS]
        at = (standing[moves:] == SHOOTS).int().argmax(1, keepdim=True)
        move = self.move_policy(read, deep[:moves], own, found.at[:moves], placed)
        arrow = self.arrow_policy(read, deep[moves:], at, found.at[moves:], placed).squeeze(1)
        owners = torch.zeros(count, height * width, device=kinds.device)
        if self.owner is not None:
            where = (torch.from_numpy(index).to(kinds.device) for index in (found.board, found.square))
            owners = owners.index_put(tuple(where), self.owner(read).squeeze(1).tanh())
        return (value[:moves], move), (value[moves:], arrow), owners


def tabulate(net: RaysNet) -> RayTable:
    """The net as it plays: the features of all keys, rounded, and the heads."""
    with torch.inference_mode():
        features = net.features(torch.arange(ROWS)).cpu()
    weights = {name: tensor.detach().cpu().float() for name, tensor in net.state_dict().items()}
    for layer, norm in (("mix", "mix_norm"), ("hidden", "pool_norm")):
        mean, variance = (weights[f"{norm}.running_{what}"] for what in ("mean", "var"))
        weights[f"{layer}.weight"] = weights[f"{layer}.weight"] * (variance + LEAST_VARIANCE).rsqrt()
        weights[f"{layer}.bias"] = weights[f"{layer}.bias"] - weights[f"{layer}.weight"] @ mean

    def flat(*parts: Tensor) -> Floats:
        return np.concatenate([part.flatten().numpy() for part in parts])

    heads = {name: flat(weights[f"{name}.bias"], weights[f"{name}.weight"]) for name in ("spread", "around")}
    for name in ("mix", "hidden", "deeper"):
        heads[name] = flat(weights[f"{name}.bias"], weights[f"{name}.weight"].T)
    heads["value"] = flat(weights["value.weight"], weights["value.bias"])
    for step in STEPS:
        of = {name.removeprefix(f"{step}_policy."): part for name, part in weights.items() if name.startswith(step)}
        heads |= {f"{step}_{name}": flat(of[f"{name}.bias"], of[f"{name}.weight"].T) for name in ("read", "start")}
        heads[f"{step}_end"] = flat(of["end.weight"], of["end.bias"])
        heads[f"{step}_placed"] = flat(of["placed"])
    return RayTable(np.rint(features.numpy() * SCALE).astype(np.int16), heads)
