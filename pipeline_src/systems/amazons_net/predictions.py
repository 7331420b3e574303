"""`Predictions` of a system on recorded turns: the common form in which systems are compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Predictions:
    """A system's predictions for T turns, each float64 [T], by the name of the figure."""

    rates: Mapping[str, Floats]
    """Hits from 0 to 1, such as whether the played move is among the first five."""
    win_rates: Mapping[str, Floats]
    """Win rates of the side to move, 0 to 1."""
    errors: Mapping[str, Floats]
    """Distances, 0 or more, of the system's answer from the played move."""


def top_hits(better: npt.ArrayLike, equal: npt.ArrayLike, k: int) -> Floats:
    """Return the probability that the played move is among the first ``k`` with ties in random order.

    Args:
        better: [T], number of moves that the system prefers to the played one.
        equal: [T], number of moves that it rates equal, including the played one.
        k: number of first places.

    Returns:
        float64 [T]; 0 or 1 wherever no tie reaches across the k-th place.
    """
    return np.clip((k - np.asarray(better, np.float64)) / np.asarray(equal, np.float64), 0.0, 1.0)


def join_predictions(parts: Sequence[Predictions]) -> Predictions:
    """Predictions about consecutive turns as one."""
    joined = {
        field.name: {
            name: np.concatenate([getattr(part, field.name)[name] for part in parts])
            for name in getattr(parts[0], field.name)
        }
        for field in fields(Predictions)
    }
    return Predictions(**joined)
