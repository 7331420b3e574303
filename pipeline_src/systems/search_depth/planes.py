"""Input planes of the depth nets.

| inputs | planes |
| --- | --- |
| ``published`` | W_t * n, the paper's 10x10x1 |
| ``full`` | W_t * n and n, both / 8; the mover's amazons, the opponent's, arrows; W_t; log2(1 + expandable) / 12 |

Both are the same seen by either side, and turn with the board.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons.board import ARROW, COLOUR

Inputs = Literal["published", "full"]
PLANES: dict[Inputs, int] = {"published": 1, "full": 7}
"""Planes C of each kind of input."""
LAYERS, LOG_TURNS = 8.0, 12.0
"""Divisors that bring n and the logarithm of the number of turns to about 1."""


def depth_planes(
    inputs: Inputs,
    n: npt.NDArray[np.uint8],
    used: npt.NDArray[np.float32],
    board: npt.NDArray[np.int8],
    to_play: npt.NDArray[np.int8],
    expandable: npt.NDArray[np.int32],
) -> npt.NDArray[np.float32]:
    """Planes float32 [B, C, H, W] of B positions, given as rows of `DepthPositions`."""
    left = (1 - used.astype(np.float32))[:, None, None]
    weighed = n * left
    if inputs == "published":
        return weighed[:, None]
    planes = np.empty((len(n), PLANES[inputs], *n.shape[1:]), np.float32)
    own = np.array(COLOUR, np.int8)[to_play][:, None, None]
    planes[:, 0] = weighed / LAYERS
    planes[:, 1] = n / np.float32(LAYERS)
    planes[:, 2] = board == own
    planes[:, 3] = board == sum(COLOUR) - own
    planes[:, 4] = board == ARROW
    planes[:, 5] = left
    planes[:, 6] = (np.log2(1 + expandable.astype(np.float32)) / np.float32(LOG_TURNS))[:, None, None]
    return planes
