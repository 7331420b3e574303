"""Owners of the squares by the Amazons evaluation: the side that is nearer by queen moves (t1) or king moves (t2)."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons.board import EMPTY, AmazonsState

NOBODY, FIRST, SECOND, BOTH = 0, 1, 2, 3
"""Owner of a square: nobody (not empty, or out of reach), the side that reaches it sooner, or both at once."""
LINES = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
Distances = npt.NDArray[np.float64]


class Territory(NamedTuple):
    """Owners of the squares, int8 [N] by square."""

    queen: npt.NDArray[np.int8]
    """Owners by queen moves. Squares of FIRST less those of SECOND are the term t1 with the first side to move."""
    king: npt.NDArray[np.int8]
    """Owners by king moves, for the term t2."""


def territory(state: AmazonsState) -> Territory:
    """Return the owners in a position between two turns."""
    return Territory(*(_owners(*(distances(state, side, far) for side in (0, 1))) for far in (True, False)))


def distances(state: AmazonsState, side: int, far: bool) -> Distances:
    """Return the fewest moves in which a side reaches each empty square, float64 [H, W]; infinity if never.

    Args:
        state: the position.
        side: 0 the first, 1 the second.
        far: True for queen moves, False for king moves.
    """
    height, width = state.board.shape
    found = np.full((height, width), np.inf)
    edge = [divmod(int(square), width) for square in state.amazons[side] if square >= 0]
    moves = 0
    while edge:
        moves, following = moves + 1, []
        for row, column in edge:
            for down, right in LINES:
                r, c = row + down, column + right
                while 0 <= r < height and 0 <= c < width and state.board[r, c] == EMPTY:
                    if found[r, c] > moves:
                        found[r, c] = moves
                        following.append((r, c))
                    if not far:
                        break
                    r, c = r + down, c + right
        edge = following
    return found


def _owners(first: Distances, second: Distances) -> npt.NDArray[np.int8]:
    owners = np.where(first < second, FIRST, np.where(second < first, SECOND, BOTH))
    return np.where(np.isinf(first) & np.isinf(second), NOBODY, owners).astype(np.int8).ravel()
