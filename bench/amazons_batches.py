"""Training batches from the data set: whole ones cut from the memory maps, beside PyTorch's loader sample by sample.

Both sides give the same work: a shuffled batch of positions, each under a symmetry of its own, with features, legal
squares and the played entry. ``python -m bench.amazons_batches`` also says how much of a training's time is the net's.
"""

import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import DataLoader
from torch.utils.data import Dataset as TorchDataset

from bench.amazons_samples import random_games
from bench.measure import medians, row, seconds
from pipeline_src.learning.symmetry import COUNT, board_maps, square_maps
from pipeline_src.project.params import load
from pipeline_src.systems.amazons_net.archive import Archive
from pipeline_src.systems.amazons_net.batches import Plan, read, squares, under
from pipeline_src.systems.amazons_net.build import build_dataset
from pipeline_src.systems.amazons_net.data import net_input
from pipeline_src.systems.amazons_net.dataset import Dataset, open_dataset
from pipeline_src.systems.amazons_net.params import AmazonsTrainParams
from pipeline_src.systems.amazons_net.train import train

BATCH = 256
GAMES = 60


class OneByOne(TorchDataset[tuple[Any, ...]]):
    """The train split's Amazon samples, each encoded by numpy when it is asked for."""

    def __init__(self, dataset: Dataset, rows: npt.NDArray[np.int64]) -> None:
        """``rows`` of the data set."""
        self.dataset, self.rows = dataset, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        row_, size = self.rows[index], self.dataset.size
        which = int(torch.randint(COUNT, ()))
        board = self.dataset.board[row_].ravel()[board_maps(size)[which]].reshape(size, size)
        start, to = (
            square_maps(size)[which, squares(pair[row_][None], size)[0]]
            for pair in (self.dataset.from_, self.dataset.to)
        )
        amazons = np.flatnonzero(board[::-1].ravel() == self.dataset.mover[row_])
        played = int(np.flatnonzero(amazons == start)[0])
        won = np.float32(self.dataset.result[row_])
        return numpy_planes(board, amazons), numpy_reach(board, amazons), amazons, played, int(to), won


def numpy_planes(board: npt.NDArray[np.int8], amazons: npt.NDArray[np.intp]) -> npt.NDArray[np.float32]:
    """F of one position, float32 [4, H, W], from a summed-area table."""
    height, width = board.shape
    table = np.zeros((height + 1, width + 1), np.float32)
    table[1:, 1:] = (100 * board.astype(np.int32)).cumsum(0).cumsum(1)
    at_row, at_column = (height - 1 - amazons // width)[:, None], (amazons % width)[:, None]
    i, j = np.arange(height), np.arange(width)
    top, bottom = np.minimum(at_row, i)[..., None], np.maximum(at_row, i)[..., None] + 1
    left, right = np.minimum(at_column, j)[:, None], np.maximum(at_column, j)[:, None] + 1
    sums = table[bottom, right] - table[top, right] - table[bottom, left] + table[top, left]
    return np.asarray(sums / ((bottom - top) * (right - left)), np.float32)


def numpy_reach(board: npt.NDArray[np.int8], amazons: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Where each amazon may go, bool [4, N]: each line is cut where it first meets something."""
    size = len(board)
    by_rank = np.pad(board[::-1] == 1, 1)
    reach = np.zeros((len(amazons), size + 2, size + 2), np.bool_)
    distance = np.arange(1, size)
    for k, square in enumerate(amazons):
        for dr, dc in ((r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if r or c):
            ranks = np.clip(square // size + 1 + dr * distance, 0, size + 1)
            files = np.clip(square % size + 1 + dc * distance, 0, size + 1)
            reach[k, ranks, files] |= np.logical_and.accumulate(by_rank[ranks, files])
    return reach[:, 1:-1, 1:-1].reshape(len(amazons), -1)


def measure() -> list[dict[str, Any]]:
    """``amazons_batches_per_s``: batches of 256 Amazon samples, encoded and ready for Move-Net, one core."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            dataset = random_dataset(Path(folder) / "samples")
            plan = Plan(dataset, batch=BATCH, seed=0, augment=True)
            check(dataset, plan)
            loader = DataLoader(OneByOne(dataset, plan.train[0]), batch_size=BATCH, shuffle=True, drop_last=True)

            def ours() -> float:
                steps = range(plan.steps_per_epoch)
                # A step reads, turns and encodes a batch of either type; half of it is comparable.
                return 2 * len(steps) / seconds(lambda: [_both(plan, n) for n in steps])

            def reference() -> float:
                return 2 / seconds(lambda: list(islice(loader, 2)))

            rates = medians(ours, reference, 7)
    finally:
        torch.set_num_threads(threads)
    return [row("amazons_batches_per_s", *rates, "PyTorch DataLoader, sample by sample, numpy", "batches/s")]


def check(dataset: Dataset, plan: Plan) -> None:
    """Both sides encode a position alike."""
    sample = OneByOne(dataset, plan.train[0])
    torch.manual_seed(0)
    which = int(torch.randint(COUNT, ()))
    torch.manual_seed(0)
    planes, reach, amazons, played, to, _ = sample[0]
    batch = net_input(under(read(dataset, plan.train[0][:1]), np.array([which])), torch.device("cpu"))
    np.testing.assert_array_equal(planes, batch.features[0].numpy())
    np.testing.assert_array_equal(reach, batch.legal[0].numpy())
    assert (amazons.tolist(), played, to) == (
        batch.played.rows[0].tolist(),
        batch.played.row.item(),
        batch.played.to.item(),
    )


def random_dataset(folder: Path) -> Dataset:
    """A data set of random games."""
    archive = Archive(random_games(GAMES), {}, {})
    build_dataset(archive, folder, size=10, variants=("standard",), shares=(7, 2, 1), seed=0)
    return open_dataset(folder)


def net_share() -> float:
    """Fraction of a training's loop that is the net's, with the params of params.yaml on random games."""
    params = load(AmazonsTrainParams, "amazons_train")
    with tempfile.TemporaryDirectory() as folder:
        dataset = random_dataset(Path(folder) / "samples")
        trained = train(dataset, params, model="cross_entropy", seed=0, folder=Path(folder) / "work")
    return float(trained.timings["net_share"])


def _both(plan: Plan, step: int) -> None:
    for positions in plan.step(step)[1:]:
        net_input(positions, torch.device("cpu"))


if __name__ == "__main__":
    print(measure()[0])
    print(f"share of the training loop that is the net's: {net_share():.3f}")
