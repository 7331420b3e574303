"""Positions of each training step of the depth nets, as a function of the seed and the number of the step alone.

So a resumed training sees exactly the same batches. Planes are made for one batch at a time from the memory-mapped
arrays.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pipeline_src import streams
from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.ranks import Share
from pipeline_src.learning.symmetry import COUNT, board_maps
from pipeline_src.systems.search_depth.balance import Balanced
from pipeline_src.systems.search_depth.head import SEARCHES
from pipeline_src.systems.search_depth.planes import PLANES, Inputs, depth_planes
from pipeline_src.systems.search_depth.positions import DepthPositions

ALL = Share()
Floats = npt.NDArray[np.float32]


class DepthBatch(NamedTuple):
    """B positions as a net takes them."""

    planes: Tensor
    """float32 [B, C, H, W]."""
    labels: Tensor
    """int64 [B], layers."""
    weights: Tensor
    """float32 [B], in the loss."""
    costs: Tensor
    """float32 [B, K + 1, 2], see `cost_targets`; [B, 0, 2] for other heads."""


class DepthBatches:
    """The batches of a training."""

    def __init__(
        self,
        positions: DepthPositions,
        balanced: Balanced,
        *,
        inputs: Inputs,
        batch: int,
        symmetries: bool,
        seed: int,
        costs: bool = False,
    ) -> None:
        """``batch`` rows a step; all come once before one comes again.

        Args:
            positions: the data set.
            balanced: what is drawn from.
            inputs: planes that the net sees.
            batch: rows.
            symmetries: each row under one drawn anew.
            seed: the pipeline's.
            costs: whether the net has the head ``costs``.

        Raises:
            ZugwerkError: costs are asked for and the clock of the data set was not one of nodes.
        """
        self.costs = cost_targets(positions) if costs else np.empty((len(positions), 0, 2), np.float32)
        self.positions, self.balanced, self.inputs = positions, balanced, inputs
        self.batch, self.symmetries, self.seed = batch, symmetries, seed
        self.lowest, self.shape = positions.classes[0], (PLANES[inputs], *positions.n.shape[1:])
        self._order: tuple[int, npt.NDArray[np.int64]] = (-1, np.empty(0, np.int64))

    def __len__(self) -> int:
        """Rows, the made ones included."""
        return len(self.balanced.labels)

    def step(self, number: int, share: Share = ALL) -> DepthBatch:
        """A process's share of the batch of a step, counted from 0."""
        drawn = share.of(np.concatenate([self._drawn(at) for at in self._spans(number)]))
        real = drawn < len(self.balanced.rows)
        planes = np.empty((len(drawn), *self.shape), np.float32)
        which = np.zeros(len(drawn), np.int64)
        which[real] = self.balanced.symmetry[drawn[real]]
        planes[real] = read_planes(self.positions, self.balanced.rows[drawn[real]], self.inputs)
        made = self.balanced.made[drawn[~real] - len(self.balanced.rows)]
        planes[~real] = made.reshape(-1, *self.shape)
        if self.symmetries:  # a random one after a given one is a random one
            rng = np.random.default_rng([self.seed, streams.DEPTH_TRAINING, streams.DEPTH_SYMMETRY, number])
            which = share.of(rng.integers(0, COUNT, self.batch))
        labels = self.balanced.labels[drawn].astype(np.int64)
        weights = self.balanced.weights[labels - self.lowest]
        costs = np.full((len(drawn), *self.costs.shape[1:]), np.nan, np.float32)
        costs[real] = self.costs[self.balanced.rows[drawn[real]]]
        return DepthBatch(*map(torch.from_numpy, (turned(planes, which), labels, weights, costs)))

    def _spans(self, number: int) -> list[tuple[int, int, int]]:
        """Parts of passes (pass, start, stop) that a step's rows are."""
        start, spans = number * self.batch, []
        stop = start + self.batch
        while start < stop:
            number, at = divmod(start, len(self))
            taken = min(len(self) - at, stop - start)
            spans.append((number, at, at + taken))
            start += taken
        return spans

    def _drawn(self, span: tuple[int, int, int]) -> npt.NDArray[np.int64]:
        number, start, stop = span
        if self._order[0] != number:
            self._order = (
                number,
                np.random.default_rng([self.seed, streams.DEPTH_TRAINING, streams.DEPTH_ORDER, number]).permutation(
                    len(self)
                ),
            )
        return self._order[1][start:stop]


def cost_targets(positions: DepthPositions) -> Floats:
    """Return the targets of the head ``costs`` for each row, float32 [R, K + 1, 2]; see `systems.search_depth.head`.

    Of the last axis the first is the number itself, NaN of a layer that was not completed, and the second what it is
    at least: what the search had spent in the layer that it was stopped in; -inf elsewhere.

    Raises:
        ZugwerkError: the clock of the data set was not one of nodes.
    """
    (lowest, highest), manifest = positions.classes, positions.manifest
    clock = manifest["clock_ms"] * manifest["nodes_per_ms"]
    if not clock:
        raise ZugwerkError(
            f"depth_train: {positions.path}: head: costs needs a clock of nodes; set depth_game.nodes_per_ms"
        )
    nodes = np.asarray(positions.nodes_by_depth)[:, lowest - 1 : highest].astype(np.float64)
    done = nodes > 0
    stopped = np.maximum(np.asarray(positions.nodes), 1)[:, None] / clock
    found = np.full((*nodes.shape, 2), -np.inf)
    logs = np.log(np.where(done, nodes, np.nan) / clock)
    found[..., 0] = np.column_stack([logs[:, :1], np.diff(logs, axis=1)])
    after = np.column_stack([np.zeros(len(nodes)), logs[:, :-1]])  # of the layer before
    first_open = ~done & np.column_stack([np.ones(len(nodes), np.bool_), done[:, :-1]])
    found[..., 1] = np.where(first_open, np.log(stopped) - after, -np.inf)
    side = 2 * np.asarray(positions.game, np.int64) + positions.to_play
    order = np.lexsort((-np.asarray(positions.ply, np.int64), side))
    _, first, counts = np.unique(side[order], return_index=True, return_counts=True)
    left = np.empty(len(side))
    left[order] = np.arange(len(side)) - np.repeat(first, counts) + 1
    searches = np.stack([left / SEARCHES, np.full(len(left), -np.inf)], 1)
    return np.concatenate([found, searches[:, None]], 1).astype(np.float32)


def read_planes(positions: DepthPositions, rows: npt.NDArray[np.int64], inputs: Inputs) -> Floats:
    """Planes float32 [B, C, H, W] of rows of a data set."""
    return depth_planes(
        inputs,
        positions.n[rows],
        positions.used[rows],
        positions.board[rows],
        positions.to_play[rows],
        positions.expandable[rows],
    )


def turned(planes: Floats, which: npt.NDArray[np.integer]) -> Floats:
    """Planes [B, C, H, W], those of each position under its own symmetry ``which`` [B]."""
    if not which.any():
        return planes
    cells = board_maps(planes.shape[-1])[which].astype(np.intp)[:, None, :]
    found: Floats = np.take_along_axis(planes.reshape(*planes.shape[:2], -1), cells, axis=2).reshape(planes.shape)
    return found
