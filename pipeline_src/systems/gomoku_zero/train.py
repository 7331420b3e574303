"""Positions of Gomoku's replay window as planes, and batches of them under the symmetries of the board."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.learning.symmetry import board_maps
from pipeline_src.selfplay import train
from pipeline_src.selfplay.params import TrainParams
from pipeline_src.selfplay.window import SelfPlayGames, replay
from pipeline_src.systems.gomoku_zero.evaluator import plane_count, zero_planes


class Positions(NamedTuple):
    """R positions before a searched ply, by game and then by ply; C = 2 * positions + 1 planes."""

    planes: npt.NDArray[np.uint8]  # [R, C, H, W], 0 or 1, as `zero_planes` says
    policy: npt.NDArray[np.float32]  # [R, N], the search's policy; each row sums to 1
    value: npt.NDArray[np.float32]  # [R], how the game ended for the side to move: 1 won, -1 lost, 0 drawn
    generation: npt.NDArray[np.int16]  # [R], which generation played it


def positions(games: SelfPlayGames, history: int) -> Positions:
    """All positions of a window that have a target.

    Args:
        games: the window.
        history: how many positions back the planes go, the one to move in included (the paper's: 5).

    Raises:
        ZugwerkError: an action is not legal; names the game and the ply.
    """
    found = replay(games, gomoku)
    planes = np.empty((len(found.value), plane_count(history), games.size, games.size), np.uint8)
    zero_planes(found.states, history, planes)
    return Positions(planes, found.policy, found.value, found.generation)


class Batch(NamedTuple):
    """B positions as the net and its loss take them."""

    planes: Tensor  # float32 [B, C, H, W], its channels last in memory
    policy: Tensor  # float32 [B, N]
    value: Tensor  # float32 [B]


class Batches(train.Batches):
    """See `selfplay.train.Batches`."""

    cells: Tensor
    """uint8 [R * N, C]: each cell's planes lie together, as convolutions like them, and a batch is one gather."""
    policy: Tensor
    """float32 [R * N]."""
    value: Tensor
    """float32 [R]."""
    maps: Tensor
    """int64 [8, N], `board_maps`."""

    def __init__(self, positions: Positions, params: TrainParams, *, seed: int, count: int) -> None:
        """See `selfplay.train.Batches`.

        Raises:
            ZugwerkError: there are no positions, or the boards are not square.
        """
        super().__init__(positions.generation, params, seed=seed, count=count)
        _, planes, height, width = positions.planes.shape
        if height != width:
            raise ZugwerkError(f"boards of {height}x{width} do not have the eight symmetries of a square")
        self._arrays = positions.policy, positions.value, positions.generation
        cells = torch.from_numpy(positions.planes).permute(0, 2, 3, 1).reshape(-1, planes)
        maps = torch.from_numpy(board_maps(width).astype(np.int64))  # the first is the identity
        buffers = {"cells": cells, "policy": torch.from_numpy(positions.policy).flatten(), "maps": maps}
        for name, tensor in {**buffers, "value": torch.from_numpy(positions.value)}.items():
            self.register_buffer(name, tensor, persistent=False)

    def cut(self, rows: npt.NDArray[np.int64], which: npt.NDArray[np.int64]) -> Batch:
        """See `selfplay.train.Batches`."""
        row, symmetry = (torch.from_numpy(drawn).to(self.value.device) for drawn in (rows, which))
        taken = self.maps[symmetry] + row[:, None] * self.maps.shape[1]  # [B, N], out of the cells of all positions
        side = math.isqrt(taken.shape[1])
        planes = self.cells.index_select(0, taken.flatten()).float().view(len(row), side, side, -1)
        return Batch(planes.permute(0, 3, 1, 2), self.policy[taken], self.value[row])

    def answer(self, net: nn.Module, batch: Batch) -> train.Answer:
        """See `selfplay.train.Batches`."""
        logits, value = net(batch.planes)
        return train.Answer(log_softmax(logits.float(), dim=1), batch.policy, value.float(), batch.value)

    def arrays(self) -> Iterable[npt.NDArray[Any]]:
        """The planes follow from the games, which the policies identify."""
        return self._arrays
