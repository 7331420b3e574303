"""What a system says about recorded turns: the one form in which systems are compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Predictions:
    """A system's answers about T turns, each float64 [T], by the name under which it is reported."""

    rates: Mapping[str, Floats]
    """0 to 1: whether something held of the turn, such as that the played move was among the first five."""
    win_rates: Mapping[str, Floats]
    """0 to 1: the mover's chance to win."""
    errors: Mapping[str, Floats]
    """0 or more: how far the system's answer was from what was played."""


def top_hits(better: npt.ArrayLike, equal: npt.ArrayLike, k: int) -> Floats:
    """Chance that the played move is among the first ``k`` when equally good moves stand in random order.

    Args:
        better: [T], moves the system prefers to the played one.
        equal: [T], moves it finds as good, the played one among them.
        k: how many come first.

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
