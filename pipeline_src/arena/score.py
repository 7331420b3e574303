"""Rates and means with 95 % intervals: scores of matches, hits and errors over the positions of recorded games."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Z95 = 1.959964


@dataclass(frozen=True, slots=True)
class Score:
    """A rate between 0 and 1, or a mean; its 95 % interval, and what it was counted over."""

    value: float
    low: float
    high: float
    n: int
    """Games, trials or positions."""

    def elo(self) -> tuple[float, float, float]:
        """(Elo difference, low, high) of a rate; infinite where it is 0 or 1."""
        return elo(self.value), elo(self.low), elo(self.high)

    def as_metrics(self) -> dict[str, float]:
        """The fields by name, as metrics files hold them."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}


def rate(successes: float, n: int) -> Score:
    """Share of ``successes`` among ``n`` independent trials, with Wilson's interval; n = 0 gives 0 to 1."""
    low, high = wilson(successes / n, n) if n else (0.0, 1.0)
    return Score(successes / n if n else math.nan, low, high, n)


def clustered_rate(hits: npt.ArrayLike, clusters: npt.ArrayLike) -> Score:
    """A rate over trials that come in clusters, such as the positions of a game, which are not independent.

    The interval is Wilson's with the number of independent trials that would leave the rate as uncertain as the
    scatter between clusters shows it to be: n divided by Kish's design effect (Survey Sampling, 1965), and never more
    than n. Where no two clusters differ there is no scatter to see, and each cluster counts as one trial.

    Args:
        hits: [T], 0 to 1 each; a fraction is an expected hit, or half a point.
        clusters: [T], the cluster of each trial, any integers.
    """
    values = np.asarray(hits, dtype=np.float64)
    if values.size == 0:
        return Score(math.nan, 0.0, 1.0, 0)
    mean, variance, groups = _ratio_estimate(values, np.asarray(clusters))
    mean, n = min(1.0, max(0.0, mean)), values.size
    if groups == 1:
        trials = 1.0
    elif variance == 0:
        trials = float(groups)
    else:
        alone = mean * (1 - mean) / (n - 1)
        trials = min(float(n), max(1.0, n * alone / variance))
    return Score(mean, *wilson(mean, trials), n)


def clustered_mean(values: npt.ArrayLike, clusters: npt.ArrayLike) -> Score:
    """A mean over samples that come in clusters, with the normal interval of the scatter between clusters.

    Args:
        values: [T], any numbers.
        clusters: [T], the cluster of each, any integers. From one cluster alone no interval can be told: it is NaN.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size == 0:
        return Score(math.nan, math.nan, math.nan, 0)
    mean, variance, groups = _ratio_estimate(numbers, np.asarray(clusters))
    half = Z95 * math.sqrt(variance) if groups > 1 else math.nan
    return Score(mean, mean - half, mean + half, numbers.size)


def pair_score(pairs: Sequence[tuple[float, float]]) -> Score:
    """Score of a match of colour-swapped pairs; a game counts 1, 0.5 or 0.

    The two games of a pair share an opening, so they are not independent: a pair is a cluster.
    """
    points = [point for pair in pairs for point in pair]
    return clustered_rate(points, np.repeat(np.arange(len(pairs)), 2))


def _ratio_estimate(values: npt.NDArray[np.float64], clusters: npt.NDArray[np.generic]) -> tuple[float, float, int]:
    """(mean, variance of that mean, number of clusters), by the ratio estimator: sum of sums over sum of sizes."""
    _, index = np.unique(clusters, return_inverse=True)
    sums, sizes = np.bincount(index, weights=values), np.bincount(index)
    mean = float(sums.sum() / values.size)
    residuals = sums - mean * sizes
    variance = float((residuals * residuals).sum()) / values.size**2
    return mean, variance * len(sizes) / max(1, len(sizes) - 1), len(sizes)


def wilson(p: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a rate ``p`` seen in ``n`` trials (Wilson, JASA 22, 1927)."""
    z2 = Z95 * Z95
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    # At 0 and 1 the bound is the rate itself; rounding would leave a trace beside it, of which `elo` made thousands.
    return 0.0 if p <= 0 else max(0.0, centre - half), 1.0 if p >= 1 else min(1.0, centre + half)


def elo(score: float) -> float:
    """Elo difference of an expected score: 400 * log10(s / (1 - s))."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 400 * math.log10(score / (1 - score))
