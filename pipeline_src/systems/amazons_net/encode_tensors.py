"""Features and legality of Amazons positions by tensor operations, on whatever device the boards are.

The same outputs as the numba kernels of `encode`, for training on a GPU: int8 boards are a thirtieth of the size of
the nets' input, so boards travel to the device and the input is made there.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

EMPTY, BLACK, WHITE = 1, 2, 3
AMAZONS = 4
DIRECTIONS = tuple((dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if dr or dc)


class EncodedTensors(NamedTuple):
    """Net input for B positions; N = H * W squares, s = (rank - 1) * W + (file - 1)."""

    features: Tensor
    """float32 [B, C, H, W], row 0 = rank H: F on its scale 0..300, plane k of amazon k; or planes."""
    amazons: Tensor
    """int16 [B, 4], squares of the mover's amazons, ascending."""
    legal: Tensor
    """bool [B, 4, N]: where amazon k may go; with an amazon that has moved, row 0 = where its arrow may land."""


class Tables(NamedTuple):
    """Lookup tables for a board's shape; N = H * W."""

    corners: Tensor
    """int64 [4, N, H * W]: places in the flat summed-area table of the rectangle from square s to cell i."""
    areas: Tensor
    """float32 [N, H * W]: cells in that rectangle."""
    rays: Tensor
    """int64 [N, 8 * L]: squares met going from s in each direction, N beyond the edge; L = max(H, W) - 1."""
    steps: Tensor
    """int64 [N, N]: where t stands among the rays of s; 8 * L where it is on none."""


def encode(
    boards: Tensor, movers: Tensor, moved: Tensor, *, mover_relative: bool = False, moved_first: bool = False
) -> EncodedTensors:
    """Features, amazon squares and legal squares of a batch of positions.

    Feature F^k[i, j] is the mean of the board matrix (100 x code) over the rectangle whose diagonal runs from
    amazon k to cell (i, j), both included (patent CN 111330255 B, equation 1).

    Args:
        boards: int8 [B, H, W], row 0 = rank H; 0 arrow, 1 empty, 2 Black, 3 White; four amazons a side.
        movers: int8 [B], 2 or 3.
        moved: int16 [B], square of the amazon that has just moved and is about to shoot, or -1 before the move.
        mover_relative: show the mover's amazons as White's.
        moved_first: plane 0 is the amazon that has moved; the others keep their order.
    """
    count, height, width = boards.shape
    tables = tables_of(height, width, boards.device)
    squares = height * width
    by_square = boards.flip(1).reshape(count, squares)
    amazons = amazon_squares(by_square, movers, moved, moved_first)

    codes = boards.int()
    if mover_relative:
        swapped = (codes >= BLACK) & (movers == BLACK)[:, None, None]
        codes = torch.where(swapped, BLACK + WHITE - codes, codes)
    # Whole numbers, so that sums are exact and the same on every device and in every order.
    table = torch.nn.functional.pad((codes * 100).cumsum(1).cumsum(2), (1, 0, 1, 0)).view(count, 1, -1)
    table = table.expand(-1, AMAZONS, -1)
    bottom_right, top_right, bottom_left, top_left = (
        table.gather(2, corner[amazons]) for corner in tables.corners.unbind()
    )
    sums = bottom_right - top_right - bottom_left + top_left
    features = (sums.float() / tables.areas[amazons]).view(count, AMAZONS, height, width)

    return EncodedTensors(features, amazons.short(), legal_squares(by_square, amazons, moved, tables))


def legal_squares(by_square: Tensor, amazons: Tensor, moved: Tensor, tables: Tables) -> Tensor:
    """`EncodedTensors.legal` of boards [B, N] by square, with the mover's amazons int64 [B, 4]."""
    shooting = (moved >= 0)[:, None]
    row = torch.arange(AMAZONS, device=amazons.device)
    origins = torch.where(shooting & (row == 0), moved.long()[:, None], amazons)
    return reachable(by_square, origins, tables) & ~(shooting & (row > 0))[:, :, None]


def amazon_squares(by_square: Tensor, movers: Tensor, moved: Tensor, moved_first: bool) -> Tensor:
    """Squares of the mover's amazons, int64 [B, 4], ascending or with the moved one ahead."""
    squares = by_square.shape[1]
    places = torch.arange(squares, device=by_square.device)
    own = torch.where(by_square == movers[:, None], places, squares)
    if moved_first:
        own = torch.where(places == moved.long()[:, None], -1, own)
    chosen = own.topk(AMAZONS, largest=False, sorted=True).values
    return torch.where(chosen < 0, moved.long()[:, None], chosen)


def reachable(by_square: Tensor, origins: Tensor, tables: Tables) -> Tensor:
    """Bool [B, K, N]: empty squares a queen on ``origins`` [B, K] can slide to."""
    count, pieces = origins.shape
    empty = torch.nn.functional.pad(by_square == EMPTY, (0, 1), value=False)
    along = empty[:, None, :].expand(-1, pieces, -1).gather(2, tables.rays[origins])
    open_so_far = along.view(count, pieces, len(DIRECTIONS), -1).int().cumprod(3).bool().flatten(2)
    open_so_far = torch.nn.functional.pad(open_so_far, (0, 1), value=False)
    return open_so_far.gather(2, tables.steps[origins])


@lru_cache(maxsize=8)
def tables_of(height: int, width: int, device: torch.device) -> Tables:
    """The tables of boards of H x W on a device."""
    squares, longest = height * width, max(height, width) - 1
    cells = np.arange(squares)
    row, column = height - 1 - cells // width, cells % width  # of square s on a board whose row 0 is the top rank
    top, bottom = np.minimum.outer(row, cells // width), np.maximum.outer(row, cells // width) + 1
    left, right = np.minimum.outer(column, cells % width), np.maximum.outer(column, cells % width) + 1
    stride = width + 1
    corners = np.stack([r * stride + c for c in (right, left) for r in (bottom, top)])

    rays = np.full((squares, len(DIRECTIONS), longest), squares)
    steps = np.full((squares, squares), len(DIRECTIONS) * longest)
    for s in range(squares):
        for d, (dr, dc) in enumerate(DIRECTIONS):
            r, c = s // width + dr, s % width + dc
            for n in range(longest):
                if not (0 <= r < height and 0 <= c < width):
                    break
                rays[s, d, n] = r * width + c
                steps[s, r * width + c] = d * longest + n
                r, c = r + dr, c + dc
    return Tables(
        torch.from_numpy(corners).to(device),
        torch.from_numpy(((bottom - top) * (right - left)).astype(np.float32)).to(device),
        torch.from_numpy(rays.reshape(squares, -1)).to(device),
        torch.from_numpy(steps).to(device),
    )
