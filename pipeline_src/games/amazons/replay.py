"""Replay of whole games: play a list of turns from a position, up to the first illegal one."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons.board import AmazonsState, copy_state
from pipeline_src.games.amazons.moves import legal, play_turn
from pipeline_src.jit import njit


@njit(cache=True)
def play_turns(state: AmazonsState, actions: npt.NDArray[np.int64]) -> int:
    """Play actions in place up to the first illegal one; return the number of actions played."""
    squares = state.board.size
    for ply in range(actions.size):
        action = actions[ply]
        if not legal(state, action // (squares * squares), action // squares % squares, action % squares):
            return ply
        play_turn(state, action)
    return actions.size


def replay(state: AmazonsState, actions: Sequence[int]) -> tuple[AmazonsState, int]:
    """Return the state after the legal turns at the head of ``actions``, and the number of those turns.

    The number is ``len(actions)`` if all turns are legal, and otherwise the index of the first illegal one. ``state``
    is not changed. Actions may be any int64.
    """
    after = copy_state(state)
    played = play_turns(after, np.asarray(actions, dtype=np.int64))
    return after, int(played)
