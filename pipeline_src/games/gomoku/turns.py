"""The rules of Gomoku as Python functions. Each takes a state as a value and does not change it."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku import moves
from pipeline_src.games.gomoku.board import GOING, SIDE, STANDING, WON, GomokuState, copy_state


def legal_actions(state: GomokuState) -> npt.NDArray[np.int32]:
    """Return the empty cells that are not forbidden, int32 [A], ascending; empty if the game is over."""
    out = np.empty(state.board.size, np.int32)
    return out[: moves.write_actions(state, out)]


def is_legal(state: GomokuState, action: int) -> bool:
    """Whether the game is unfinished and ``action``, any int, is an empty cell that is not forbidden."""
    return bool(0 <= action < state.board.size and moves.legal(state, action))


def play(state: GomokuState, action: int) -> GomokuState:
    """Return the state after a legal action.

    Raises:
        ZugwerkError: the action is not legal.
    """
    if not is_legal(state, action):
        raise ZugwerkError(f"action {action} is not legal here")
    after = copy_state(state)
    moves.play(after, action)
    return after


def winner(state: GomokuState) -> Literal["first", "second", "draw"] | None:
    """Return the result of a finished game: ``first`` is Black; None for an unfinished game."""
    if state.turn[STANDING] == GOING:
        return None
    if state.turn[STANDING] != WON:
        return "draw"
    return "second" if state.turn[SIDE] == 0 else "first"
