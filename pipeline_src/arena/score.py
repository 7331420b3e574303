"""Scores of matches and of yes-or-no counts, with 95 % intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z95 = 1.959964


@dataclass(frozen=True, slots=True)
class Score:
    """A rate between 0 and 1, its 95 % interval, and what it was counted over."""

    value: float
    low: float
    high: float
    n: int
    """Games or trials."""

    def elo(self) -> tuple[float, float, float]:
        """(Elo difference, low, high); infinite where the rate is 0 or 1."""
        return elo(self.value), elo(self.low), elo(self.high)


def rate(successes: float, n: int) -> Score:
    """Share of ``successes`` among ``n`` independent trials, with Wilson's interval; n = 0 gives 0 to 1."""
    low, high = wilson(successes / n, n) if n else (0.0, 1.0)
    return Score(successes / n if n else math.nan, low, high, n)


def pair_score(pairs: Sequence[tuple[float, float]]) -> Score:
    """Score of a match of colour-swapped pairs; a game counts 1, 0.5 or 0.

    The two games of a pair share an opening, so they are not independent. The interval is Wilson's with the number of
    games that independent trials would need for the variance seen between pairs, and never more than were played;
    where all pairs came out the same, each pair counts as one trial.
    """
    n = len(pairs)
    if n == 0:
        return Score(math.nan, 0.0, 1.0, 0)
    means = [(a + b) / 2 for a, b in pairs]
    mean = sum(means) / n
    variance = sum((m - mean) ** 2 for m in means) / max(1, n - 1)
    trials = float(n)
    if variance > 0:
        trials = min(2.0 * n, max(1.0, mean * (1 - mean) * n / variance))
    low, high = wilson(mean, trials)
    return Score(mean, low, high, 2 * n)


def wilson(p: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a rate ``p`` seen in ``n`` trials (Wilson, JASA 22, 1927)."""
    z2 = Z95 * Z95
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def elo(score: float) -> float:
    """Elo difference of an expected score: 400 * log10(s / (1 - s))."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 400 * math.log10(score / (1 - score))
