"""A uniformly random game of Gomoku to its end."""

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline_src.games.gomoku.board import EXACT, LINE, SIDE, STANDING, WON, GomokuState
from pipeline_src.games.gomoku.moves import line_through, write_actions
from pipeline_src.games.kernels import implement
from pipeline_src.search.mcts.playouts import playout
from pipeline_src.search.mcts.xorshift import below


@njit(cache=True)
def _playout(state: GomokuState, cells: npt.NDArray[np.int32], random: npt.NDArray[np.uint64]) -> float:
    """Drawing cells without putting any back gives every order of stones the same chance; nobody needs the hash."""
    board, side, line, exact = state.board, np.int64(state.turn[SIDE]), state.turn[LINE], state.turn[EXACT] == 1
    if state.turn[STANDING] == WON:
        return -1.0
    width = board.shape[1]
    mover, n = side, write_actions(state, cells)
    result = 0.0
    last = n
    for left in range(n, 0, -1):
        at = below(random, left)
        cell = cells[at]
        cells[at] = cells[left - 1]
        cells[left - 1] = cell
        last = left - 1
        board[cell // width, cell % width] = mover + 1
        if line_through(board, cell, mover + 1, line, exact):
            result = 1.0 if mover == side else -1.0
            break
        mover = 1 - mover
    for i in range(last, n):
        board[cells[i] // width, cells[i] % width] = 0
    return result


implement(playout, GomokuState, _playout)
