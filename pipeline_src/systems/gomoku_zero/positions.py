"""Convert self-play games to training positions: planes, policies of the search, and results."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku, kernels
from pipeline_src.games.gomoku.board import GomokuState
from pipeline_src.games.gomoku.moves import legal
from pipeline_src.jit import njit
from pipeline_src.systems.gomoku_zero.planes import plane_count, zero_planes
from pipeline_src.systems.gomoku_zero.window import SelfPlayGames


class Positions(NamedTuple):
    """R positions before a searched ply, by game and then by ply; C = 2 * positions + 1 planes."""

    planes: npt.NDArray[np.uint8]
    """[R, C, H, W], 0 or 1, as `zero_planes` says."""
    policy: npt.NDArray[np.float32]
    """[R, N], what the search said; each row sums to 1."""
    value: npt.NDArray[np.float32]
    """[R], how the game ended for the side to move: 1 won, -1 lost, 0 drawn."""
    generation: npt.NDArray[np.int16]
    """[R], which generation played it."""


def positions(games: SelfPlayGames, history: int) -> Positions:
    """All positions of a window that have a target.

    Args:
        games: the window.
        history: how many positions back the planes go, the one to move in included (the paper's: 5).

    Raises:
        ZugwerkError: an action is not legal; names the game and the ply.
    """
    rows, start = len(games.policy), gomoku.initial_state(games.size, games.variant)
    states = GomokuState(*(np.empty((rows, *array.shape), array.dtype) for array in start))
    value = np.empty(rows, np.float32)
    wrong, ply = _replay(start, games.actions, games.offsets, games.winner, games.searched_from, states, value)
    if wrong >= 0:
        generation = games.generation[wrong]
        raise ZugwerkError(
            f"self-play window: game {wrong} (of generation {generation}), ply {ply}: cell "
            f"{games.actions[games.offsets[wrong] + ply]} is not legal; run that generation again"
        )
    policy = games.policy.astype(np.float32)
    sums = policy.sum(axis=1, keepdims=True)
    if not (np.isfinite(sums) & (sums > 0.5) & (games.policy.min(axis=1, initial=0, keepdims=True) >= 0)).all():
        raise ZugwerkError("self-play window: a policy is no distribution; run its generation again")
    planes = np.empty((rows, plane_count(history), games.size, games.size), np.uint8)
    zero_planes(states, history, planes)
    return Positions(planes, policy / sums, value, np.repeat(games.generation, games.searched))


@njit(cache=True, allocates=True)
def _replay(
    start: GomokuState,
    actions: npt.NDArray[np.int16],
    offsets: npt.NDArray[np.int64],
    winner: npt.NDArray[np.int8],
    searched_from: npt.NDArray[np.int16],
    out: GomokuState,
    value: npt.NDArray[np.float32],
) -> tuple[int, int]:
    """Fill ``out``, stacked, and ``value``; return (-1, -1), or game and ply of the first action that is not legal."""
    state = GomokuState(start.board.copy(), start.moves.copy(), start.turn.copy(), start.hash.copy())
    row = 0
    for g in range(len(winner)):
        kernels.copy_into(start, state)
        for ply in range(offsets[g + 1] - offsets[g]):
            action = int(actions[offsets[g] + ply])
            if not legal(state, action):
                return g, ply
            if ply >= searched_from[g]:
                out.board[row], out.moves[row] = state.board, state.moves
                out.turn[row], out.hash[row] = state.turn, state.hash
                value[row] = winner[g] if kernels.to_play(state) == 0 else -winner[g]
                row += 1
            kernels.play(state, action)
    return -1, -1
