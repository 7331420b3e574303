import numpy as np
import pytest

from bench.strength import growing_boards
from bench.strength.growing_boards import Point, figures, time_to_goal

PAIRS = 40


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(growing_boards, "RESAMPLES", 400)


def point(run, seed, spent, score):
    won = round(score * PAIRS)
    return Point(run, seed, int(100 * spent), spent, [(1.0, 1.0)] * won + [(0.0, 0.0)] * (PAIRS - won))


def run_of(run, seed, scores):
    return [point(run, seed, spent, score) for spent, score in scores.items()]


def test_computing_until_a_run_scores_one_half():
    grown = run_of("grown", 1, {0.1: 0.0, 0.3: 0.25, 0.5: 0.75, 0.9: 0.9})
    assert time_to_goal(grown, "grown") == pytest.approx(0.4)
    assert time_to_goal(run_of("grown", 1, {0.1: 0.6, 0.5: 0.9}), "grown") == 0.1  # at once
    assert time_to_goal(run_of("grown", 1, {0.1: 0.1, 0.8: 0.4}), "grown") == 0.8  # never
    assert time_to_goal([*grown, *run_of("grown", 2, {0.2: 0.5})], "grown") == pytest.approx(0.3)


def test_falling_scores_are_smoothed():
    """The fitted curve never falls: 0.6 and 0.4 are a half each."""
    assert time_to_goal(run_of("grown", 1, {0.1: 0.0, 0.3: 0.6, 0.4: 0.4, 0.9: 1.0}), "grown") == pytest.approx(0.3)


def test_intervals_contain_the_values():
    points = run_of("grown", 1, {0.1: 0.0, 0.3: 0.25, 0.5: 0.75, 0.9: 0.9})
    points += run_of("scratch", 1, {0.5: 0.0, 1.0: 0.5})
    found = figures(points)
    time = found["time_to_scratch_strength"]
    assert time["value"] == pytest.approx(0.4)
    assert 0.3 < time["low"] < 0.4 < time["high"] < 0.5
    assert found["time_to_scratch_strength_from_scratch"]["value"] == pytest.approx(1.0)
    assert found["score_grown_vs_scratch"]["value"] == pytest.approx(0.9)
    assert np.isfinite([row["value"] for row in found.values()]).all()


def test_intervals_include_the_scatter_between_seeds():
    one = run_of("grown", 1, {0.1: 0.0, 0.3: 1.0}) + run_of("scratch", 1, {1.0: 0.5})
    other = run_of("grown", 2, {0.1: 0.0, 0.9: 1.0}) + run_of("scratch", 2, {1.0: 0.5})
    time = figures([*one, *other])["time_to_scratch_strength"]
    assert time["value"] == pytest.approx((0.2 + 0.5) / 2)
    assert (time["low"], time["high"]) == (pytest.approx(0.2), pytest.approx(0.5))
