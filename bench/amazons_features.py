"""Features F of the four amazons of a position: our kernel beside a vectorised numpy summed-area table."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bench.amazons_samples import random_games
from bench.measure import medians, row, seconds
from pipeline_src.systems.amazons_net.encode import encode
from pipeline_src.systems.amazons_net.features import features
from pipeline_src.systems.amazons_net.replay import Replayer

BATCH = 1024


def numpy_features(boards: npt.NDArray[np.int8], amazons: npt.NDArray[np.int16]) -> npt.NDArray[np.float32]:
    """As `features`, all positions at once by numpy's own operations."""
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


def measure() -> list[dict[str, Any]]:
    """``amazons_features_per_s``: positions a second, one core, a batch of 1,024 from random games."""
    samples = Replayer(random_games(12), 10, ["standard"]).replay(np.arange(12))[0]
    boards, movers = samples.board[:BATCH], samples.mover[:BATCH]
    amazons = encode(boards, movers, np.full(len(boards), -1, np.int16)).amazons
    assert len(boards) == BATCH
    np.testing.assert_array_equal(features(boards, amazons), numpy_features(boards, amazons))
    rates = medians(
        lambda: BATCH / seconds(lambda: features(boards, amazons)),
        lambda: BATCH / seconds(lambda: numpy_features(boards, amazons)),
        101,
    )
    return [row("amazons_features_per_s", *rates, "numpy, summed-area table, vectorised", "positions/s")]
