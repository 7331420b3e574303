import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.arena.score import Score, clustered_mean, clustered_rate, elo, pair_score, rate, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [  # as scipy.stats.binomtest(successes, n).proportion_ci(method="wilson") prints them
        (0, 10, 0.0, 0.2775328),
        (1, 10, 0.0178762, 0.4041500),
        (5, 10, 0.2365931, 0.7634069),
        (10, 10, 0.7224672, 1.0),
        (81, 263, 0.2552885, 0.3662096),  # the worked example of Newcombe, Statistics in Medicine 17 (1998)
        (999, 1000, 0.9943574, 0.9998235),
    ],
)
def test_wilson_has_the_known_values(successes, n, low, high):
    found = rate(successes, n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)
    assert (found.value, found.n) == (successes / n, n)


@given(st.floats(0, 1), st.floats(1, 1e6))
def test_wilson_contains_the_rate_and_stays_between_0_and_1(p, n):
    low, high = wilson(p, n)
    assert 0 <= low <= p + 1e-12
    assert p - 1e-12 <= high <= 1


def test_zero_trials_give_the_full_interval():
    for score in (rate(0, 0), clustered_rate([], []), pair_score([])):
        assert math.isnan(score.value)
        assert (score.low, score.high, score.n) == (0, 1, 0)
    assert clustered_mean([], []).n == 0


@given(st.lists(st.booleans(), min_size=2, max_size=50), st.randoms())
def test_clustered_rate_is_wilson_where_every_cluster_is_one_trial(hits, rng):
    gids = rng.sample(range(1_000), len(hits))
    found, plain = clustered_rate(hits, gids), rate(sum(hits), len(hits))
    assert found.n == plain.n
    assert (found.value, found.low, found.high) == pytest.approx((plain.value, plain.low, plain.high))


def test_clusters_that_agree_within_count_as_one_trial_each():
    games = 40
    hits = np.repeat(np.arange(games) % 4 == 0, 25)
    found = clustered_rate(hits, np.repeat(np.arange(games), 25))
    low, high = wilson(0.25, games * (1 - 1 / games) / (1 - 1 / (25 * games)))
    assert (found.value, found.low, found.high) == pytest.approx((0.25, low, high))
    assert found.n == 1_000


def test_mixed_clusters_count_at_most_their_number_of_trials():
    rng = np.random.default_rng(1)
    hits, games = rng.random(20_000) < 0.3, np.repeat(np.arange(400), 50)
    found, plain = clustered_rate(hits, games), rate(float(hits.sum()), hits.size)
    assert found.high - found.low == pytest.approx(plain.high - plain.low, rel=0.1)
    alike = np.tile([1.0, 0.0, 0.0, 1.0, 0.0, 0.5], 100)  # less scatter than independent trials would show
    scored = clustered_rate(alike, np.concatenate([[0], np.repeat(np.arange(100), 6)[:-1]]))
    assert (scored.low, scored.high) == pytest.approx(wilson(scored.value, 600))


def test_interval_covers_truth_at_nominal_rate():
    """Of 400 samples of 60 games with a rate of their own each, about 95 % have the true rate within the interval."""
    rng = np.random.default_rng(7)
    inside = naive = 0
    for _ in range(400):
        sizes = rng.integers(20, 40, 60)
        hits = rng.random(sizes.sum()) < np.repeat(rng.beta(2, 3, 60), sizes)
        found, plain = clustered_rate(hits, np.repeat(np.arange(60), sizes)), rate(float(hits.sum()), hits.size)
        inside += found.low <= 0.4 <= found.high
        naive += plain.low <= 0.4 <= plain.high
    assert 0.92 < inside / 400 < 0.98
    assert naive / 400 < 0.7


def test_interval_of_one_game_is_wide():
    found = clustered_rate([1, 1, 0, 1], [5, 5, 5, 5])
    assert (found.value, found.low, found.high) == (0.75, *wilson(0.75, 1))
    mean = clustered_mean([1.0, 3.0], [5, 5])
    assert mean.value == 2
    assert math.isnan(mean.low)
    assert math.isnan(mean.high)


def test_clustered_mean_of_single_samples_is_the_usual_interval():
    values = np.array([0.5, 2.0, 1.5, 4.0])
    half = 1.959964 * values.std(ddof=1) / 2
    found = clustered_mean(values, [3, 1, 4, 2])
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2 - half, 2 + half))


def test_clustered_mean_by_hand():
    """Games of 2 and 1 samples: mean 3, residuals (1 + 3) - 2 * 3 = -2 and 5 - 3 = 2, variance 2 * (4 + 4) / 9."""
    found = clustered_mean([1, 3, 5], [10, 10, 11])
    assert (found.value, found.n) == (3, 3)
    assert found.high - found.value == pytest.approx(1.959964 * 4 / 3)


def test_pairs_that_all_came_out_the_same_count_once_each():
    won = pair_score([(1.0, 1.0)] * 10)
    assert won == Score(1.0, wilson(1.0, 10)[0], 1.0, 20)
    split = pair_score([(1.0, 0.0)] * 10)
    assert (split.value, split.low, split.high) == (0.5, *wilson(0.5, 10))


def test_pairs_of_independent_games_count_about_in_full():
    rng = np.random.default_rng(3)
    pairs = [tuple(pair) for pair in (rng.random((2_000, 2)) < 0.5).astype(float)]
    found = pair_score(pairs)
    low, high = wilson(found.value, 4_000)
    assert found.n == 4_000
    assert found.high - found.low == pytest.approx(high - low, rel=0.1)


def test_pairs_decided_by_their_opening_count_once():
    found = pair_score([(1.0, 1.0), (0.0, 0.0)] * 50)
    low, high = wilson(0.5, 100)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.002)


def test_one_pair_and_draws():
    assert pair_score([(1.0, 0.5)]) == Score(0.75, *wilson(0.75, 1), 2)
    assert pair_score([(0.5, 0.5)] * 4).value == 0.5


@pytest.mark.parametrize(("score", "difference"), [(0.5, 0.0), (10 / 11, 400.0), (1 / 11, -400.0), (0.75, 190.848502)])
def test_elo(score, difference):
    assert elo(score) == pytest.approx(difference)


def test_elo_of_a_whitewash_is_infinite():
    value, low, high = pair_score([(1.0, 1.0)] * 10).elo()
    assert (value, high) == (math.inf, math.inf)
    assert low == pytest.approx(elo(wilson(1.0, 10)[0]))
    assert pair_score([(0.0, 0.0)] * 10).elo()[:2] == (-math.inf, -math.inf)
