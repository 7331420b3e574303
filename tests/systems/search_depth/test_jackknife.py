import math

import numpy as np
import pytest

from pipeline_src.arena.score import clustered_mean
from pipeline_src.systems.search_depth.jackknife import jackknife


def mean(sums):
    return float(sums[0] / sums[1])


def test_of_a_mean_it_is_the_interval_between_clusters():
    """For games of one length the jackknife's variance is that of the games' means, which is known in closed form."""
    rng = np.random.default_rng(1)
    values = rng.normal(3.0, 1.0, (40, 5))
    parts = np.stack([values.sum(1), np.full(40, 5.0)], axis=1)
    found = jackknife(parts, mean, values.size)
    expected = clustered_mean(values.ravel(), np.repeat(np.arange(40), 5))
    assert found.value == pytest.approx(expected.value)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.n == 200


def test_covers_the_truth_about_as_often_as_it_says():
    rng, hits, runs = np.random.default_rng(2), 0, 400
    for _ in range(runs):
        level = rng.uniform(0.5, 1.5, 60)  # games differ: their positions are not independent
        parts = np.stack([rng.normal(level, 0.2), np.ones(60)], axis=1)
        found = jackknife(parts, mean, 60)
        hits += found.low <= 1.0 <= found.high
    assert 0.91 < hits / runs < 0.98


def test_stays_within_its_bounds_and_is_nan_where_it_cannot_be_told():
    parts = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    found = jackknife(parts, mean, 3, 0.0, 1.0)
    assert 0.0 <= found.low < found.value < found.high == 1.0
    alone = jackknife(parts[:1], mean, 1)
    assert alone.value == 1.0
    assert math.isnan(alone.low)
    assert math.isnan(alone.high)
    broken = jackknife(np.array([[1.0, 1.0], [0.0, 0.0]]), lambda s: s[0] / s[1] if s[1] else math.nan, 1)
    assert math.isnan(broken.low)
