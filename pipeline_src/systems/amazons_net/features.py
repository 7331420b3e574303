"""Position features F of Amazons-Net (patent CN 111330255 B, equation 1).

F^k[i, j] is the mean of the board matrix M over the rectangle whose diagonal runs from the mover's k-th amazon to cell
(i, j), both included. M is 100 x the board code: 0 arrow, 100 empty, 200 black amazon, 300 white amazon. A summed-area
table of M gives each mean from four of its entries; they are whole numbers below 2^24, so that the sums are exact in
float32 too and each mean is the rounded quotient.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import BLACK, WHITE
from pipeline_src.jit import njit

AMAZONS = 4
"""Planes of F: the amazons a side has."""
SCALE = 100

Floats = npt.NDArray[np.floating[Any]]


@njit(cache=True)
def sum_areas(board: npt.NDArray[np.int8], swap_colours: bool, table: Floats) -> None:
    """Write the summed-area table of M to ``table`` [H + 1, W + 1], whose row 0 and column 0 are zero."""
    height, width = board.shape
    for i in range(height):
        row = 0
        for j in range(width):
            code = board[i, j]
            row += SCALE * (BLACK + WHITE - code if swap_colours and code >= BLACK else code)
            table[i + 1, j + 1] = table[i, j + 1] + row


@njit(cache=True, error_model="numpy")  # without a test for division by zero, loops become vector code
def write_plane(table: Floats, square: int, plane: Floats) -> None:
    """Write F of the amazon on ``square`` to ``plane`` [H, W], row 0 = rank H, from the table of `sum_areas`."""
    height, width = plane.shape
    r, c = height - 1 - square // width, square % width
    number = plane.dtype.type
    for i in range(height):
        upper, lower = table[min(r, i)], table[max(r, i) + 1]
        rows = abs(r - i) + 1
        left, right = lower[c] - upper[c], lower[c + 1] - upper[c + 1]
        for j in range(c):
            plane[i, j] = (right - (lower[j] - upper[j])) / number(rows * (c - j + 1))
        for j in range(c, width):
            plane[i, j] = (lower[j + 1] - upper[j + 1] - left) / number(rows * (j - c + 1))


@njit(cache=True, allocates=True)
def _write_features(boards: npt.NDArray[np.int8], amazons: npt.NDArray[np.int16], out: Floats) -> None:
    count, height, width = boards.shape
    table = np.zeros((height + 1, width + 1), out.dtype)
    for b in range(count):
        sum_areas(boards[b], False, table)
        for k in range(amazons.shape[1]):
            write_plane(table, amazons[b, k], out[b, k])


def features(
    boards: npt.NDArray[np.int8],
    amazons: npt.NDArray[np.int16],
    dtype: type[np.float32] | type[np.float64] = np.float32,
) -> Floats:
    """F of given amazons.

    Args:
        boards: int8 [B, H, W], row 0 = rank H, codes 0 to 3.
        amazons: int16 [B, K], their squares s = (rank - 1) * W + (file - 1).
        dtype: float32, or float64 for all digits.

    Returns:
        ``dtype`` [B, K, H, W], 0 to 300, row 0 = rank H.

    Raises:
        ZugwerkError: a square that is not on the board.
    """
    squares = boards.shape[1] * boards.shape[2]
    if amazons.size and not (amazons.min() >= 0 and amazons.max() < squares):
        raise ZugwerkError(f"amazons on squares {amazons.min()} to {amazons.max()} of a board of {squares} squares")
    out = np.empty((*amazons.shape, *boards.shape[1:]), dtype)
    _write_features(boards, amazons, out)
    return out
