"""Time two ways of doing one thing, turn by turn, so that noise of the machine falls on both."""

import statistics
import time
from collections.abc import Callable
from typing import Any

from bench.compare import TIMES


def seconds(function: Callable[[], Any]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def medians(ours: Callable[[], float], reference: Callable[[], float], repeats: int) -> tuple[float, float]:
    """Median of each side's own figure over ``repeats`` interleaved calls, after one that does not count."""
    ours(), reference()
    pairs = [(ours(), reference()) for _ in range(repeats)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


def row(
    name: str, ours: float, reference: float | None, reference_name: str | None, unit: str
) -> dict[str, str | float | None]:
    """One line of bench/results.json; the ratio is above 1 where ours is faster, for times and for rates alike."""
    ratio = None
    if reference is not None:
        ratio = reference / ours if unit in TIMES else ours / reference
    return {
        "name": name,
        "ours": ours,
        "reference": reference,
        "reference_name": reference_name,
        "ratio": ratio,
        "unit": unit,
    }
