"""The rules of Go as Python functions. Each takes a state as a value and does not change it."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go import moves
from pipeline_src.games.go.board import KOMI, PASSES, GoState, copy_state
from pipeline_src.jit import njit


def legal_actions(state: GoState) -> npt.NDArray[np.int32]:
    """Return the legal points and the pass, int32 [A], ascending; empty if the game is over."""
    out = np.empty(state.board.size + 1, np.int32)
    return out[: moves.write_actions(state, out)]


def is_legal(state: GoState, action: int) -> bool:
    """Whether the game is unfinished and ``action``, any int, is a pass or a legal point."""
    return bool(0 <= action <= state.board.size and moves.legal(state, action))


def play(state: GoState, action: int) -> GoState:
    """Return the state after a legal action.

    Raises:
        ZugwerkError: the action is not legal.
    """
    if not is_legal(state, action):
        raise ZugwerkError(f"action {action} is not legal here")
    after = copy_state(state)
    moves.play(after, action)
    return after


def lead(state: GoState) -> float:
    """Return Black's area less White's area and the komi, in points, as the board stands."""
    return float(moves.area(state.board)) - int(state.turn[KOMI]) / 2


def winner(state: GoState) -> Literal["first", "second", "draw"] | None:
    """Return the result of a finished game by area: ``first`` is Black; None for an unfinished game."""
    if state.turn[PASSES] < 2:
        return None
    points = lead(state)
    if points == 0:
        return "draw"
    return "first" if points > 0 else "second"


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
        if not moves.legal(state, actions[ply]):
            return ply
        moves.play(state, actions[ply])
        boards[ply + 1] = state.board
    return int(actions.size)


def replay(state: GoState, actions: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """Return the boards before each legal ply and after the last, int8 [P + 1, H, W]. ``state`` is not changed.

    Fewer than ``len(actions) + 1`` boards mean that the action after the last board is illegal.
    """
    plies = np.asarray(actions, np.int32)
    boards = np.empty((plies.size + 1, *state.board.shape), np.int8)
    return boards[: play_actions(copy_state(state), plies, boards) + 1]
