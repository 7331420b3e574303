"""Counting together with an evaluator of leaves: endings that counting decides replace the net's value.

With `PuctOptions.solve`, the tree backs their results up as certain.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons import AmazonsState
from pipeline_src.games.kernels import row, stack
from pipeline_src.jit import Need, needs_of, njit
from pipeline_src.search.amazons.endgame import EndgameScratch, endgame_scratch, settle_amazons
from pipeline_src.search.mcts.puct import UNSURE
from pipeline_src.search.mcts.puct_trees import Answer, EvaluateBatch


@njit(cache=True, nogil=True)
def settle_values(states: AmazonsState, scratch: EndgameScratch, values: npt.NDArray[np.float32]) -> None:
    """Set the values float32 [B] of stacked states that counting decides to 1 or -1; see `settle_amazons`."""
    for b in range(values.size):
        decided, margin = settle_amazons(row(states, b), scratch)
        if decided:
            values[b] = 1.0 if margin > 0 else -1.0


class SettlingEvaluator:
    """An evaluator of the leaves of Amazons trees together with counting."""

    def __init__(self, evaluate_batch: EvaluateBatch, amazons: int = 4) -> None:
        """``amazons`` is the largest number of amazons of a side."""
        self.evaluate_batch, self._scratch = evaluate_batch, endgame_scratch(amazons)

    def __call__(self, states: Any, steps: npt.NDArray[np.int32], counts: npt.NDArray[np.int32]) -> Answer:
        """See `search.mcts.puct_trees.EvaluateBatch`."""
        priors, values = self.evaluate_batch(states, steps, counts)
        values = np.clip(values, -UNSURE, UNSURE)
        settle_values(states, self._scratch, values)
        return priors, values

    def needs(self, state: AmazonsState) -> list[Need]:
        """See `Puct.needs`."""
        settled = Need(settle_values, (stack(state, 1), self._scratch, np.empty(1, np.float32)))
        return [settled, *needs_of(self.evaluate_batch, state)]
