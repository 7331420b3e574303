"""Convergence: self-play and training on a board end when neither the loss nor the gate improves."""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline_src.systems.growing_boards.params import GrowingConvergence


class Progress(NamedTuple):
    """Result of a generation."""

    loss: float
    """Loss of its training."""
    points: float
    """Points of the new player in the gate; a draw is half a point."""
    games: int
    """Number of games in the gate."""


def has_converged(history: Sequence[Progress], params: GrowingConvergence) -> bool:
    """Whether the last generations of a board, in order, brought no improvement. False before two whole spans."""
    if len(history) < 2 * params.span:
        return False
    before, last = history[-2 * params.span : -params.span], history[-params.span :]
    falls = _loss(last) < (1 - params.loss_drop) * _loss(before)
    gains = sum(one.points for one in last) > (0.5 + params.score_gain) * sum(one.games for one in last)
    return not falls and not gains


def _loss(span: Sequence[Progress]) -> float:
    return sum(one.loss for one in span) / len(span)
