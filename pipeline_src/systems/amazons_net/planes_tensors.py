"""Planes of the residual net by tensor operations, on whatever device the boards are.

The outputs equal those of the numba kernel in `pipeline_src.systems.amazons_net.planes`, which describes the planes.
"""

import torch
from torch import Tensor
from torch.nn.functional import max_pool2d

from pipeline_src.systems.amazons_net.encode_tensors import (
    EMPTY,
    EncodedTensors,
    amazon_squares,
    legal_squares,
    reachable,
    tables_of,
)

ARROW = 0
QUEEN_MOVES, KING_MOVES = 3, 9
MOST_REACHED = 35.0


def encode_planes(boards: Tensor, movers: Tensor, moved: Tensor) -> EncodedTensors:
    """Planes, amazon squares and legal squares of a batch of positions.

    Args:
        boards: int8 [B, H, W], row 0 = rank H; 0 arrow, 1 empty, 2 Black, 3 White; four amazons a side.
        movers: int8 [B], 2 or 3.
        moved: int16 [B], square of the amazon that has just moved and is about to shoot, or -1 before the move.
    """
    count, height, width = boards.shape
    squares, tables = height * width, tables_of(height, width, boards.device)
    by_square = boards.flip(1).reshape(count, squares)
    amazons = amazon_squares(by_square, movers, moved, moved_first=False)
    legal = legal_squares(by_square, amazons, moved, tables)

    every = torch.arange(squares, device=boards.device)
    queen = reachable(by_square, every.expand(count, -1), tables).float()  # [B, N, N]
    free = (by_square == EMPTY).float()
    own = by_square == movers[:, None]
    sides = torch.stack([own, (by_square > EMPTY) & ~own], dim=1).float()  # [B, 2, N]
    is_moved = every == moved.long()[:, None]
    shot = legal[:, 0] & (moved >= 0)[:, None]
    planes = [
        *sides.unbind(1),
        (by_square == ARROW).float(),
        free,
        is_moved.float(),
        shot.float(),
        *_queen_moves(sides, queen).mul_(free[:, None, None]).flatten(1, 2).unbind(1),
        *_king_moves(sides.view(count, 2, height, width), free.view(count, 1, height, width)).flatten(2).unbind(1),
        queen.sum(2) * (free / MOST_REACHED),
    ]
    by_cell = torch.stack(planes, dim=1).view(count, -1, height, width).flip(2)
    return EncodedTensors(by_cell, amazons.short(), legal)


def _queen_moves(sides: Tensor, queen: Tensor) -> Tensor:
    """Float32 [B, 2, K, N]: 1 where a side of [B, 2, N] stands or gets within k + 1 of ``queen``'s moves [B, N, N]."""
    reached, within = sides, []
    for _ in range(QUEEN_MOVES):
        # Sums of zeros and ones below 2^8, so that half precision would not change what is above zero.
        reached = torch.maximum(reached, (reached @ queen > 0).float())
        within.append(reached)
    return torch.stack(within, dim=2)


def _king_moves(sides: Tensor, free: Tensor) -> Tensor:
    """Float32 [B, 2, H, W]: 1 / d on squares of ``free`` [B, 1, H, W] that a side gets to in d king moves."""
    reached, inverse = sides, torch.zeros_like(sides)
    for d in range(1, KING_MOVES + 1):
        grown = torch.maximum(reached, max_pool2d(reached, 3, stride=1, padding=1) * free)
        inverse = torch.where(grown > reached, torch.tensor(1.0, device=free.device) / d, inverse)
        reached = grown
    return inverse
