"""Sequential probability ratio test (SPRT) of an Elo difference, from colour-swapped pairs.

The log-likelihood ratio is the generalised one (Li, Liu and Ying, Sequential Analysis 33, 2014), as in Stockfish's
fishtest (Van den Bergh): each hypothesis fixes the mean score only, and uses the most likely distribution over the five
results of a pair with that mean. Pairs are independent, games are not. The bounds are Wald's (Sequential Analysis,
1947).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pipeline_src.errors import ZugwerkError

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Possible scores of a pair, the mean of its two games."""
UNSEEN = 1e-3
"""Count of a result that has not occurred, so that every mean is possible (as in fishtest)."""
MOST_ELO = 2_000

Verdict = Literal["H0", "H1", "undecided"]


@dataclass(frozen=True)
class Sprt:
    """A test of H1, an Elo difference of at least ``elo1``, against H0, at most ``elo0``.

    >>> Sprt(0, 10).verdict(3.5)
    'H1'
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    """Probability of accepting H1 if H0 is true."""
    beta: float = 0.05
    """Probability of accepting H0 if H1 is true."""

    def __post_init__(self) -> None:
        if not -MOST_ELO <= self.elo0 < self.elo1 <= MOST_ELO:
            raise ZugwerkError(f"sprt: elo0 must be below elo1, both within {MOST_ELO}: {self.elo0}, {self.elo1}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ZugwerkError("sprt: alpha and beta must lie between 0 and 0.5")

    @classmethod
    def parse(cls, text: str) -> "Sprt":
        """Read a test from the text ``elo0,elo1[,alpha,beta]``.

        Raises:
            ZugwerkError: the text has another form, or a number is out of range.
        """
        try:
            numbers = [float(part) for part in text.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) not in (2, 4):
            raise ZugwerkError(f"sprt {text!r}: expected elo0,elo1[,alpha,beta], e.g. 0,10,0.05,0.05")
        return cls(*numbers)

    @property
    def bounds(self) -> tuple[float, float]:
        """Log-likelihood ratios at which H0 and H1 are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Sequence[int]) -> float:
        """Return the log-likelihood ratio of H1 over H0 for the numbers of pairs with each of `PAIR_SCORES`."""
        return _llr(expected_score(self.elo0), expected_score(self.elo1), tuple(counts))

    def verdict(self, llr: float) -> Verdict:
        """Return the verdict for a log-likelihood ratio."""
        low, high = self.bounds
        return "H0" if llr <= low else "H1" if llr >= high else "undecided"

    def run(self, points: Iterable[float]) -> tuple[Verdict, float, int]:
        """Return (verdict, log-likelihood ratio, number of pairs) at the first pair that decides, or at the last pair.

        Args:
            points: points of each pair, 0 to 2, in the order of the pairs.
        """
        counts, number, llr = [0] * len(PAIR_SCORES), 0, 0.0
        for point in points:
            counts[round(2 * point)] += 1
            number += 1
            llr = self.llr(counts)
            if self.verdict(llr) != "undecided":
                break
        return self.verdict(llr), llr, number


def expected_score(elo: float) -> float:
    """Return the expected score for an Elo difference by the logistic model: 1 / (1 + 10^(-elo / 400)).

    >>> round(expected_score(100), 2)
    0.64
    """
    return 1 / (1 + 10 ** (-elo / 400))


@lru_cache(maxsize=1 << 16)  # a resumed match asks again for all of its pairs
def _llr(s0: float, s1: float, counts: tuple[int, ...]) -> float:
    """Return `Sprt.llr` for hypotheses that are given as expected scores."""
    seen = [count or UNSEEN for count in counts]
    if not any(counts):
        return 0.0
    total = sum(seen)
    shares = [count / total for count in seen]
    tilt0, tilt1 = _tilt(shares, s0), _tilt(shares, s1)
    terms = (
        share * math.log((1 + tilt0 * (score - s0)) / (1 + tilt1 * (score - s1)))
        for share, score in zip(shares, PAIR_SCORES, strict=True)
    )
    return total * sum(terms)


def _tilt(shares: Sequence[float], mean: float) -> float:
    """Return the tilt for which ``share / (1 + tilt * (score - mean))`` is the most likely distribution with a mean.

    The mean of that distribution falls as the tilt grows, so bisection finds the tilt.
    """
    low, high = -1 / (PAIR_SCORES[-1] - mean), 1 / (mean - PAIR_SCORES[0])  # bounds at which a weight is infinite
    for _ in range(200):
        middle = (low + high) / 2
        slope = sum(
            share * (score - mean) / (1 + middle * (score - mean))
            for share, score in zip(shares, PAIR_SCORES, strict=True)
        )
        if slope > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
