"""The rules as functions that take a state as a value and leave it as it was."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go import moves
from pipeline_src.games.go.board import KOMI, PASSES, GoState, copy_state


def legal_actions(state: GoState) -> npt.NDArray[np.int32]:
    """The points where a stone may be placed and the pass, int32 [A], ascending; none where the game is over."""
    out = np.empty(state.board.size + 1, np.int32)
    return out[: moves.write_actions(state, out)]


def is_legal(state: GoState, action: int) -> bool:
    """Whether the game goes on and ``action``, any int, is a pass or may be placed."""
    return bool(0 <= action <= state.board.size and moves.legal(state, action))


def play(state: GoState, action: int) -> GoState:
    """The state after a legal action.

    Raises:
        ZugwerkError: the action is not legal.
    """
    if not is_legal(state, action):
        raise ZugwerkError(f"action {action} is not legal here")
    after = copy_state(state)
    moves.play(after, action)
    return after


def lead(state: GoState) -> float:
    """Points by which Black's area is ahead of White's and the komi, as the board stands."""
    return float(moves.area(state.board)) - int(state.turn[KOMI]) / 2


def winner(state: GoState) -> Literal["first", "second", "draw"] | None:
    """The result of a finished game by its area, ``first`` for Black; None while it goes on."""
    if state.turn[PASSES] < 2:
        return None
    points = lead(state)
    if points == 0:
        return "draw"
    return "first" if points > 0 else "second"
