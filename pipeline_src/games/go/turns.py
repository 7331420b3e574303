"""The rules of Go as Python functions. Each takes a state as a value and does not change it."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go import moves
from pipeline_src.games.go.board import KOMI, PASSES, GoState, copy_state


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
