"""Agreement of predictions with recorded games, with intervals that treat the turns of a game as one cluster."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline_src.arena.score import Score, clustered_mean, clustered_rate
from pipeline_src.systems.amazons_net.predictions import Predictions


@dataclass(frozen=True)
class Outcomes:
    """Results of the games of T turns."""

    results: npt.NDArray[np.integer]
    """[T], 1 where the mover won the game, 0 where it lost."""
    gids: npt.NDArray[np.integer]
    """[T], number of the game."""
    plies: npt.NDArray[np.integer]
    """[T], turns played before this one."""


def agreement(
    predictions: Predictions, outcomes: Outcomes, rows: npt.NDArray[np.bool_] | None = None
) -> dict[str, Score]:
    """Return all figures of a system by name, over all turns or over those of ``rows`` [T].

    Rates and errors keep their names. Each win rate w gives ``w_accuracy`` (the likelier side won; 0.5 counts half),
    ``w_brier`` (mean squared error) and ``w_l1`` (mean absolute error).
    """
    chosen = np.ones(len(outcomes.gids), bool) if rows is None else rows
    games = outcomes.gids[chosen]
    figures = {name: clustered_rate(values[chosen], games) for name, values in predictions.rates.items()}
    for name, win_rates in predictions.win_rates.items():
        win_rate, result = win_rates[chosen], outcomes.results[chosen]
        right = np.where(win_rate == 0.5, 0.5, (win_rate > 0.5) == (result == 1))
        figures[f"{name}_accuracy"] = clustered_rate(right, games)
        figures[f"{name}_brier"] = clustered_mean((win_rate - result) ** 2, games)
        figures[f"{name}_l1"] = clustered_mean(np.abs(win_rate - result), games)
    return figures | {name: clustered_mean(values[chosen], games) for name, values in predictions.errors.items()}


def by_phase(
    predictions: Predictions, outcomes: Outcomes, starts: Sequence[int]
) -> Iterator[tuple[str, dict[str, Score]]]:
    """Return `agreement` for each phase that has turns: ``0-19``, ``20-49``, ``50-`` for starts 0, 20, 50."""
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        rows = outcomes.plies >= start
        if end is not None:
            rows &= outcomes.plies < end
        if rows.any():
            name = f"{start}-" if end is None else f"{start}-{end - 1}"
            yield name, agreement(predictions, outcomes, rows)
