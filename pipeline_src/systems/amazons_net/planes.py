"""Input planes of the residual net: pieces, reachable squares and distances.

| plane | on square s |
| --- | --- |
| 0, 1, 2, 3 | an amazon of the side to move; one of the other side; an arrow; nothing |
| 4 | the amazon that has moved and is about to shoot; zeros before the move |
| 5 | her arrow may land there; zeros before the move |
| 6, 7, 8 | empty, and the side to move reaches it within 1, 2, 3 queen moves |
| 9, 10, 11 | the same of the other side |
| 12, 13 | empty, and the side to move (the other) reaches it in d king moves: 1 / d, 0 if not within 9 |
| 14 | squares that a queen there would reach, as a fraction of 35, the most there are; empty squares only |

The first planes are those of Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and
Go through self-play", Science 362 (2018), seen from the side to move. The others are what evaluation functions of this
game are made of (Lieberum, Theoretical Computer Science 349, 2005): queens look across the whole board, 3x3
convolutions do not.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons.board import ARROW, EMPTY
from pipeline_src.jit import Need, njit
from pipeline_src.systems.amazons_net.encode import Encoded, check, encode, encode_needs, mark_legal, prepare

PLANES = 15
OWN, OTHER, ARROWS, FREE, MOVED, SHOT, OWN_QUEEN, OTHER_QUEEN, OWN_KING, OTHER_KING, MOBILITY = (
    0, 1, 2, 3, 4, 5, 6, 9, 12, 13, 14,
)  # fmt: skip
"""Where each kind of plane begins."""
QUEEN_MOVES, KING_MOVES = 3, 9
MOST_REACHED = 35.0

Planes = npt.NDArray[np.float32]


def encode_planes(boards: npt.NDArray[np.int8], movers: npt.NDArray[np.int8], moved: npt.NDArray[np.int16]) -> Encoded:
    """Planes float32 [B, 15, H, W], amazons and legal squares of a batch of positions, on one core.

    Args:
        boards: int8 [B, H, W], row 0 = rank H; 0 arrow, 1 empty, 2 Black, 3 White.
        movers: int8 [B], 2 or 3: the side to move.
        moved: int16 [B], square of the amazon that has moved and is about to shoot, or -1 before the move.

    Raises:
        ZugwerkError: a side to move without exactly four amazons, or ``moved`` is not one of them.
    """
    boards, movers, moved, encoded = prepare(boards, movers, moved, PLANES)
    check(_encode_planes(boards, movers, moved, encoded), boards, movers, moved)
    return encoded


def planes_need() -> list[Need]:
    """Return the kernels that `encode_planes` calls."""
    one = np.empty((1, 1, 1), np.int8), np.empty(1, np.int8), np.empty(1, np.int16)
    return [Need(_encode_planes, prepare(*one, PLANES))]


@njit(cache=True, allocates=True)
def _encode_planes(
    boards: npt.NDArray[np.int8], movers: npt.NDArray[np.int8], moved: npt.NDArray[np.int16], out: Encoded
) -> int:
    """Fill ``out``, whose ``legal`` is all False; return -1, or the first position that cannot be encoded."""
    count, height, width = boards.shape
    rows = np.zeros((4, height), np.int64)  # sets of squares: bit j of entry i is cell (i, j)
    runs = np.zeros((height + 2, width + 2), np.float32)
    for b in range(count):
        board, planes = boards[b], out.features[b]
        if not mark_legal(board, movers[b], moved[b], False, out.amazons[b], out.legal[b]):
            return b
        planes[:] = 0.0
        rows[:] = 0
        for i in range(height):
            for j in range(width):
                code, bit = board[i, j], 1 << j
                if code == EMPTY:
                    planes[FREE, i, j] = 1.0
                    rows[0, i] |= bit
                elif code == ARROW:
                    planes[ARROWS, i, j] = 1.0
                elif code == movers[b]:
                    planes[OWN, i, j] = 1.0
                    rows[1, i] |= bit
                else:
                    planes[OTHER, i, j] = 1.0
                    rows[2, i] |= bit
        if moved[b] >= 0:
            planes[MOVED, height - 1 - moved[b] // width, moved[b] % width] = 1.0
            for s in range(height * width):
                if out.legal[b, 0, s]:
                    planes[SHOT, height - 1 - s // width, s % width] = 1.0
        for side in range(2):
            _queen_moves(rows[1 + side], rows[0], rows[3], planes[OWN_QUEEN + QUEEN_MOVES * side :])
            _king_moves(rows[1 + side], rows[0], rows[3], planes[OWN_KING + side])
        _mobility(planes[FREE], runs, planes[MOBILITY])
    return -1


@njit(cache=True, allocates=True)
def _queen_moves(
    amazons: npt.NDArray[np.int64], free: npt.NDArray[np.int64], reached: npt.NDArray[np.int64], out: Planes
) -> None:
    """Set ``out[k]`` to 1 wherever a side gets within k + 1 queen moves. ``reached`` is scratch."""
    height, width = out.shape[1:]
    reached[:] = amazons
    for k in range(QUEEN_MOVES):
        before = reached.copy()
        for i in range(height):
            right = left = before[i]
            while (right | left) != 0:
                right, left = right << 1 & free[i], left >> 1 & free[i]
                reached[i] |= right | left
        for step in (1, -1):
            straight = rising = falling = np.int64(0)  # what slides into the next row, on three lines
            for at in range(height):
                i = at if step == 1 else height - 1 - at
                straight, rising, falling = straight & free[i], rising << 1 & free[i], falling >> 1 & free[i]
                reached[i] |= straight | rising | falling
                straight, rising, falling = straight | before[i], rising | before[i], falling | before[i]
        for i in range(height):
            bits = reached[i] & free[i]
            for j in range(width):
                out[k, i, j] = bits >> j & 1


@njit(cache=True, allocates=True)
def _king_moves(
    amazons: npt.NDArray[np.int64], free: npt.NDArray[np.int64], reached: npt.NDArray[np.int64], out: Planes
) -> None:
    """Set ``out`` to 1 / d wherever a side gets in d king moves, the fewest. ``reached`` is scratch."""
    height = out.shape[0]
    reached[:] = amazons
    for d in range(1, KING_MOVES + 1):
        above, inverse = np.int64(0), np.float32(1) / np.float32(d)
        for i in range(height):
            here = reached[i]
            near = above | here | (reached[i + 1] if i + 1 < height else 0)
            above = here
            new = (near | near << 1 | near >> 1) & free[i] & ~here
            reached[i] = here | new
            j = 0
            while new != 0:
                if new & 1:
                    out[i, j] = inverse
                new >>= 1
                j += 1


@njit(cache=True)
def _mobility(free: Planes, runs: Planes, out: Planes) -> None:
    """Set ``out`` on empty squares to the share of squares a queen there reaches. ``runs`` is zero around its edge."""
    height, width = free.shape
    for dr in (-1, 0, 1):
        for dc in (-1, 0, 1):
            if dr == 0 and dc == 0:
                continue
            for at in range(height):
                i = at if dr < 0 else height - 1 - at
                for along in range(width):
                    j = along if dc < 0 else width - 1 - along
                    # Squares met from (i, j) on: the run of the next square and that square, if it is empty.
                    runs[i + 1, j + 1] = free[i, j] * (1 + runs[i + 1 + dr, j + 1 + dc])
                    out[i, j] += runs[i + 1 + dr, j + 1 + dc]
    for i in range(height):
        for j in range(width):
            out[i, j] *= free[i, j] / np.float32(MOST_REACHED)


class Config(Protocol):
    """A frozen dataclass that fixes a net's shape and how it sees a position."""

    @property
    def size(self) -> int:
        """Squares along one side of the board."""

    @property
    def encoding(self) -> str:
        """One of `ENCODERS`: ``features`` (F) or ``planes``."""

    @property
    def options(self) -> Mapping[str, bool]:
        """Keyword arguments of the encoder."""


ENCODERS: Mapping[str, Callable[..., Encoded]] = {"features": encode, "planes": encode_planes}
NEEDS: Mapping[str, Callable[[], list[Need]]] = {"features": encode_needs, "planes": planes_need}
"""Kernels that each of them calls."""


def encode_for(
    config: Config, boards: npt.NDArray[np.int8], movers: npt.NDArray[np.int8], moved: npt.NDArray[np.int16]
) -> Encoded:
    """A batch of positions as the nets of this config take them; arguments and errors as for `encode`."""
    return ENCODERS[config.encoding](boards, movers, moved, **config.options)
