"""A 95 % interval of any figure that sums over games decide, such as an F1 or a ratio: each game left out in turn."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.arena.score import Z95, Score


def jackknife(
    parts: npt.NDArray[Any],
    statistic: Callable[[npt.NDArray[Any]], float],
    n: int,
    lowest: float = -math.inf,
    highest: float = math.inf,
) -> Score:
    """A statistic of sums over games, with its interval (Efron, Stein, Annals of Statistics 9, 1981).

    Args:
        parts: [G, ...], what each game adds to the sums.
        statistic: of the sums [...].
        n: number of trials or positions, reported with the result.
        lowest: the least that the statistic can be.
        highest: the most.

    Returns:
        The statistic of all games. Of a single game, or where the statistic of some others is no number, the interval
        is NaN.
    """
    games, total = len(parts), parts.sum(0)
    value = statistic(total)
    if games < 2:
        return Score(value, math.nan, math.nan, n)
    without = np.array([statistic(total - part) for part in parts])
    half = Z95 * math.sqrt((games - 1) / games * float(((without - without.mean()) ** 2).sum()))
    if math.isnan(half):
        return Score(value, math.nan, math.nan, n)
    return Score(value, max(lowest, value - half), min(highest, value + half), n)
