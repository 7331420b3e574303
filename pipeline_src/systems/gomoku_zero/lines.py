"""The line net in torch: a perceptron turns line windows into features, and small heads read their sums.

Shape and source: `search.gomoku.line_net`, where the trained net plays from a table. Here only the rows of the windows
in a batch go through the perceptron, a few thousand for all cells together.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_src.jit import njit
from pipeline_src.jit.lanes import COUNT, add, load, store
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

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class LinesConfig:
    """Board and shape."""

    kind: ClassVar[str] = "lines"

    height: int = 15
    width: int = 15
    positions: int = 1
    """Number of positions of history in the input planes, of which the net reads the present one."""
    window: int = 9
    """Cells of a window."""
    units: int = 96
    """Units of each of the perceptron's two hidden layers."""


class LinesNet(nn.Module):
    """See the module. The policy and the value begin at zero, so that a fresh net prefers no move."""

    digits: Tensor
    rows: Tensor

    def __init__(self, config: LinesConfig) -> None:
        super().__init__()
        self.config = config
        found = windows(config.window)
        self.register_buffer("digits", torch.from_numpy(found.digits).long(), persistent=False)
        self.register_buffer("rows", torch.from_numpy(found.rows).long(), persistent=False)
        units = config.units
        self.first, self.second = nn.Linear(4 * config.window, units), nn.Linear(units, units)
        self.third = nn.Linear(units, CHANNELS)
        self.spread = nn.Conv2d(COUNT, COUNT, 3, padding=1, groups=COUNT)
        self.mix = nn.Linear(CHANNELS, MIXED)
        self.policy = nn.Linear(MIXED, 1, bias=False)
        self.around = nn.Conv2d(MIXED, MIXED, 3, padding=1, groups=MIXED)
        self.hidden, self.value = nn.Linear(POOLED, HIDDEN), nn.Linear(HIDDEN, 1)
        for weights in (self.policy.weight, self.value.weight, self.value.bias):
            nn.init.zeros_(weights)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Policy logits [B, N] and values [B] of planes [B, C, H, W]."""
        count, _, height, width = planes.shape
        rows = self.rows[self._codes(planes)].flatten()
        used = torch.zeros(len(self.digits), dtype=torch.long, device=rows.device)
        used[rows] = 1
        place = used.cumsum(0) - 1  # of each used row among them
        table = self.features(used.nonzero().squeeze(1))
        sums = _sums(table.float(), place[rows].view(-1, 4))
        cells = functional.relu(sums).view(count, height, width, CHANNELS)
        spread = functional.relu(self.spread(cells[..., :COUNT].permute(0, 3, 1, 2))).permute(0, 2, 3, 1)
        kept = torch.cat([spread, cells[..., COUNT:]], 3)
        mixed = functional.relu(self.mix(kept))
        logits: Tensor = self.policy(mixed).flatten(1)
        around = functional.relu(self.around(mixed.permute(0, 3, 1, 2)))
        pooled = torch.cat([around.mean((2, 3)), around.amax((2, 3)), kept.mean((1, 2))], 1)
        value: Tensor = self.value(functional.relu(self.hidden(pooled))).squeeze(1).tanh()
        return logits, value

    def features(self, rows: Tensor) -> Tensor:
        """Features [D, CHANNELS] of the windows of rows [D]."""
        seen = functional.one_hot(self.digits[rows], 4).flatten(1).float()
        hidden = functional.relu(self.second(functional.relu(self.first(seen))))
        features: Tensor = self.third(hidden).clamp(-LARGEST, LARGEST)
        return features

    def _codes(self, planes: Tensor) -> Tensor:
        """Codes of the windows, int64 [B, H, W, 4]."""
        length, reach = self.config.window, self.config.window // 2
        height, width = planes.shape[2:]
        board = (planes[:, 0] + 2 * planes[:, self.config.positions]).int()  # 1 own, 2 other
        board = functional.pad(board, (reach, reach, reach, reach), value=OFF)
        codes = torch.zeros(len(planes), height, width, 4, dtype=torch.int32, device=planes.device)
        for d, (down, right) in enumerate(DIRECTIONS):
            for p in range(length):
                top, left = reach + (p - reach) * down, reach + (p - reach) * right
                codes[..., d] += board[:, top : top + height, left : left + width] << 2 * p
        return codes.long()


@njit(cache=True)
def _gather(table: Floats, places: npt.NDArray[np.int64], out: Floats) -> None:
    """Write the sums [M * CHANNELS] of the rows of a flat table at places [M, 4]."""
    for m in range(len(places)):
        for part in range(0, CHANNELS, COUNT):
            x = load(table, places[m, 0] * CHANNELS + part)
            for d in range(1, 4):
                x = add(x, load(table, places[m, d] * CHANNELS + part))
            store(out, m * CHANNELS + part, x)


@njit(cache=True)
def _scatter(grad: Floats, places: npt.NDArray[np.int64], out: Floats) -> None:
    """Add the gradients [M * CHANNELS] of sums to the four rows of each."""
    for m in range(len(places)):
        for part in range(0, CHANNELS, COUNT):
            x = load(grad, m * CHANNELS + part)
            for d in range(4):
                at = places[m, d] * CHANNELS + part
                store(out, at, add(load(out, at), x))


class _Sums(torch.autograd.Function):
    """Sums of rows; torch's own backward pass sorts the rows first, which takes most of a training step."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        ctx.rows = len(table)
        out = torch.empty(len(places), CHANNELS)
        _gather(table.detach().contiguous().view(-1).numpy(), places.numpy(), out.view(-1).numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (places,) = ctx.saved_tensors
        out = torch.zeros(ctx.rows, CHANNELS)
        _scatter(grads[0].contiguous().view(-1).numpy(), places.numpy(), out.view(-1).numpy())
        return out, None


def _sums(table: Tensor, places: Tensor) -> Tensor:
    """Sums [M, CHANNELS] of the rows of a table [D, CHANNELS] at places [M, 4]."""
    if table.is_cuda:
        return functional.embedding_bag(places, table, mode="sum")
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

    heads = {name: layer(name) for name in ("spread", "mix", "around", "hidden")}
    heads["policy"] = weights["policy.weight"].flatten().numpy()
    heads["value"] = np.concatenate([weights["value.weight"].flatten().numpy(), weights["value.bias"].numpy()])
    return LineTable(np.rint(features.numpy() * SCALE).astype(np.int16), heads, net.config.window)
