"""Gomoku for searches: an action is the cell of a stone; a step is an action."""

from typing import Any

from pipeline_src.games import kernels
from pipeline_src.games.gomoku import moves
from pipeline_src.games.gomoku.board import GOING, SIDE, STANDING, WON, GomokuState
from pipeline_src.jit import njit


@njit(cache=True)
def _to_play(state: GomokuState) -> int:
    return int(state.turn[SIDE])


@njit(cache=True)
def _position_hash(state: GomokuState) -> Any:
    return state.hash[0]


@njit(cache=True)
def _outcome(state: GomokuState) -> tuple[bool, float]:
    return state.turn[STANDING] != GOING, -1.0 if state.turn[STANDING] == WON else 0.0


@njit(cache=True)
def _room(state: GomokuState) -> int:
    return int(state.board.size)


for generic, kernel in (
    (kernels.copy_into, moves.copy_into),
    (kernels.to_play, _to_play),
    (kernels.position_hash, _position_hash),
    (kernels.outcome, _outcome),
    (kernels.max_actions, _room),
    (kernels.max_steps, _room),
    (kernels.write_actions, moves.write_actions),
    (kernels.is_legal, moves.legal),
    (kernels.play, moves.play),
    (kernels.take_back, moves.take_back),
    (kernels.write_steps, moves.write_actions),
    (kernels.play_step, moves.play),
):
    kernels.implement(generic, GomokuState, kernel)
