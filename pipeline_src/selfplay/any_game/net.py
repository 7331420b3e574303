"""The net of `search.grid_net` in torch, and batches of a window for its training.

Only the windows in a batch go through the perceptron.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import log_softmax

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.kernels import row
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import njit
from pipeline_src.learning.torch_state import load_torch
from pipeline_src.search.grid_net import (
    FEATURES,
    HIDDEN,
    LARGEST,
    MIXED,
    POOLED,
    READ,
    UNITS,
    VECTOR,
    WANTED,
    Plan,
    Shape,
    plan_of,
    row_inputs,
    see,
    symmetric_maps,
    write_keys,
)
from pipeline_src.selfplay import train
from pipeline_src.selfplay.params import TrainParams
from pipeline_src.selfplay.window import SelfPlayGames, replay

ILLEGAL = -1e9  # Logit of what is no step
LEAST_VARIANCE = 1e-3
"""Added to the variance in the normalisation, so that the table's rounding is at most thirty times as large."""

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


class Batch(NamedTuple):
    """B positions with S steps at most; D windows that differ."""

    rows: Tensor  # int64 [D]: windows, as rows of the table
    places: Tensor  # int64 [B * N, directions]: where each cell's windows are among them
    side: Tensor  # int64 [B]: side to move
    source: Tensor  # int64 [B, S]: cells of a step, -1 for none; likewise `target`
    target: Tensor
    legal: Tensor  # bool [B, S]
    policy: Tensor  # float32 [B, S]: the search's
    value: Tensor  # float32 [B]: how the game ended for the side to move, by result and margin


class GridModel(nn.Module):
    """The net for one board. What the heads read is normalised over the batch (Ioffe and Szegedy, 2015)."""

    inputs: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.register_buffer("inputs", torch.from_numpy(row_inputs(shape)), persistent=False)
        self.first, self.second = nn.Linear(self.inputs.shape[1], UNITS), nn.Linear(UNITS, FEATURES)
        self.cell = nn.Parameter(torch.zeros(2, shape.cells, FEATURES))
        self.mix_norm, self.pool_norm = (
            nn.BatchNorm1d(count, eps=LEAST_VARIANCE, affine=False) for count in (FEATURES, POOLED)
        )
        self.mix, self.around = nn.Linear(FEATURES, MIXED), nn.Conv2d(MIXED, MIXED, 3, padding=1)
        self.hidden, self.deeper = nn.Linear(POOLED, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.value, self.read = nn.Linear(HIDDEN, 1), nn.Linear(HIDDEN, WANTED)
        self.source, self.target = nn.Linear(READ, VECTOR), nn.Linear(READ, VECTOR)
        self.placed = nn.Parameter(torch.zeros((2 * shape.height - 1) * (2 * shape.width - 1)))
        self.bias = nn.Parameter(torch.zeros(shape.cells))
        for layer in (self.hidden, self.deeper):
            nn.init.kaiming_normal_(layer.weight)
        for layer in (self.value, self.read):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Values [B] before their tanh, and logits [B, S]; those of illegal steps mean nothing."""
        height, width, cells = self.shape.height, self.shape.width, self.shape.cells
        table = self.second(functional.relu(self.first(self.inputs[batch.rows]))).clamp(-LARGEST, LARGEST)
        sums = functional.embedding_bag(batch.places, table, mode="sum").view(-1, cells, FEATURES)
        kept = functional.relu(sums + self.cell.clamp(-LARGEST, LARGEST)[batch.side])
        mixed = functional.relu(self.mix(self.mix_norm(kept.view(-1, FEATURES)))).view(-1, height, width, MIXED)
        around = functional.relu(self.around(mixed.permute(0, 3, 1, 2))).permute(0, 2, 3, 1).reshape(-1, cells, MIXED)
        pooled = torch.cat([around.mean(1), around.amax(1), kept.mean(1)], 1)
        deep = functional.relu(self.deeper(functional.relu(self.hidden(self.pool_norm(pooled)))))
        read = torch.cat([mixed.reshape(-1, cells, MIXED), around], 2)
        return self.value(deep).squeeze(1), self._logits(batch, read, deep)

    def _logits(self, batch: Batch, read: Tensor, deep: Tensor) -> Tensor:
        scale, of_target, of_source, passes = self.read(deep).split([VECTOR, READ, READ, WANTED - VECTOR - 2 * READ], 1)
        source, target = batch.source, batch.target
        ends = (read @ of_target[:, :, None]).squeeze(2) + self.bias
        logits = torch.where(target >= 0, ends.gather(1, target.clamp(min=0)), passes[:, :1])
        if not bool((source >= 0).any()):  # gradients of 0, since the optimizer keeps a state of all weights
            unused = (*self.source.parameters(), *self.target.parameters(), self.placed)
            logits = logits + 0.0 * torch.stack([weights.sum() for weights in unused]).sum()
        else:
            height, width = self.shape.height, self.shape.width
            s, t = source.clamp(min=0), target.clamp(min=0)
            starts, vectors = (read @ of_source[:, :, None]).squeeze(2), self.source(read) * (1 + scale)[:, None]
            both = (vectors @ self.target(read).transpose(1, 2)).flatten(1).gather(1, s * self.shape.cells + t)
            down, right = t // width - s // width + height - 1, t % width - s % width + width - 1
            more = starts.gather(1, s) + both + self.placed[down * (2 * width - 1) + right]
            logits = logits + torch.where(source >= 0, more, 0.0)
        return logits


def carried_over(model: Path, old: Shape, new: Shape) -> GridModel:
    """A model for another board: cells keep how far their edges are, and two cells how far one is from the other.

    Raises:
        ZugwerkError: the boards have cells of other owners, or other lines, or the file is damaged.
    """
    if (old.owners, old.lines, old.classes) != (new.owners, new.lines, new.classes):
        raise ZugwerkError(
            f"{model}: a net for owners {old.owners}, lines {old.lines}, alike {old.classes}; the game has owners "
            f"{new.owners}, lines {new.lines}, alike {new.classes}"
        )
    net, weights = GridModel(new), load_model(model, GridModel(old)).state_dict()
    down, right = _along(old.height, new.height), _along(old.width, new.width)
    cells = torch.from_numpy((down[:, None] * old.width + right).ravel())
    below, beyond = _apart(old.height, new.height), _apart(old.width, new.width)
    apart = torch.from_numpy((below[:, None] * (2 * old.width - 1) + beyond).ravel())
    moved = {"cell": weights["cell"][:, cells], "bias": weights["bias"][cells], "placed": weights["placed"][apart]}
    net.load_state_dict(weights | moved)
    return net


def load_model(path: Path, net: GridModel) -> GridModel:
    """Load a model's weights into ``net``.

    Raises:
        ZugwerkError: the file is damaged, or of another board.
    """
    try:
        net.load_state_dict(load_torch(path.read_bytes()))
    except Exception as error:  # a damaged file makes the unpickler raise anything
        raise ZugwerkError(f"{path}: damaged ({type(error).__name__}); learn in another folder") from None
    return net


def _along(old: int, new: int) -> Longs:
    """Places on a line of ``old`` cells that are as far from the nearer end as those of one of ``new`` cells."""
    at = np.arange(new)
    return np.where(at < new / 2, np.minimum(at, (old - 1) // 2), np.maximum(old - new + at, old // 2))


def _apart(old: int, new: int) -> Longs:
    """Numbers of the distances -(old - 1) to old - 1 that are nearest to those on a line of ``new`` cells."""
    return np.asarray(np.clip(np.arange(1 - new, new), 1 - old, old - 1) + old - 1, np.int64)


def weights_in(net: GridModel) -> dict[str, Floats]:
    """The weights as `search.grid_net` plays with them; normalisations go into the layers behind them."""
    state = {name: tensor.detach().cpu().float() for name, tensor in net.state_dict().items()}
    for layer, norm in (("mix", "mix_norm"), ("hidden", "pool_norm")):
        mean, variance = (state[f"{norm}.running_{what}"] for what in ("mean", "var"))
        state[f"{layer}.weight"] = state[f"{layer}.weight"] * (variance + LEAST_VARIANCE).rsqrt()
        state[f"{layer}.bias"] = state[f"{layer}.bias"] - state[f"{layer}.weight"] @ mean

    def flat(*parts: Tensor) -> Floats:
        return np.concatenate([part.flatten().numpy() for part in parts])

    names = ("first", "second", "mix", "hidden", "deeper", "value", "read", "source")
    found = {name: flat(state[f"{name}.bias"], state[f"{name}.weight"].T) for name in names}
    found["value"] = flat(state["value.weight"], state["value.bias"])
    found["around"] = flat(state["around.bias"], state["around.weight"].permute(2, 3, 1, 0))
    found["target"] = flat(state["target.weight"], state["target.bias"])
    return found | {name: flat(state[name]) for name in ("cell", "placed", "bias")}


@njit(cache=True)
def _cut(
    states: Any,
    plan: Plan,
    rows: Longs,
    which: Longs,
    maps: Ints,
    room: Ints,
    symbols: npt.NDArray[np.uint8],
    keys: Ints,
    among: Ints,
    found: Longs,
    places: Longs,
    sides: Longs,
    source: Longs,
    target: Longs,
    counts: Longs,
) -> int:
    """Fill ``found``, ``places`` [B, N * directions], ``sides``, ``source``, ``target`` [B, S], ``counts``; return D.

    ``symbols`` is uint8 [2, N + 1] with zeros at its end; ``among`` int32 is -1 for all rows of the table, before and
    after.
    """
    d = 0
    for b in range(len(rows)):
        state, moved_to = row(states, rows[b]), maps[which[b]]
        see(state, plan.symbols, symbols[0])
        for cell in range(len(moved_to)):
            symbols[1, moved_to[cell]] = symbols[0, cell]
        sides[b] = kernels.to_play(state)
        write_keys(plan, sides[b], symbols[1], keys)
        for i in range(len(keys)):
            if among[keys[i]] < 0:
                among[keys[i]], found[d] = d, keys[i]
                d += 1
            places[b, i] = among[keys[i]]
        counts[b] = kernels.write_steps(state, room)
        for i in range(counts[b]):
            start, end = kernels.squares(state, room[i])
            source[b, i] = moved_to[start] if start >= 0 else -1
            target[b, i] = moved_to[end] if end >= 0 else source[b, i]
    for i in range(d):
        among[found[i]] = -1
    return d


def _margins(games: SelfPlayGames, states: Any, game: Any) -> Floats:
    """The margin by which each position's game ended, for its side to move, float32 [R]."""
    of_first = np.empty(len(games), np.float32)
    for g, last in enumerate(np.cumsum(games.searched) - 1):
        end = copy_state(row(states, last))
        kernels.play_step(end, int(games.actions[games.offsets[g + 1] - 1]))
        of_first[g] = game.margin(end) * (1 - 2 * end.turn[0])
    return np.asarray(np.repeat(of_first, games.searched) * (1 - 2 * states.turn[:, 0]), np.float32)


class Batches(train.Batches):
    """See `selfplay.train.Batches`."""

    value: Tensor
    """float32 [R]."""

    def __init__(
        self,
        games: SelfPlayGames,
        game: Any,
        shape: Shape,
        params: TrainParams,
        *,
        seed: int,
        count: int,
        margin: float = 0.0,
    ) -> None:
        """See `selfplay.train.Batches`; ``margin`` is that of the setting.

        Raises:
            ZugwerkError: there are no positions, or a step is not legal.
        """
        found = replay(games, game)
        super().__init__(found.generation, params, seed=seed, count=count)
        value = found.value
        if margin:
            value = np.asarray((1 - margin) * value + margin * _margins(games, found.states, game), np.float32)
        self._states, self._policy, self._value = found.states, found.policy, value
        self._plan, self._maps = plan_of(shape), symmetric_maps(shape)
        self.which = len(self._maps) if params.augment else 1
        self._among = np.full(2 * shape.tables, -1, np.int32)
        self._windows = (shape.cells, len(shape.lines))
        self.register_buffer("value", torch.from_numpy(value), persistent=False)

    def cut(self, rows: npt.NDArray[np.int64], which: npt.NDArray[np.int64]) -> Batch:
        """See `selfplay.train.Batches`."""
        (cells, lines), most, count = self._windows, self._policy.shape[1], len(rows)
        found, places = np.empty(count * cells * lines, np.int64), np.empty((count, cells * lines), np.int64)
        source, target = np.full((2, count, most), -1, np.int64)
        (counts, sides), symbols = np.empty((2, count), np.int64), np.zeros((2, cells + 1), np.uint8)
        room, keys = np.empty(most, np.int32), np.empty(cells * lines, np.int32)
        given = self._states, self._plan, rows, which, self._maps, room, symbols, keys, self._among
        windows = _cut(*given, found, places, sides, source, target, counts)
        most = int(counts.max(initial=1))
        legal = np.arange(most) < counts[:, None]
        steps = source[:, :most], target[:, :most], legal, self._policy[rows, :most], self._value[rows]
        arrays = found[:windows], places.reshape(-1, lines), sides, *map(np.ascontiguousarray, steps)
        return Batch(*(torch.from_numpy(array).to(self.value.device) for array in arrays))

    def answer(self, net: Any, batch: Batch) -> train.Answer:
        """See `selfplay.train.Batches`."""
        value, logits = net(batch)
        log_p = log_softmax(logits.masked_fill(~batch.legal, ILLEGAL), dim=1)
        return train.Answer(log_p, batch.policy, value.mul(0.5).tanh(), batch.value)

    def arrays(self) -> Iterable[npt.NDArray[Any]]:
        """See `selfplay.train.Batches`; boards and policies identify the games."""
        return self._states.board, self._policy, self._value, self.generation
