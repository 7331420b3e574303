"""Input planes of the self-play nets, and the priors that a search reads from a net's output.

With P positions of history there are C = 2 P + 1 planes of zeros and ones, row 0 the top of the board. "Own" and
"other" are the colours of the side to move *now*, in all planes.

| plane | on a cell |
| --- | --- |
| 0 | an own stone |
| k, 0 < k < P | an own stone, as the board stood k plies ago |
| P + k, 0 <= k < P | a stone of the other side, as the board stood k plies ago |
| 2 P | 1 everywhere where Black, who began, is to move, else 0 |

Before the first ply the board was empty. For a position without a history, all planes of history show its board.

Source: Silver et al., "Mastering the game of Go without human knowledge", Nature 550 (2017), methods, "neural network
architecture"; Li et al. take P = 5, hence 11 planes.
"""

import math

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import PLY, SIDE, GomokuState
from pipeline_src.jit import Need, njit

Planes = npt.NDArray[np.float32] | npt.NDArray[np.uint8]


def plane_count(positions: int) -> int:
    """Return C, the number of planes for a number of positions of history."""
    return 2 * positions + 1


def planes_need(states: GomokuState, planes: Planes) -> list[Need]:
    """Return the kernels that `zero_planes` and `legal_priors` call for stacked states and planes of this dtype."""
    floats, ints = np.empty((1, 1), np.float32), np.empty((1, 1), np.int32)
    return [
        Need(_write_planes, (states.board, states.moves, states.turn, 1, planes)),
        Need(_write_priors, (floats, ints, ints[0], floats)),
    ]


def zero_planes(states: GomokuState, positions: int, out: Planes) -> None:
    """Write the planes of a batch of positions.

    Args:
        states: stacked, boards int8 [B, H, W].
        positions: of history, the present one among them; at least 1.
        out: float32 or uint8 [B, 2 * positions + 1, H, W], overwritten.

    Raises:
        ZugwerkError: ``positions`` below 1, or ``out`` of another shape.
    """
    count, height, width = states.board.shape
    wanted = (count, plane_count(positions), height, width)
    if positions < 1 or out.shape != wanted:
        raise ZugwerkError(f"planes of {positions} positions of history need an array {wanted}, not {out.shape}")
    _write_planes(states.board, states.moves, states.turn, positions, out)


@njit(cache=True)
def _write_planes(
    boards: npt.NDArray[np.int8],
    moves: npt.NDArray[np.int16],
    turns: npt.NDArray[np.int16],
    positions: int,
    out: Planes,
) -> None:
    count, height, width = boards.shape
    out[:] = 0
    for b in range(count):
        board, side, ply = boards[b], turns[b, SIDE], turns[b, PLY]
        for row in range(height):
            for column in range(width):
                code = board[row, column]
                if code != 0:
                    first = 0 if code == side + 1 else positions
                    for plane in range(first, first + positions):
                        out[b, plane, row, column] = 1
        for back in range(1, min(positions, ply + 1)):
            cell = moves[b, ply - back]
            if cell < 0:
                break
            row, column = cell // width, cell % width
            first = 0 if board[row, column] == side + 1 else positions
            for plane in range(first + back, first + positions):
                out[b, plane, row, column] = 0
        if side == 0:
            out[b, 2 * positions] = 1


def legal_priors(
    logits: npt.NDArray[np.float32],
    steps: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int32],
    out: npt.NDArray[np.float32],
) -> None:
    """Softmax of a policy over the legal steps alone, in their order.

    Args:
        logits: float32 [B, N] or more rows, one entry a cell.
        steps: int32 [B, S], of each row the first so many are legal.
        counts: int32 [B], how many; at least 1.
        out: float32 [B, S], overwritten; 0 past a row's count.

    Raises:
        ZugwerkError: a logit of a legal step is not a finite number: the net is broken.
    """
    bad = _write_priors(logits, steps, counts, out)
    if bad >= 0:
        raise ZugwerkError("the net answers with numbers that are not finite; its training has diverged")


@njit(cache=True)
def _write_priors(
    logits: npt.NDArray[np.float32],
    steps: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int32],
    out: npt.NDArray[np.float32],
) -> int:
    """Return -1, or the first row whose logits are not finite."""
    for b in range(len(counts)):
        top = np.float32(-np.inf)
        for i in range(counts[b]):
            top = max(top, logits[b, steps[b, i]])
        total = 0.0
        for i in range(counts[b]):
            weight = math.exp(np.float64(logits[b, steps[b, i]]) - np.float64(top))
            out[b, i] = weight
            total += weight
        if not (total >= 1.0 and total < np.inf):
            return b
        for i in range(counts[b]):
            out[b, i] = out[b, i] / total
        out[b, counts[b] :] = 0
    return -1
