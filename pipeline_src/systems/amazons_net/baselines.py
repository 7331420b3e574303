"""What needs no training says about recorded turns: the one-ply evaluation, and chance among the legal.

Rates and win rates have the names of `pipeline_src.systems.amazons_net.predict`. One ply deep, a move is worth its best
arrow. Equal turns count by the chance that random order puts the played one first.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.players.amazons.basic import one_ply_values
from pipeline_src.players.amazons.evaluator import make_evaluator
from pipeline_src.systems.amazons_net.predictions import Floats, Predictions, top_hits
from pipeline_src.systems.amazons_net.recorded import RecordedTurns

CHUNK = 256
"""Turns of one task."""
CHOICES = ("from_to", "arrow", "turn")


class Ranks(NamedTuple):
    """How the one-ply evaluation ranks T played turns; columns are `CHOICES`, the arrow given the played move."""

    better: npt.NDArray[np.int64]
    """[T, 3], alternatives worth more."""
    equal: npt.NDArray[np.int64]
    """[T, 3], alternatives worth the same, the played one among them."""
    legal: npt.NDArray[np.int64]
    """[T, 3], alternatives in all."""
    value: Floats
    """[T], worth in squares to the mover of the best turn with the played move."""
    value_before: Floats
    """[T], of the best turn."""


def rank_turns(turns: RecordedTurns) -> Ranks:
    """Rank the turns.

    Raises:
        ZugwerkError: a played turn is not legal in its position.
    """
    played, n = turns.actions(), turns.boards.shape[1] * turns.boards.shape[2]
    better, equal, legal = np.zeros((3, len(turns), len(CHOICES)), np.int64)
    ranks = Ranks(better, equal, legal, np.zeros(len(turns)), np.zeros(len(turns)))
    evaluator = make_evaluator("amazons")
    for row, state in enumerate(turns.states()):
        actions, values = one_ply_values(state, evaluator)
        place = np.flatnonzero(actions == played[row])
        if not place.size:
            raise turns.refuse(row)
        moves = actions // n  # turns of one move stand side by side
        best = np.maximum.reduceat(values, np.flatnonzero(np.diff(moves, prepend=-1)))
        arrows = values[moves == played[row] // n]
        value = values[place[0]]
        for column, (worth, own) in enumerate(((best, arrows.max()), (arrows, value), (values, value))):
            ranks.better[row, column] = (worth > own).sum()
            ranks.equal[row, column] = (worth == own).sum()
            ranks.legal[row, column] = len(worth)
        ranks.value[row], ranks.value_before[row] = arrows.max(), values.max()
    return ranks


def join_ranks(parts: Sequence[Ranks]) -> Ranks:
    """Ranks of consecutive turns as one."""
    return Ranks(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def predict_one_ply(ranks: Ranks, scale: float) -> Predictions:
    """The one-ply evaluation's answers; its win rates are logistic in the value, with ``scale`` squares."""
    win_rates = {"value": win_rate(ranks.value, scale), "value_before": win_rate(ranks.value_before, scale)}
    return Predictions(_rates(ranks.better, ranks.equal), win_rates, {})


def predict_uniform(ranks: Ranks) -> Predictions:
    """Chance: every legal alternative is as good as the others, and so is every game."""
    even = np.full(len(ranks.value), 0.5)
    return Predictions(
        _rates(np.zeros_like(ranks.legal), ranks.legal), {"value": even, "value_before": even.copy()}, {}
    )


def _rates(better: npt.NDArray[np.int64], equal: npt.NDArray[np.int64]) -> dict[str, Floats]:
    return {
        f"{choice}_top{k}": top_hits(better[:, column], equal[:, column], k)
        for column, choice in enumerate(CHOICES)
        for k in (1, 5)
    }


def win_rate(value: Floats, scale: float) -> Floats:
    """``1 / (1 + exp(-value / scale))``."""
    return 0.5 * (1 + np.tanh(value / scale / 2))


def fit_scale(value: Floats, results: npt.NDArray[np.integer]) -> float:
    """The scale, in squares, at which the win rate's log-likelihood of ``results`` (1 won, 0 lost) is highest.

    Between 0.1 and 1,000: values that tell all results, or nothing about them, would have it at no squares or at
    infinitely many.
    """
    low, high = 1e-3, 10.0  # of 1 / scale, in which the likelihood is concave
    for _ in range(60):
        middle = (low + high) / 2
        if float((value * (results - win_rate(value, 1 / middle))).sum()) > 0:
            low = middle
        else:
            high = middle
    return 2 / (low + high)
