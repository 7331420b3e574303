"""Data of Amazons-Net on one core: records replayed into samples, features F, and training batches.

References: a replay in plain Python, a vectorised NumPy summed-area table, and PyTorch's loader, which encodes sample
by sample with NumPy. Both sides of a row do the same work, which is checked before the clock runs.
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

from bench.measure import Row, medians, row, seconds
from pipeline_src.games.amazons import (
    COLOUR,
    EMPTY,
    AmazonsState,
    initial_state,
    move_amazon,
    reach,
    shoot,
    write_moves,
)
from pipeline_src.jit import njit
from pipeline_src.learning.symmetry import COUNT, board_maps, square_maps
from pipeline_src.learning.torch_state import torch_threads
from pipeline_src.systems.amazons_net import samples as schema
from pipeline_src.systems.amazons_net.build import Archive, Games, Replayer, build_dataset
from pipeline_src.systems.amazons_net.encode import encode, features
from pipeline_src.systems.amazons_net.samples import Dataset, open_dataset
from pipeline_src.systems.amazons_net.train import Plan, net_input, read, squares, under

GAMES, FEATURED, BATCH = 100, 1024, 256


def measure() -> list[Row]:
    """``amazons_samples_per_s``, ``amazons_features_per_s`` of 1,024 positions, ``amazons_batches_per_s`` of 256."""
    games = random_games(GAMES)
    with torch_threads(1):
        return [_samples(games), _features(games), _batches(games)]


def _samples(games: Games) -> Row:
    replayer, which, won = Replayer(games, 10, ["standard"]), np.arange(GAMES), games.first_won.tolist()
    lists = [games.actions[games.offsets[g] : games.offsets[g + 1]].tolist() for g in which]

    def plain() -> list[dict[str, Any]]:
        return [sample for g, actions in enumerate(lists) for sample in plain_samples(g, actions, won[g])]

    samples, slow = replayer.replay(which)[0], plain()
    for name, values in samples._asdict().items():
        assert values.tolist() == [sample[name] for sample in slow], name
    rates = medians(lambda: len(slow) / seconds(lambda: replayer.replay(which)), lambda: len(slow) / seconds(plain), 15)
    return row("amazons_samples_per_s", *rates, "plain-Python replay", "samples/s")


def _features(games: Games) -> Row:
    samples = Replayer(games, 10, ["standard"]).replay(np.arange(GAMES))[0]
    boards, movers = samples.board[:FEATURED], samples.mover[:FEATURED]
    amazons = encode(boards, movers, np.full(len(boards), -1, np.int16)).amazons
    assert len(boards) == FEATURED
    np.testing.assert_array_equal(features(boards, amazons), numpy_features(boards, amazons))
    rates = medians(
        lambda: FEATURED / seconds(lambda: features(boards, amazons)),
        lambda: FEATURED / seconds(lambda: numpy_features(boards, amazons)),
        101,
    )
    return row("amazons_features_per_s", *rates, "numpy, summed-area table, vectorised", "positions/s")


def _batches(games: Games) -> Row:
    with tempfile.TemporaryDirectory() as name:
        build_dataset(Archive(games, {}, {}), Path(name), size=10, variants=("standard",), shares=(7, 2, 1), seed=0)
        dataset = open_dataset(Path(name))
        plan = Plan(dataset, batch=BATCH, seed=0, augment=True)
        samples = OneByOne(dataset, plan.train[0])
        check(samples)
        loader = DataLoader(samples, batch_size=BATCH, shuffle=True, drop_last=True)

        def ours() -> float:
            # A step encodes a batch of amazon samples and one of arrow samples; the loader has the former only.
            return 2 * plan.steps_per_epoch / seconds(lambda: _epoch(plan))

        rates = medians(ours, lambda: 2 / seconds(lambda: list(islice(loader, 2))), 7)
    return row("amazons_batches_per_s", *rates, "PyTorch DataLoader, sample by sample, numpy", "batches/s")


def _epoch(plan: Plan) -> None:
    for step in range(plan.steps_per_epoch):
        for positions in plan.step(step):
            net_input(positions, torch.device("cpu"))


@njit(cache=True, allocates=True)
def _play(start: AmazonsState, numbers: npt.NDArray[np.uint32], actions: npt.NDArray[np.int32]) -> int:
    """Play one game by ``numbers``, two a turn, into ``actions``; return its plies."""
    state = AmazonsState(
        start.board.copy(), start.lines.copy(), start.amazons.copy(), start.turn.copy(), start.hash.copy()
    )
    squares, width, plies = state.board.size, state.board.shape[1], 0
    options = np.empty(state.amazons.shape[1] * 36, np.int32)
    while True:
        count = write_moves(state, options)
        if count == 0:
            return plies
        move = options[numbers[2 * plies] % count]
        move_amazon(state, move // squares, move % squares)
        count = reach(state.lines, width, move % squares, options, 0, 0)
        arrow = options[numbers[2 * plies + 1] % count]
        shoot(state, arrow)
        actions[plies] = move * squares + arrow
        plies += 1


def random_games(count: int, seed: int = 0, size: int = 10) -> Games:
    """Return games of uniformly random amazon moves and arrows from the standard start, the same for a seed."""
    start, rng = initial_state(size), np.random.default_rng(seed)
    actions = np.empty(size * size, np.int32)
    played = []
    for _ in range(count):
        plies = _play(start, rng.integers(0, 2**32, 2 * size * size, np.uint32), actions)
        played.append(actions[:plies].copy())
    lengths = np.array([len(game) for game in played])
    return Games(
        gid=np.arange(count, dtype=np.int64),
        start=np.zeros(count, np.int8),
        first_won=lengths % 2 == 1,  # the side that made the last turn has won
        teachers=np.ones((count, 2), np.bool_),
        offsets=np.concatenate(([0], np.cumsum(lengths))),
        actions=np.concatenate(played),
    )


def plain_samples(gid: int, actions: list[int], first_won: bool, size: int = 10) -> list[dict[str, Any]]:
    """Return the samples of one game, by lists and dicts."""
    board = initial_state(size).board[::-1].tolist()
    samples = []
    for ply, action in enumerate(actions):
        rest, arrow = divmod(action, size * size)
        x, y = zip(*((s % size, size - 1 - s // size) for s in (*divmod(rest, size * size), arrow)), strict=True)
        mover = COLOUR[ply % 2]
        of_game = {"mover": mover, "result": int(first_won == (ply % 2 == 0)), "gid": gid, "ply": ply, "teacher": 1}
        no = [-1, -1]
        labels = {"from_": [x[0], y[0]], "to": [x[1], y[1]], "arrow": no, "moved": no}
        samples.append({"board": [line[:] for line in board], "type": schema.AMAZON, **labels, **of_game})
        board[y[0]][x[0]], board[y[1]][x[1]] = EMPTY, mover
        labels = {"from_": no, "to": no, "arrow": [x[2], y[2]], "moved": [x[1], y[1]]}
        samples.append({"board": [line[:] for line in board], "type": schema.ARROW, **labels, **of_game})
        board[y[2]][x[2]] = 0
    return samples


def numpy_features(boards: npt.NDArray[np.int8], amazons: npt.NDArray[np.int16]) -> npt.NDArray[np.float32]:
    """Return F of all positions at once, float32 [B, 4, H, W]; see `features`."""
    count, height, width = boards.shape
    table = np.zeros((count, height + 1, width + 1), np.float32)
    table[:, 1:, 1:] = (100 * boards.astype(np.int32)).cumsum(1).cumsum(2)
    row_of, column_of = (height - 1 - amazons // width)[..., None], (amazons % width)[..., None]
    i, j, b = np.arange(height), np.arange(width), np.arange(count)[:, None, None, None]
    top, bottom = np.minimum(row_of, i)[..., None], np.maximum(row_of, i)[..., None] + 1
    left, right = np.minimum(column_of, j)[..., None, :], np.maximum(column_of, j)[..., None, :] + 1
    sums: npt.NDArray[np.float32] = (
        table[b, bottom, right] - table[b, top, right] - table[b, bottom, left] + table[b, top, left]
    )
    means: npt.NDArray[np.float32] = (sums / ((bottom - top) * (right - left))).astype(np.float32)
    return means


def numpy_reach(board: npt.NDArray[np.int8], amazons: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Return where each amazon can go, bool [4, N]: each line ends before the first square that is not empty."""
    size = len(board)
    by_rank = np.pad(board[::-1] == 1, 1)
    reached = np.zeros((len(amazons), size + 2, size + 2), np.bool_)
    distance = np.arange(1, size)
    for k, square in enumerate(amazons):
        for dr, dc in ((r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if r or c):
            ranks = np.clip(square // size + 1 + dr * distance, 0, size + 1)
            files = np.clip(square % size + 1 + dc * distance, 0, size + 1)
            reached[k, ranks, files] |= np.logical_and.accumulate(by_rank[ranks, files])
    return reached[:, 1:-1, 1:-1].reshape(len(amazons), -1)


class OneByOne(TorchDataset[tuple[Any, ...]]):
    """Amazon samples, each read, turned and encoded by NumPy when the loader asks for it."""

    def __init__(self, dataset: Dataset, rows: npt.NDArray[np.int64]) -> None:
        """``rows`` are the samples' rows of the data set."""
        self.dataset, self.rows = dataset, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        row_, size = self.rows[index], self.dataset.size
        which = int(torch.randint(COUNT, ()))
        board = self.dataset.samples.board[row_].ravel()[board_maps(size)[which]].reshape(size, size)
        start, to = (
            square_maps(size)[which, squares(pair[row_][None], size)[0]]
            for pair in (self.dataset.samples.from_, self.dataset.samples.to)
        )
        amazons = np.flatnonzero(board[::-1].ravel() == self.dataset.samples.mover[row_])
        planes = numpy_features(board[None], amazons[None].astype(np.int16))[0]
        played = int(np.flatnonzero(amazons == start)[0])
        won = np.float32(self.dataset.samples.result[row_])
        return planes, numpy_reach(board, amazons), amazons, played, int(to), won


def check(samples: OneByOne) -> None:
    """Check that both sides encode the same position to the same arrays."""
    torch.manual_seed(0)
    which = int(torch.randint(COUNT, ()))
    torch.manual_seed(0)
    planes, reached, amazons, played, to, _ = samples[0]
    positions = under(read(samples.dataset, samples.rows[:1]), np.array([which]))
    batch = net_input(positions, torch.device("cpu"))
    np.testing.assert_array_equal(planes, batch.features[0].numpy())
    np.testing.assert_array_equal(reached, batch.legal[0].numpy())
    assert amazons.tolist() == batch.played.rows[0].tolist()
    assert (played, to) == (batch.played.row.item(), batch.played.to.item())
