"""Outputs of a self-play net for one position, before and after a search, for pictures."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipeline_src.games.gomoku import GomokuState
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_trees import PuctTrees
from pipeline_src.systems.gomoku_zero.evaluator import make_evaluator
from pipeline_src.systems.gomoku_zero.player import check_state

Shares = npt.NDArray[np.float64]  # [N], by cell; they sum to 1


@dataclass(frozen=True)
class PositionView:
    """A position as the net sees it, and as a search sees it; win rates are those of the side to move."""

    policy: Shares  # The net's probabilities of the moves
    win_rate: float  # By the net, a draw counting half
    visits: Shares  # Shares of the search's visits
    win_rate_searched: float  # Mean over the search


class ZeroView:
    """Asks one model; the search is the PUCT of the player ``zero``, with its defaults and without noise."""

    def __init__(self, path: Path | str, simulations: int) -> None:
        """Load the model, to run on one thread of the CPU: a ``.pt`` always in torch.

        Raises:
            ZugwerkError: no such model, or a damaged one.
        """
        self.evaluator, self.info = make_evaluator(path, "torch" if Path(path).suffix == ".pt" else "auto")
        self.simulations = simulations

    def view(self, state: GomokuState) -> PositionView:
        """Return the view of an unfinished position.

        Raises:
            ZugwerkError: another board size or variant than the model's, or the game is over.
        """
        check_state(self.info, state)
        trees = PuctTrees(state, 1, self.evaluator, PuctOptions(c=1.0, c_base=0.0), self.simulations + 2)
        trees.plant(0, state)
        trees.simulate(np.array([self.simulations], np.int32))
        steps, visits = trees.steps(0), trees.visits(0)
        policy, shares = np.zeros(state.board.size), np.zeros(state.board.size)
        policy[steps] = trees.priors(0)
        shares[steps] = visits / max(visits.sum(), 1)
        return PositionView(policy, _rate(trees.raw_value(0)), shares, _rate(trees.value(0)))


def _rate(value: float) -> float:
    """-1..1 as 0..1; a net's last layer may round just past the ends."""
    return min(max((1 + value) / 2, 0.0), 1.0)
