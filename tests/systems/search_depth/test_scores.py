import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.arena.score import clustered_mean
from pipeline_src.systems.search_depth.evaluate import jackknife, layer_growth, nodes_to_depth
from pipeline_src.systems.search_depth.positions import accuracy, confusion, f1_scores, macro_f1

DEPTHS = st.lists(st.tuples(st.integers(3, 7), st.integers(3, 7)), min_size=1, max_size=60)


def test_counts_by_label_and_choice():
    matrix = confusion(np.array([3, 3, 5, 4]), np.array([3, 5, 5, 3]), 3, 5)
    assert matrix.tolist() == [[1, 0, 1], [1, 0, 0], [0, 0, 1]]
    assert accuracy(matrix) == 0.5
    assert f1_scores(matrix).tolist() == pytest.approx([0.5, 0.0, 2 / 3])
    assert macro_f1(matrix) == pytest.approx((0.5 + 2 / 3) / 3)


@given(DEPTHS)
def test_agrees_with_scikit_learn(pairs):
    from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

    labels, chosen = map(np.array, zip(*pairs, strict=True))
    matrix = confusion(labels, chosen, 3, 7)
    np.testing.assert_array_equal(matrix, confusion_matrix(labels, chosen, labels=range(3, 8)))
    assert accuracy(matrix) == pytest.approx(accuracy_score(labels, chosen))
    present = sorted(set(labels.tolist()))
    assert macro_f1(matrix) == pytest.approx(f1_score(labels, chosen, labels=present, average="macro", zero_division=0))


SEARCHES = np.array([[10, 40, 160, 0], [5, 5, 20, 80]])


def test_growth_is_the_geometric_mean_of_a_layer_more():
    assert layer_growth(SEARCHES[:1]) == pytest.approx(4)
    assert layer_growth(SEARCHES) == pytest.approx(4 ** (4 / 5))
    assert layer_growth(np.array([[7, 0, 0]])) == 1.0


def test_completed_layers_cost_their_nodes_and_others_are_extrapolated():
    costs = [nodes_to_depth(SEARCHES, np.full(2, depth), 4.0).tolist() for depth in (1, 3, 4, 5)]
    assert costs == [[10, 5], [160, 20], [640, 80], [2560, 320]]
    assert nodes_to_depth(SEARCHES, np.array([2, 4]), 3.0).tolist() == [40, 80]


def mean(sums):
    return float(sums[0] / sums[1])


def test_interval_of_a_mean_is_between_clusters():
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


def test_stays_in_bounds_and_is_nan_where_undefined():
    parts = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    found = jackknife(parts, mean, 3, 0.0, 1.0)
    assert 0.0 <= found.low < found.value < found.high == 1.0
    alone = jackknife(parts[:1], mean, 1)
    assert alone.value == 1.0
    assert math.isnan(alone.low)
    assert math.isnan(alone.high)
    broken = jackknife(np.array([[1.0, 1.0], [0.0, 0.0]]), lambda s: s[0] / s[1] if s[1] else math.nan, 1)
    assert math.isnan(broken.low)
