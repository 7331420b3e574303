"""Replay of whole games: the boards of all positions."""

import numpy as np
import numpy.typing as npt

from pipeline_src.games.go.board import GoState, copy_state
from pipeline_src.games.go.moves import legal, play
from pipeline_src.jit import njit


@njit(cache=True, allocates=True)
def play_actions(state: GoState, actions: npt.NDArray[np.int32], boards: npt.NDArray[np.int8]) -> int:
    """Play actions in place and write the board before each ply and after the last; stop at an illegal action.

    Args:
        state: the first position; afterwards the last one.
        actions: int32 [P].
        boards: output, int8 [P + 1, H, W] or more; ``boards[p]`` is the position before ply p.

    Returns:
        The number of actions played: P, or the index of the first illegal one.
    """
    boards[0] = state.board
    for ply in range(actions.size):
        if not legal(state, actions[ply]):
            return ply
        play(state, actions[ply])
        boards[ply + 1] = state.board
    return int(actions.size)


def replay(state: GoState, actions: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """Return the boards before each legal ply and after the last, int8 [P + 1, H, W]. ``state`` is not changed.

    Fewer than ``len(actions) + 1`` boards mean that the action after the last board is illegal.
    """
    plies = np.asarray(actions, np.int32)
    boards = np.empty((plies.size + 1, *state.board.shape), np.int8)
    return boards[: play_actions(copy_state(state), plies, boards) + 1]
