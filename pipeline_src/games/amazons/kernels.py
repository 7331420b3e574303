"""The Amazons for searches: an action is a whole turn; a step is ``from * N + to`` or the arrow's square."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.games import kernels
from pipeline_src.games.amazons import moves
from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.jit import njit

Ids = npt.NDArray[np.int32]


@njit(cache=True)
def _to_play(state: AmazonsState) -> int:
    return int(state.turn[0])


@njit(cache=True)
def _position_hash(state: AmazonsState) -> Any:
    return state.hash[0]


@njit(cache=True)
def _outcome(state: AmazonsState) -> tuple[bool, float]:
    if state.turn[1] >= 0 or moves.can_move(state):
        return False, 0.0
    return True, -1.0


@njit(cache=True)
def _max_steps(state: AmazonsState) -> int:
    return int(state.amazons.shape[1] * moves.MAX_REACH + moves.SPARE)


@njit(cache=True)
def _max_actions(state: AmazonsState) -> int:
    return int(state.amazons.shape[1] * moves.MAX_REACH * moves.MAX_REACH + moves.SPARE)


@njit(cache=True, allocates=True)
def _write_actions(state: AmazonsState, out: Ids) -> int:
    return int(
        moves.write_turns(state, np.empty(state.amazons.shape[1] * moves.MAX_REACH + moves.SPARE, np.int32), out)
    )


@njit(cache=True)
def _is_legal(state: AmazonsState, action: int) -> bool:
    squares = state.board.size
    return bool(moves.legal(state, action // (squares * squares), action // squares % squares, action % squares))


@njit(cache=True)
def _take_back(state: AmazonsState, action: int) -> None:
    squares = state.board.size
    moves.take_back(state, action // (squares * squares), action // squares % squares, action % squares)


@njit(cache=True)
def _write_steps(state: AmazonsState, out: Ids) -> int:
    if state.turn[1] >= 0:
        return int(moves.reach(state.lines, state.board.shape[1], state.turn[1], out, 0, 0))
    return int(moves.write_moves(state, out))


@njit(cache=True)
def _play_step(state: AmazonsState, step: int) -> None:
    if state.turn[1] >= 0:
        moves.shoot(state, step)
    else:
        moves.move_amazon(state, step // state.board.size, step % state.board.size)


for generic, kernel in (
    (kernels.copy_into, moves.copy_into),
    (kernels.to_play, _to_play),
    (kernels.position_hash, _position_hash),
    (kernels.outcome, _outcome),
    (kernels.max_actions, _max_actions),
    (kernels.max_steps, _max_steps),
    (kernels.write_actions, _write_actions),
    (kernels.is_legal, _is_legal),
    (kernels.play, moves.play_turn),
    (kernels.take_back, _take_back),
    (kernels.write_steps, _write_steps),
    (kernels.play_step, _play_step),
):
    kernels.implement(generic, AmazonsState, kernel)
