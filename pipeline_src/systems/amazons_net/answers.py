"""Answers of nets for batches of boards, by any backend: for players, for PUCT and for pictures.

Knows nothing of torch.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons import COLOUR, EMPTY, AmazonsState
from pipeline_src.games.rules import to_play
from pipeline_src.jit import Need

Boards = npt.NDArray[np.int8]  # int8 [B, H, W], row 0 = rank H
Squares = npt.NDArray[np.int16]
Floats = npt.NDArray[np.float32]


class MoveAnswer(NamedTuple):
    """Output of Move-Net for B positions."""

    win_rate: Floats  # [B], the mover's chance to win
    log_p: Floats  # [B, 4, N]: log-probability that amazon k goes to s; minus infinity where she may not
    amazons: Squares  # [B, 4], their squares, ascending


class ArrowAnswer(NamedTuple):
    """Output of Arrow-Net for B positions in which an amazon has moved and not shot yet."""

    win_rate: Floats  # [B], the mover's chance to win
    log_p: Floats  # [B, N]: log-probability of an arrow to s; minus infinity where it may not go


class Forward(Protocol):
    """A net that is asked twice per turn: for the amazon's move, and then for the arrow."""

    size: int
    """Squares along one side of the board."""

    def move(self, boards: Boards, movers: npt.NDArray[np.int8]) -> MoveAnswer:
        """Move-Net on boards with ``movers`` int8 [B] (BLACK or WHITE) to move.

        Raises:
            ZugwerkError: boards of another size than the nets', or a mover without four amazons.
        """

    def arrow(self, boards: Boards, movers: npt.NDArray[np.int8], moved: Squares) -> ArrowAnswer:
        """Arrow-Net on boards on which the mover's amazon stands on square ``moved`` int16 [B] already.

        Raises:
            ZugwerkError: as `move`, or no amazon of the mover stands there.
        """

    def needs(self) -> list[Need]:
        """Kernels that it calls."""

    def check_board(self, height: int, width: int) -> None:
        """Refuse a board of another size than the nets'.

        Raises:
            ZugwerkError: says which is theirs.
        """
        if (height, width) != (self.size, self.size):
            raise ZugwerkError(f"a {height}x{width} board, but these nets play on {self.size}x{self.size}")


def after_move(boards: Boards, movers: npt.NDArray[np.int8], start: Squares, to: Squares) -> Boards:
    """Copies of boards with the mover's amazon gone from square ``start`` [B] to ``to`` [B]."""
    _, height, width = boards.shape
    rows, after = np.arange(len(boards)), boards.copy()
    after[rows, height - 1 - start // width, start % width] = EMPTY
    after[rows, height - 1 - to // width, to % width] = movers
    return after


Ints = npt.NDArray[np.int32]
_COLOUR = np.array(COLOUR, np.int8)


class AmazonsNetEvaluator:
    """`search.mcts.puct_trees.EvaluateBatch` by a net; an answer depends on its position alone, if the net's does."""

    def __init__(self, nets: Forward) -> None:
        self.nets, self.size = nets, nets.size

    def check_board(self, height: int, width: int) -> None:
        """See `Forward.check_board`."""
        self.nets.check_board(height, width)

    def needs(self, state: AmazonsState) -> list[Need]:  # noqa: ARG002
        """See `search.mcts.puct_search.Puct.needs`."""
        return self.nets.needs()

    def __call__(self, states: AmazonsState, steps: Ints, counts: Ints) -> tuple[Floats, Floats]:
        """Priors float32 [B, S] of the steps, values float32 [B] in -1..1 to the side to move.

        Args:
            states: stacked states, boards [B, H, W]; with and without an amazon that has moved and not shot yet.
            steps: int32 [B, S], legal steps; those past a row's count are not read.
            counts: int32 [B].
        """
        legal = np.arange(steps.shape[1]) < counts[:, None]
        steps = np.where(legal, steps, 0)
        boards = np.ascontiguousarray(states.board[:, ::-1])  # the nets' row 0 is the top rank
        movers, moved = _COLOUR[states.turn[:, 0]], states.turn[:, 1]
        squares = boards[0].size
        log_p, win_rate = np.empty(steps.shape, np.float32), np.empty(len(steps), np.float32)
        before = np.flatnonzero(moved < 0)
        if len(before):
            move = self.nets.move(boards[before], movers[before])
            start, to = np.divmod(steps[before], squares)
            amazon = (move.amazons[:, :, None] == start[:, None, :]).argmax(axis=1)
            log_p[before] = move.log_p[np.arange(len(before))[:, None], amazon, to]
            win_rate[before] = move.win_rate
        after = np.flatnonzero(moved >= 0)
        if len(after):
            arrow = self.nets.arrow(boards[after], movers[after], moved[after])
            log_p[after] = np.take_along_axis(arrow.log_p, steps[after].astype(np.int64), axis=1)
            win_rate[after] = arrow.win_rate
        return np.where(legal, np.exp(log_p), np.float32(0)), 2 * win_rate - 1


Shares = npt.NDArray[np.float64]  # [N], probabilities by square s = (rank - 1) * W + (file - 1)


@dataclass(frozen=True)
class TurnView:
    """A position before a turn, and the same after the amazon's move that was played there."""

    start: Shares  # Probability that the amazon on a square moves; they sum to 1
    to: Shares  # Probability that a square is where she goes, whichever she is; they sum to 1
    moves: tuple[tuple[int, int, float], ...]  # The likeliest (from, to) with their probabilities, the likeliest first
    win_rate: float  # The mover's chance to win, before the move
    arrow: Shares  # Probability of an arrow to a square, after the move that was played; they sum to 1
    win_rate_after: float  # The mover's chance to win, knowing that move


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
