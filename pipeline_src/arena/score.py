"""Rates and means with 95 % intervals: scores of matches, accuracy and errors over positions of recorded games."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.files import Row
from pipeline_src.project.params import Count, Params

Z95 = 1.959964
STUDENT95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)  # By degrees of freedom from 1


@dataclass(frozen=True, slots=True)
class Score:
    """A rate between 0 and 1, or a mean, with its 95 % interval and its sample size."""

    value: float
    low: float
    high: float
    n: int  # Number of games, trials or positions

    def elo(self) -> tuple[float, float, float]:
        """Return (Elo difference, low, high) of a rate; infinite for rates of 0 or 1."""
        return elo(self.value), elo(self.low), elo(self.high)

    def as_metrics(self) -> dict[str, float]:
        """Return the fields by name, as in metrics files."""
        return asdict(self)


def rate(successes: float, n: int) -> Score:
    """Return the rate of ``successes`` in ``n`` independent trials with Wilson's interval; n = 0 gives 0 to 1.

    >>> found = rate(30, 40)
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.75, 0.598, 0.858)
    """
    low, high = wilson(successes / n, n) if n else (0.0, 1.0)
    return Score(successes / n if n else math.nan, low, high, n)


def clustered_rate(hits: npt.ArrayLike, clusters: npt.ArrayLike) -> Score:
    """Return a rate over trials in clusters, such as the positions of a game, which are not independent.

    The interval is Wilson's for the effective number of independent trials: n divided by Kish's design effect (Survey
    Sampling, 1965), which follows from the variance between clusters, and at most n. If all clusters are equal, the
    variance is unknown, and each cluster counts as one trial. ``hits`` [T] are 0 to 1, where a fraction is an expected
    hit or half a point; ``clusters`` [T] are any integers.
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
    """Return a mean over samples [T] in clusters [T], with a normal interval from the variance between clusters.

    With a single cluster the interval is NaN.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size == 0:
        return Score(math.nan, math.nan, math.nan, 0)
    mean, variance, groups = _ratio_estimate(numbers, np.asarray(clusters))
    half = Z95 * math.sqrt(variance) if groups > 1 else math.nan
    return Score(mean, mean - half, mean + half, numbers.size)


def pair_score(pairs: Sequence[tuple[float, float]]) -> Score:
    """Return the score of a match of colour-swapped pairs, with 1, 0.5 or 0 points for a game.

    The two games of a pair share an opening, so they are not independent: each pair is a cluster.
    """
    points = [point for pair in pairs for point in pair]
    return clustered_rate(points, np.repeat(np.arange(len(pairs)), 2))


def _ratio_estimate(values: npt.NDArray[np.float64], clusters: npt.NDArray[np.generic]) -> tuple[float, float, int]:
    """Return (mean, variance of the mean, number of clusters) by the ratio estimator: sum of sums over sum of sizes."""
    _, index = np.unique(clusters, return_inverse=True)
    sums, sizes = np.bincount(index, weights=values), np.bincount(index)
    mean = float(sums.sum() / values.size)
    residuals = sums - mean * sizes
    variance = float((residuals * residuals).sum()) / values.size**2
    return mean, variance * len(sizes) / max(1, len(sizes) - 1), len(sizes)


def wilson(p: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval for a rate ``p`` in ``n`` trials (Wilson, JASA 22, 1927)."""
    z2 = Z95 * Z95
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    # At 0 and 1 the bound is the rate itself. A rounding error there would become thousands of Elo points.
    return 0.0 if p <= 0 else max(0.0, centre - half), 1.0 if p >= 1 else min(1.0, centre + half)


def student(free: int) -> float:
    """Return Student's quantile for a two-sided interval of 95 % with degrees of freedom from 1.

    >>> round(student(2), 2), round(student(11), 2), round(student(1000), 2)
    (4.3, 2.2, 1.96)
    """
    if free <= len(STUDENT95):
        return STUDENT95[free - 1]
    z, z3, z5 = Z95, Z95**3, Z95**5  # Abramowitz and Stegun, 26.7.5
    return z + (z3 + z) / (4 * free) + (5 * z5 + 16 * z3 + 3 * z) / (96 * free**2)


def elo(score: float) -> float:
    """Return the Elo difference for an expected score: 400 * log10(s / (1 - s)).

    >>> round(elo(0.75), 1)
    190.8
    """
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 400 * math.log10(score / (1 - score))


BINS = 10  # Number of ranges of the reliability curve: predicted win rates from 0 to 0.1, and so on


class CalibrationBin(NamedTuple):
    """Turns with predicted win rates in one range: their mean, and the win rate that was observed."""

    predicted: float
    observed: Score


def reliability(
    win_rates: npt.NDArray[np.floating], points: npt.ArrayLike, games: npt.NDArray[np.integer]
) -> list[CalibrationBin]:
    """Predicted and observed win rates in `BINS` equal ranges of the predicted one; empty ranges are left out."""
    observed = np.asarray(points, np.float64)
    place = np.minimum((win_rates * BINS).astype(np.int64), BINS - 1)
    return [
        CalibrationBin(float(win_rates[rows].mean()), clustered_rate(observed[rows], games[rows]))
        for rows in (place == number for number in range(BINS))
        if rows.any()
    ]


def calibration_rows(bins: Sequence[CalibrationBin]) -> list[Row]:
    """One row a bin: ``predicted``, ``observed``, its ``low`` and ``high``, ``turns``."""
    return [
        {"predicted": one.predicted, "observed": rate.value, "low": rate.low, "high": rate.high, "turns": rate.n}
        for one, rate in ((one, one.observed) for one in bins)
    ]


class CalibrationParams(Params):
    """Games of a net's player against itself, in which each win rate is compared with the result."""

    games: Count = 40
    """Number of games from openings; one more begins at the start position."""
    simulations: Count = 64
    """Number of simulations of a move. The win rates are those of the net alone."""
