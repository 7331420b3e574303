"""Perft: the number of turn sequences of a given length, the standard test of a move generator.

The last ply is counted from the line tables and not played, so that depth 3 of the start position (8.35e9 sequences)
takes seconds.
"""

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons import moves
from pipeline_src.games.amazons.board import AmazonsState, copy_state
from pipeline_src.games.amazons.turns import legal_actions, play
from pipeline_src.jit import njit

MAX_DEPTH = 12


@njit(cache=True, nogil=True)
def _perft(state: AmazonsState, depth: int, scratch: npt.NDArray[np.int32], out: npt.NDArray[np.int32]) -> int:
    if depth == 0:
        return 1
    if depth == 1:
        return moves.count_turns(state, scratch)
    squares, total = state.board.size, 0
    count = moves.write_turns(state, scratch, out[depth])
    for i in range(count):
        turn = out[depth, i]
        start, to, arrow = turn // (squares * squares), turn // squares % squares, turn % squares
        moves.move_amazon(state, start, to)
        moves.shoot(state, arrow)
        total += _perft(state, depth - 1, scratch, out)
        moves.take_back(state, start, to, arrow)
    return total


def perft(state: AmazonsState, depth: int) -> int:
    """Count the sequences of ``depth`` legal turns from ``state``.

    Raises:
        ZugwerkError: depth outside 0..12.
    """
    if not 0 <= depth <= MAX_DEPTH:
        raise ZugwerkError(f"perft depth must be 0 to {MAX_DEPTH}, not {depth}")
    scratch, out = moves.buffers(state)
    plies = np.empty((depth + 1, out.size), np.int32)
    return int(_perft(copy_state(state), depth, scratch, plies))


def divide(state: AmazonsState, depth: int) -> dict[int, int]:
    """Return, for each legal action, the perft of ``depth - 1`` after it.

    Raises:
        ZugwerkError: depth outside 1..12.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise ZugwerkError(f"divide needs a depth of 1 to {MAX_DEPTH}, not {depth}")
    return {int(action): perft(play(state, action), depth - 1) for action in legal_actions(state)}
