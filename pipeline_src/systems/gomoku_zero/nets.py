"""The convolutional nets of self-play: the plain one, the paper's residual one, and the net that knows nothing.

Each maps planes float32 [B, C, H, W] to policy logits float32 [B, N] and values float32 [B] in -1..1 to the side to
move.
"""

from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import pad
from torch.nn.utils.fusion import fuse_conv_bn_eval

from pipeline_src.errors import ZugwerkError
from pipeline_src.jit import njit
from pipeline_src.project.params import Count
from pipeline_src.search.gomoku.line_net import (
    CHANNELS,
    DIRECTIONS,
    HIDDEN,
    LARGEST,
    MIXED,
    OFF,
    POOLED,
    SCALE,
    LineTable,
    windows,
)
from pipeline_src.search.lanes import COUNT, add, larger, load, splat, store, where_positive
from pipeline_src.systems.gomoku_zero.params import LinesParams, NetShape, PlainParams, ResidualParams


class Normed(nn.Module):
    """A square convolution, [B, ``into``, H, W] -> [B, ``filters``, H, W], and what normalises its output."""

    def __init__(self, into: int, filters: int, kernel: int, scale: float | None = 1.0) -> None:
        """Fresh weights.

        Args:
            into: channels that come in.
            filters: channels that go out.
            kernel: odd side of the convolution.
            scale: of the batch norm at the start; None for no batch norm, then the convolution has a bias.
        """
        super().__init__()
        self.convolution = nn.Conv2d(into, filters, kernel, padding=kernel // 2, bias=scale is None)
        self.norm = None if scale is None else nn.BatchNorm2d(filters)
        if self.norm is not None and scale is not None:
            nn.init.constant_(self.norm.weight, scale)

    def forward(self, x: Tensor) -> Tensor:
        """No activation follows."""
        out: Tensor = self.convolution(x)
        return out if self.norm is None else self.norm(out)

    def fold(self) -> None:
        """Make the batch norm of evaluation mode part of the convolution."""
        if self.norm is not None:
            self.convolution, self.norm = fuse_conv_bn_eval(self.convolution, self.norm), None


class PlainConfig(PlainParams, NetShape):
    """The shape of a plain net.

    With ``signed`` the first convolution sees one plane, 1 on own stones and -1 on the other side's. The dense head has
    1x1 filters, then fully connected layers over all cells. Of the convolutional one the policy is 3x3 filters, then a
    3x3 convolution to one plane; the value's hidden layer sees mean and maximum of each of its planes.
    """

    kind: ClassVar[str] = "plain"


class PlainNet(nn.Module):
    """A few full convolutions, then a policy and a value head.

    The shape that popular Gomoku programs use (AlphaZero_Gomoku: 32, 64 and 128 filters of 3x3, four 1x1 filters before
    the policy, two before the value, a hidden layer of 64), with batch norm as an option. The published net of boards
    that grow has the same convolutions; its input is one plane of -1, 0 and 1 (``signed``).
    """

    def __init__(self, config: PlainConfig) -> None:
        super().__init__()
        self.config = config
        cells, scale = config.height * config.width, 1.0 if config.batch_norm else None
        widths = (1 if config.signed else 2 * config.positions + 1, *config.filters)
        self.trunk = nn.ModuleList(Normed(into, filters, 3, scale) for into, filters in pairwise(widths))
        dense = config.head == "dense"
        self.policy_planes = Normed(widths[-1], config.policy_planes, 1 if dense else 3, scale)
        self.policy: nn.Linear | nn.Conv2d = (
            nn.Linear(config.policy_planes * cells, cells)
            if dense
            else nn.Conv2d(config.policy_planes, 1, 3, padding=1)
        )
        self.value_planes = Normed(widths[-1], config.value_planes, 1, scale)
        self.value_hidden = nn.Linear(config.value_planes * (cells if dense else 2), config.value_hidden)
        self.value = nn.Linear(config.value_hidden, 1)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """See the class."""
        positions, dense = self.config.positions, self.config.head == "dense"
        x = planes[:, :1] - planes[:, positions : positions + 1] if self.config.signed else planes
        # Channels last is the order that the convolutions of CPUs and tensor cores work in.
        x = x.contiguous(memory_format=torch.channels_last)
        for convolution in self.trunk:
            x = convolution(x).relu_()
        policy, value = self.policy_planes(x).relu_(), self.value_planes(x).relu_()
        logits: Tensor = self.policy(policy.flatten(1)) if dense else self.policy(policy).flatten(1)
        pooled = value.flatten(1) if dense else torch.cat([value.mean((2, 3)), value.amax((2, 3))], 1)
        result: Tensor = self.value(self.value_hidden(pooled).relu_()).squeeze(1).tanh()
        return logits, result


class ResidualConfig(ResidualParams, NetShape):
    """The shape of a residual net; the defaults are the paper's."""

    kind: ClassVar[str] = "residual"


class ResidualNet(nn.Module):
    """The paper's residual net of 32 convolutions, smaller versions of it, and options that the paper leaves open.

    Sources: Li, He, Wu et al., "Gomoku by Monte Carlo tree search and one deep residual network" (the layers); He,
    Zhang, Ren and Sun, "Deep residual learning for image recognition", CVPR 2016 (the block: two convolutions, the sum
    before the last ReLU; and option A for a change of width: a shortcut that is padded with zeros and has no
    parameters).
    """

    def __init__(self, config: ResidualConfig) -> None:
        super().__init__()
        self.config = config
        cells = config.height * config.width
        self.stem = Normed(2 * config.positions + 1, config.stem_filters, config.stem_kernel)
        widths = [config.stem_filters] + [width for width in config.widths for _ in range(config.blocks)]
        self.blocks = nn.ModuleList(Block(into, filters, config.shortcut) for into, filters in pairwise(widths))
        self.norm = nn.BatchNorm2d(widths[-1])
        self.head = nn.Conv2d(widths[-1], config.head_planes, 1)
        flat = config.head_planes * cells
        self.policy = nn.Linear(flat, cells)
        self.value_hidden = nn.Linear(flat, config.value_hidden) if config.value_hidden else None
        self.value = nn.Linear(config.value_hidden or flat, 1)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """See the class."""
        # Channels last is the order that the convolutions of CPUs and tensor cores work in.
        x = self.stem(planes.contiguous(memory_format=torch.channels_last)).relu_()
        for block in self.blocks:
            x = block(x)
        x = self.head(self.norm(x)).flatten(1)
        if self.config.head_relu:
            x = x.relu()
        logits: Tensor = self.policy(x)
        hidden = x if self.value_hidden is None else self.value_hidden(x).relu()
        value: Tensor = self.value(hidden).squeeze(1).tanh()
        return logits, value


class Block(nn.Module):
    """Two 3x3 convolutions plus a shortcut, [B, ``into``, H, W] -> [B, ``filters``, H, W]."""

    def __init__(self, into: int, filters: int, shortcut: Literal["pad", "project"]) -> None:
        super().__init__()
        self.grow = filters - into
        # At scale 0 a block starts as the identity, and deep trunks learn from the first step. New channels would then
        # stay zero for ever, since a ReLU has no gradient at 0.
        self.one, self.two = Normed(into, filters, 3), Normed(filters, filters, 3, 1.0 if self.grow else 0.0)
        self.project = Normed(into, filters, 1) if self.grow and shortcut == "project" else None

    def forward(self, x: Tensor) -> Tensor:
        """Return the input of the next block."""
        out: Tensor = self.two(self.one(x).relu_())
        if self.project is not None:
            x = self.project(x)
        elif self.grow:
            x = pad(x, (0, 0, 0, 0, 0, self.grow))
        return (out + x).relu_()


class UniformConfig(NetShape):
    """The board."""

    kind: ClassVar[str] = "uniform"

    positions: Count = 1
    """Positions of history in the planes, of which the net reads none."""


class UniformNet(nn.Module):
    """The same for every position: values of 0, and logits that differ by next to nothing.

    The small differences put the cells in a scrambled order. Without them, all ties would go to the top row.
    """

    logits: Tensor

    def __init__(self, config: UniformConfig) -> None:
        super().__init__()
        self.config = config
        cells = config.height * config.width
        order = torch.from_numpy(np.random.default_rng(0).permutation(cells))
        self.register_buffer("logits", order.float() * (1e-3 / cells))

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Policy logits [B, N] and values [B] of planes [B, C, H, W]."""
        return self.logits.expand(len(planes), -1), planes.new_zeros(len(planes))


# The line net in torch: a perceptron turns line windows into features, and small heads read their sums.
#
# Shape and source: `search.gomoku.line_net`, where the trained net plays from a table. Here only the rows of the
# windows in a batch go through the perceptron, a few thousand for all cells together.


Floats = npt.NDArray[np.float32]
LEAST_VARIANCE = 1e-3
"""Added to the variance in the normalisation, so that the table's rounding is at most thirty times as large."""


LAYERS = ("spread", "mix", "around", "hidden", "deeper", "policy")
"""Layers of the heads whose weights a table has by input and then output."""
NORMS = {"mix": "kept_norm", "hidden": "pooled_norm"}  # Normalisation before a layer, by the layer


class LinesConfig(LinesParams, NetShape):
    """Board and shape."""

    kind: ClassVar[str] = "lines"

    positions: Count = 1
    """Number of positions of history in the input planes, of which the net reads the present one."""


class LinesNet(nn.Module):
    """See the module. The policy and the value begin at zero, so that a fresh net prefers no move.

    What the heads read is normalised over the batch (Ioffe and Szegedy, "Batch normalization", ICML 2015), which the
    table's heads take into their weights. Without that, the policy's learning moves the pooled features so far that
    within a few hundred steps nearly all hidden units of the value are below zero for good.
    """

    digits: Tensor
    given: Tensor | None
    """Features [K, CHANNELS] of a net that began as a table (`from_table`): the perceptron's are added to them."""

    def __init__(self, config: LinesConfig) -> None:
        super().__init__()
        self.config = config
        found = windows(config.window)
        self.register_buffer("digits", torch.from_numpy(found.digits).long(), persistent=False)
        self.register_buffer("given", None)
        self.rows = found.rows
        units = config.units
        self.first, self.second = nn.Linear(4 * config.window, units), nn.Linear(units, units)
        self.third = nn.Linear(units, CHANNELS)
        self.spread = nn.Conv2d(COUNT, COUNT, 3, padding=1, groups=COUNT)
        self.kept_norm, self.pooled_norm = (
            nn.BatchNorm1d(count, eps=LEAST_VARIANCE, affine=False) for count in (CHANNELS, POOLED)
        )
        self.mix = nn.Linear(CHANNELS, MIXED)
        self.policy = nn.Linear(HIDDEN, 2 * MIXED)
        self.around = nn.Conv2d(MIXED, MIXED, 3, padding=1, groups=MIXED)
        self.hidden, self.deeper = nn.Linear(POOLED, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.value = nn.Linear(HIDDEN, 1)
        for layer in (self.hidden, self.deeper):
            nn.init.kaiming_normal_(layer.weight)  # with torch's own, smaller ones the policy would hold back the value
        for weights in (self.policy.weight, self.policy.bias, self.value.weight, self.value.bias):
            nn.init.zeros_(weights)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Policy logits [B, N] and values [B] of planes [B, C, H, W]."""
        count, _, height, width = planes.shape
        used, places = self._windows(planes)
        table = self.features(used).float()
        cells = _sums(table, places).view(count, height, width, CHANNELS)
        spread = functional.relu(self.spread(cells[..., :COUNT].permute(0, 3, 1, 2))).permute(0, 2, 3, 1)
        kept = torch.cat([spread, cells[..., COUNT:]], 3)
        mixed = functional.relu(self.mix(self.kept_norm(kept.flatten(0, 2)).view(kept.shape)))
        around = functional.relu(self.around(mixed.permute(0, 3, 1, 2)))
        pooled = torch.cat([around.mean((2, 3)), around.amax((2, 3)), kept.mean((1, 2))], 1)
        units = functional.relu(self.deeper(functional.relu(self.hidden(self.pooled_norm(pooled)))))
        read = torch.cat([mixed, around.permute(0, 2, 3, 1)], 3).flatten(1, 2)
        logits: Tensor = (read @ self.policy(units)[:, :, None]).squeeze(2)
        value: Tensor = self.value(units).squeeze(1).tanh()
        return logits, value

    def features(self, rows: Tensor) -> Tensor:
        """Features [D, CHANNELS] of the windows of rows [D]."""
        seen = functional.one_hot(self.digits[rows], 4).flatten(1).float()
        hidden = functional.relu(self.second(functional.relu(self.first(seen))))
        learnt: Tensor = self.third(hidden)
        features = learnt if self.given is None else self.given[rows] + learnt
        return features.clamp(-LARGEST, LARGEST)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Torch's, with room for the features that a state has and a fresh net has not."""
        if f"{prefix}given" in state_dict:
            self.given = torch.empty(len(self.digits), CHANNELS)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _windows(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Rows [D] of the windows on some boards, and the places [B * N, 4] of each cell's four among them."""
        own, other = planes[:, 0], planes[:, self.config.positions]
        board = (own + 2 * other).to("cpu", torch.int8).contiguous().numpy()  # 1 own, 2 other
        place = np.full(len(self.digits), -1, np.int32)
        used, places = np.empty(len(self.digits), np.int64), np.empty((board.size, 4), np.int64)
        count = _find_windows(board, self.config.window, self.rows, place, used, places)
        return torch.from_numpy(used[:count]).to(planes.device), torch.from_numpy(places).to(planes.device)


@njit(cache=True)
def _find_windows(
    boards: npt.NDArray[np.int8],
    length: int,
    rows: npt.NDArray[np.int32],
    place: npt.NDArray[np.int32],
    used: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
) -> int:
    """Find the windows of all cells by going along the lines; return the number of different rows.

    Args:
        boards: int8 [B, H, W], digits of the cells.
        length: of a window.
        rows: see `Windows.rows`.
        place: [K], -1; becomes the place of each row among those used.
        used: [K]; its first so many become those rows.
        places: int64 [B * N, 4]: become those of the four rows of each cell.
    """
    count, (size, height, width), reach = 0, boards.shape, length // 2
    for b in range(size):
        for d in range(4):
            down, right = DIRECTIONS[d]
            for top in range(height):
                for left in range(width):
                    r, c = top - down, left - right
                    if 0 <= r < height and 0 <= c < width:
                        continue  # not where a line begins
                    code = 0
                    for p in range(length):  # the window around the cell before it
                        code |= OFF << 2 * p
                    for p in range(reach):
                        r, c = top + p * down, left + p * right
                        digit = OFF
                        if 0 <= r < height and 0 <= c < width:
                            digit = int(boards[b, r, c])
                        code = code & ~(3 << 2 * (reach + 1 + p)) | digit << 2 * (reach + 1 + p)
                    r, c = top, left
                    while 0 <= r < height and 0 <= c < width:
                        ahead, beside = r + reach * down, c + reach * right
                        digit = OFF
                        if 0 <= ahead < height and 0 <= beside < width:
                            digit = int(boards[b, ahead, beside])
                        code = code >> 2 | digit << 2 * (length - 1)
                        row = rows[code]
                        if place[row] < 0:
                            place[row], used[count] = count, row
                            count += 1
                        places[(b * height + r) * width + c, d] = place[row]
                        r, c = r + down, c + right
    return count


@njit(cache=True)
def _gather(table: Floats, places: npt.NDArray[np.int64], out: Floats) -> None:
    """Write the sums [M * CHANNELS] of the rows of a flat table at places [M, 4], 0 for those below 0."""
    zero = splat(0.0)
    for m in range(len(places)):
        for part in range(0, CHANNELS, COUNT):
            x = load(table, places[m, 0] * CHANNELS + part)
            for d in range(1, 4):
                x = add(x, load(table, places[m, d] * CHANNELS + part))
            store(out, m * CHANNELS + part, larger(x, zero))


@njit(cache=True)
def _scatter(grad: Floats, sums: Floats, places: npt.NDArray[np.int64], out: Floats) -> None:
    """Add the gradients [M * CHANNELS] of the sums above 0 to the four rows of each."""
    for m in range(len(places)):
        for part in range(0, CHANNELS, COUNT):
            at = m * CHANNELS + part
            x = where_positive(load(sums, at), load(grad, at))
            for d in range(4):
                row = places[m, d] * CHANNELS + part
                store(out, row, add(load(out, row), x))


class _Sums(torch.autograd.Function):
    """Sums of rows and their ReLU; torch's own backward pass sorts the rows, which takes most of a training step."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, places: Tensor) -> Tensor:
        out = torch.empty(len(places), CHANNELS)
        _gather(_flat(table), places.numpy(), _flat(out))
        ctx.save_for_backward(places, out)
        ctx.rows = len(table)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        places, sums = ctx.saved_tensors
        out = torch.zeros(ctx.rows, CHANNELS)
        _scatter(_flat(grads[0]), _flat(sums), places.numpy(), _flat(out))
        return out, None


def _flat(tensor: Tensor) -> Floats:
    array: Floats = tensor.detach().contiguous().view(-1).numpy()
    return array


def _sums(table: Tensor, places: Tensor) -> Tensor:
    """ReLU of the sums [M, CHANNELS] of the rows of a table [D, CHANNELS] at places [M, 4]."""
    if table.is_cuda:
        return functional.relu(functional.embedding_bag(places, table, mode="sum"))
    sums: Tensor = _Sums.apply(table, places)  # type: ignore[no-untyped-call]
    return sums


def tabulate(net: LinesNet) -> LineTable:
    """The net as it plays: the features of all windows, rounded, and the heads."""
    with torch.inference_mode():
        features = net.features(torch.arange(len(net.digits), device=net.digits.device)).cpu()

    weights = {name: tensor.detach().cpu().float() for name, tensor in net.state_dict().items()}

    def layer(name: str) -> Floats:
        """Bias and weights, by input or place in the kernel, then by output."""
        return np.concatenate([weights[f"{name}.bias"].numpy(), weights[f"{name}.weight"].flatten(1).T.numpy().ravel()])

    norms = []
    for name, norm in NORMS.items():
        mean, variance = (weights[f"{norm}.running_{what}"] for what in ("mean", "var"))
        weights[f"{name}.weight"] = weights[f"{name}.weight"] * (variance + LEAST_VARIANCE).rsqrt()
        weights[f"{name}.bias"] = weights[f"{name}.bias"] - weights[f"{name}.weight"] @ mean
        norms += [mean.numpy(), variance.numpy()]
    heads = {name: layer(name) for name in LAYERS}
    heads["value"] = np.concatenate([weights["value.weight"].flatten().numpy(), weights["value.bias"].numpy()])
    heads["norms"] = np.concatenate(norms)
    config, table = net.config, np.rint(features.numpy() * SCALE).astype(np.int16)
    return LineTable(table, heads, config.window, config.height, config.width)


def from_table(made: LineTable, config: LinesConfig) -> LinesNet:
    """A net that answers as a table does and can be trained on; `tabulate` makes that table of it again.

    The table's features stay as they are. The perceptron, whose last layer begins at 0, learns what to add to them.

    Raises:
        ZugwerkError: a table for other windows, or one that does not have the normalisation of its training.
    """
    norms = made.heads.get("norms", np.zeros(0))
    if made.window != config.window:
        raise ZugwerkError(f"a table for windows of {made.window} cells, but gomoku_net has {config.window}")
    if norms.shape != (2 * (CHANNELS + POOLED),) or not np.isfinite(norms).all():
        raise ZugwerkError("the table does not have the means and variances of its training; export its model again")
    net, heads = LinesNet(config), {name: torch.from_numpy(weights) for name, weights in made.heads.items()}
    net.given = torch.from_numpy(made.table.astype(np.float32) / SCALE)
    with torch.no_grad():
        for part in net.third.parameters():
            part.zero_()
        for name in LAYERS:
            layer: Any = getattr(net, name)
            count = len(layer.bias)
            layer.bias.copy_(heads[name][:count])
            layer.weight.copy_(heads[name][count:].view(-1, count).T.reshape(layer.weight.shape))
        net.value.weight.copy_(heads["value"][None, :-1])
        net.value.bias.copy_(heads["value"][-1:])
        at = 0
        for name, norm in NORMS.items():
            layer, normed = getattr(net, name), getattr(net, norm)
            mean, variance = heads["norms"][at : at + 2 * layer.in_features].view(2, -1)
            at += 2 * layer.in_features
            layer.bias += layer.weight @ mean
            layer.weight *= (variance + LEAST_VARIANCE).sqrt()
            normed.running_mean.copy_(mean)
            normed.running_var.copy_(variance)
    return net.eval()
