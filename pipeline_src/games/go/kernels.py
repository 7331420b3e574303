"""Go for searches: an action is the point of a stone, or the pass; a step is an action."""

from typing import Any

from pipeline_src.games import kernels
from pipeline_src.games.go import moves
from pipeline_src.games.go.board import FIRST, KOMI, PASSES, SIDE, GoState
from pipeline_src.jit import njit


@njit(cache=True)
def _to_play(state: GoState) -> int:
    return int(state.turn[SIDE])


@njit(cache=True)
def _position_hash(state: GoState) -> Any:
    return state.hash[0]


@njit(cache=True)
def _outcome(state: GoState) -> tuple[bool, float]:
    if state.turn[PASSES] < 2:
        return False, 0.0
    lead = 2 * moves.area(state.board) - state.turn[KOMI]
    if state.turn[SIDE] != FIRST:
        lead = -lead
    return True, 1.0 if lead > 0 else (-1.0 if lead < 0 else 0.0)


@njit(cache=True)
def _room(state: GoState) -> int:
    return int(state.board.size) + 1


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
    kernels.implement(generic, GoState, kernel)
