"""Outputs of nets for one turn of the Amazons, square by square, for pictures."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons.board import COLOUR, AmazonsState, to_play
from pipeline_src.systems.amazons_net.answers import Forward, after_move

Shares = npt.NDArray[np.float64]
"""[N], probabilities by square s = (rank - 1) * W + (file - 1)."""


@dataclass(frozen=True)
class TurnView:
    """A position before a turn, and the same after the amazon's move that was played there."""

    start: Shares
    """Probability that the amazon on a square moves; they sum to 1."""
    to: Shares
    """Probability that a square is where she goes, whichever she is; they sum to 1."""
    moves: tuple[tuple[int, int, float], ...]
    """The likeliest (from, to) with their probabilities, the likeliest first."""
    win_rate: float
    """The mover's chance to win, before the move."""
    arrow: Shares
    """Probability of an arrow to a square, after the move that was played; they sum to 1."""
    win_rate_after: float
    """The mover's chance to win, knowing that move."""


def view_turn(nets: Forward, state: AmazonsState, action: int, count: int = 3) -> TurnView:
    """Ask nets about a position and the turn ``action`` that was played there, for the ``count`` likeliest moves.

    Raises:
        ZugwerkError: a board that the nets were not made for, or a side without four amazons.
    """
    n = state.board.size
    boards, movers = state.board[None, ::-1], np.array([COLOUR[to_play(state)]], np.int8)
    start, to = (np.array([square], np.int16) for square in (action // (n * n), action // n % n))
    before = nets.move(boards, movers)
    p = np.exp(before.log_p[0].astype(np.float64))  # [4, N]
    by_amazon = np.zeros(n)
    by_amazon[before.amazons[0]] = p.sum(1)
    best = np.argsort(-p, axis=None, kind="stable")[:count]
    moves = [(int(before.amazons[0, k // n]), int(k % n), float(p.flat[k])) for k in best if p.flat[k] > 0]
    after = nets.arrow(after_move(boards, movers, start, to), movers, to)
    return TurnView(
        by_amazon,
        p.sum(0),
        tuple(moves),
        float(before.win_rate[0]),
        np.exp(after.log_p[0].astype(np.float64)),
        float(after.win_rate[0]),
    )
