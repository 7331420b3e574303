"""Search depth: one position's forward pass against torch.

``depth_predict_us`` is the time for which a player waits, with the planes: the paper's net with 16 filters a layer and
random weights on one thread.
"""

import numpy as np

from bench.measure import Row, medians, row, seconds
from pipeline_src.games.amazons import initial_state

CALLS = 200


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


def measure() -> list[Row]:
    """``depth_predict_us``."""
    return [row("depth_predict_us", *predict(), "the same net in torch", "us")]
