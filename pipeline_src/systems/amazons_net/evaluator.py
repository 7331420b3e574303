"""A net as the evaluator of PUCT: priors of the legal steps, and values, before a move and before an arrow."""

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons.board import COLOUR, AmazonsState
from pipeline_src.jit.needs import Need
from pipeline_src.systems.amazons_net.answers import Forward

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
_COLOUR = np.array(COLOUR, np.int8)


class AmazonsNetEvaluator:
    """`search.mcts.puct_trees.EvaluateBatch` by a net; an answer depends on its position alone, if the net's does."""

    def __init__(self, nets: Forward) -> None:
        self.nets, self.size = nets, nets.size

    def check_board(self, height: int, width: int) -> None:
        """See `answers.check_size`."""
        self.nets.check_board(height, width)

    def needs(self, state: AmazonsState) -> list[Need]:  # noqa: ARG002
        """See `search.mcts.puct.Puct.needs`."""
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
