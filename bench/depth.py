"""Search depth: one position's forward pass against torch, and SMOTE in blocks against imbalanced-learn on all rows.

``depth_predict_us`` is the time for which a player waits, with the planes: the paper's net with 16 filters a layer and
random weights on one thread. ``smote_rows_per_s`` doubles a class of 40,000 rows of 100 squares.
"""

import numpy as np

from bench.measure import Row, medians, row, seconds
from pipeline_src.games.amazons import initial_state
from pipeline_src.systems.search_depth.params import DepthBalancing

CALLS, ROWS = 200, 40_000


def predict() -> tuple[float, float | None]:
    """Return the microseconds of a choice, ours and with torch's forward pass."""
    import torch

    from pipeline_src.systems.search_depth.net import DepthModel, PublishedDepthConfig, SavedDepthNet, make_depth_net
    from pipeline_src.systems.search_depth.positions import depth_planes

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    net = make_depth_net(PublishedDepthConfig(size=10, planes=1, outputs=1, filters=16)).eval()
    model, state = DepthModel(SavedDepthNet(net, "reached", 3, 7, "linear", "published")), initial_state()
    n = np.random.default_rng(0).integers(0, 6, (10, 10)).astype(np.uint8)
    side, turns, used = np.array([0], np.int8), np.array([0], np.int32), np.array([0.3], np.float32)

    def ours() -> None:
        for _ in range(CALLS):
            model.choose(n, 0.3, state)

    def theirs() -> None:
        for _ in range(CALLS):
            model.choose_all(depth_planes("published", n[None], used, state.board[None], side, turns), used)

    found = medians(lambda: 1e6 * seconds(ours) / CALLS, lambda: 1e6 * seconds(theirs) / CALLS, repeats=7)
    torch.set_num_threads(before)
    return found


def smote() -> tuple[float, float | None]:
    """Return the rows made a second, in blocks and on all rows."""
    from imblearn.over_sampling import SMOTE

    from pipeline_src.systems.search_depth.train import smote_in_blocks

    rng = np.random.default_rng(0)
    rows = rng.integers(0, 6, (ROWS, 100)).astype(np.float32) * rng.random((ROWS, 1), np.float32)
    two_rows, two = np.concatenate([rows, rows[:1]]), np.append(np.zeros(ROWS, np.int8), np.int8(1))

    def ours() -> None:
        smote_in_blocks(rows, ROWS, DepthBalancing(), [0])

    def theirs() -> None:
        SMOTE(sampling_strategy={0: 2 * ROWS}, random_state=0).fit_resample(two_rows, two)

    return medians(lambda: ROWS / seconds(ours), lambda: ROWS / seconds(theirs), repeats=1)


def measure() -> list[Row]:
    """``depth_predict_us`` and ``smote_rows_per_s``."""
    return [
        row("depth_predict_us", *predict(), "the same net in torch", "us"),
        row("smote_rows_per_s", *smote(), "imbalanced-learn's SMOTE on all rows at once", "rows/s"),
    ]
