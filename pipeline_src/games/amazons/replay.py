"""Whole games at once: play a list of turns from a position and say where it stops being legal."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons.board import AmazonsState, copy_state
from pipeline_src.games.amazons.moves import legal, play_turn
from pipeline_src.jit import njit


@njit(cache=True)
def play_turns(state: AmazonsState, actions: npt.NDArray[np.int64]) -> int:
    """Play actions in place up to the first illegal one; return how many were played."""
    squares = state.board.size
    for ply in range(actions.size):
        action = actions[ply]
        if not legal(state, action // (squares * squares), action // squares % squares, action % squares):
            return ply
        play_turn(state, action)
    return actions.size


def replay(state: AmazonsState, actions: Sequence[int]) -> tuple[AmazonsState, int]:
    """The state after the legal turns at the head of ``actions``, and how many those are.

    All were legal where that number is ``len(actions)``; else it is the index of the first that is not. ``state``
    stays as it was; any int64 may stand among the actions.
    """
    after = copy_state(state)
    played = play_turns(after, np.asarray(actions, dtype=np.int64))
    return after, int(played)
