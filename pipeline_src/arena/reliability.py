"""The reliability curve: win rates that were predicted, by ranges, against those that were observed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline_src.arena.score import Score, clustered_rate
from pipeline_src.files import Row

BINS = 10
"""Number of ranges of the reliability curve: predicted win rates from 0 to 0.1, and so on."""


@dataclass(frozen=True)
class CalibrationBin:
    """Turns with predicted win rates in one range."""

    predicted: float
    """Mean of the predicted win rates."""
    observed: Score
    """Observed win rate."""


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
        {
            "predicted": some.predicted,
            "observed": some.observed.value,
            "low": some.observed.low,
            "high": some.observed.high,
            "turns": some.observed.n,
        }
        for some in bins
    ]
