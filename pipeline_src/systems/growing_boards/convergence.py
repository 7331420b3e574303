"""When self-play and training on a board end: neither the loss nor the gate improves any more."""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline_src.systems.growing_boards.params import GrowingConvergence


class Progress(NamedTuple):
    """What a generation came to."""

    loss: float
    """Of its training."""
    points: float
    """Of the new player in the gate, a draw counting a half."""
    games: int
    """Of the gate."""


def has_converged(history: Sequence[Progress], params: GrowingConvergence) -> bool:
    """Whether the last generations of a board, in their order, brought nothing; never before two whole spans."""
    if len(history) < 2 * params.span:
        return False
    before, last = history[-2 * params.span : -params.span], history[-params.span :]
    falls = _loss(last) < (1 - params.loss_drop) * _loss(before)
    gains = sum(one.points for one in last) > (0.5 + params.score_gain) * sum(one.games for one in last)
    return not falls and not gains


def _loss(span: Sequence[Progress]) -> float:
    return sum(one.loss for one in span) / len(span)
