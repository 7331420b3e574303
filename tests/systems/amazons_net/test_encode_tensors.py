import numpy as np
import pytest
import torch

from pipeline_src.systems.amazons_net.encode_tensors import encode
from tests.systems.amazons_net.positions import GOLDEN_BOARD, GOLDEN_C1, matrix


def random_batch(rng: np.random.Generator, count: int, height: int, width: int) -> tuple[np.ndarray, ...]:
    boards = np.ones((count, height * width), dtype=np.int8)
    for board in boards:
        places = rng.permutation(height * width)
        board[places[:4]], board[places[4:8]] = 2, 3
        board[places[8 : 8 + rng.integers(0, height * width - 8)]] = 0
    boards = boards.reshape(count, height, width)
    movers = rng.integers(2, 4, count).astype(np.int8)
    moved = np.full(count, -1, dtype=np.int16)
    for i in range(0, count, 2):
        moved[i] = rng.choice(np.flatnonzero(boards[i, ::-1].ravel() == movers[i]))
    return boards, movers, moved


def slow_encode(
    board: np.ndarray, mover: int, moved: int, mover_relative: bool, moved_first: bool
) -> tuple[np.ndarray, list[int], np.ndarray]:
    """Written from the definition, one cell at a time."""
    height, width = board.shape

    def place(s: int) -> tuple[int, int]:
        return height - 1 - s // width, s % width

    shown = board.astype(int)
    if mover_relative and mover == 2:
        shown = np.select([shown == 2, shown == 3], [3, 2], shown)
    amazons = [s for s in range(height * width) if board[place(s)] == mover]
    if moved_first and moved >= 0:
        amazons.sort(key=lambda s: (s != moved, s))
    features = np.zeros((4, height, width))
    for k, s in enumerate(amazons):
        r, c = place(s)
        for i in range(height):
            for j in range(width):
                box = shown[min(r, i) : max(r, i) + 1, min(c, j) : max(c, j) + 1]
                features[k, i, j] = 100 * box.mean()
    legal = np.zeros((4, height * width), dtype=bool)
    for k, s in enumerate(amazons if moved < 0 else [moved]):
        for dr in (-1, 0, 1):
            for dc in (-1, 0, 1):
                r, c = place(s)
                while dr or dc:
                    r, c = r + dr, c + dc
                    if not (0 <= r < height and 0 <= c < width) or board[r, c] != 1:
                        break
                    legal[k, (height - 1 - r) * width + c] = True
    return features, amazons, legal


def test_golden_features() -> None:
    board = torch.from_numpy((matrix(GOLDEN_BOARD) / 100).astype(np.int8))[None]
    coded = encode(board, torch.tensor([3], dtype=torch.int8), torch.tensor([-1], dtype=torch.int16))
    assert coded.amazons.tolist() == [[2, 17, 66, 83]]  # C1, H2, G7, D9
    assert np.abs(coded.features[0, 0].numpy() - matrix(GOLDEN_C1)).max() < 0.051
    assert coded.legal[0, 3, 94]  # D9-E10


@pytest.mark.parametrize("mover_relative", [False, True])
@pytest.mark.parametrize("moved_first", [False, True])
@pytest.mark.parametrize("shape", [(10, 10), (6, 6), (5, 8)])
def test_equals_the_slow_reference(shape: tuple[int, int], moved_first: bool, mover_relative: bool) -> None:
    boards, movers, moved = random_batch(np.random.default_rng(7), 24, *shape)
    coded = encode(
        *(torch.from_numpy(a) for a in (boards, movers, moved)), mover_relative=mover_relative, moved_first=moved_first
    )
    for i in range(len(boards)):
        features, amazons, legal = slow_encode(boards[i], movers[i], moved[i], mover_relative, moved_first)
        np.testing.assert_allclose(coded.features[i].numpy(), features, rtol=1e-6)
        assert coded.amazons[i].tolist() == amazons
        assert (coded.legal[i].numpy() == legal).all()


@pytest.mark.parametrize("mover_relative", [False, True])
@pytest.mark.parametrize("moved_first", [False, True])
def test_equals_the_kernels(moved_first: bool, mover_relative: bool) -> None:
    kernels = pytest.importorskip("pipeline_src.systems.amazons_net.encode")
    batch = random_batch(np.random.default_rng(8), 400, 10, 10)
    ours = encode(*map(torch.from_numpy, batch), mover_relative=mover_relative, moved_first=moved_first)
    theirs = kernels.encode(*batch, mover_relative=mover_relative, moved_first=moved_first)
    for name in ours._fields:
        expected = torch.from_numpy(getattr(theirs, name))
        assert getattr(ours, name).dtype == expected.dtype
        assert torch.equal(getattr(ours, name), expected), name
