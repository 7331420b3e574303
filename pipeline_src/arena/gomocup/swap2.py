"""The first three stones of a game by Swap2: who lays them does not know which side will be theirs."""

import numpy as np

from pipeline_src.arena.balance import balanced_openings, central_cells
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import GomokuState

JUDGE, BOUND = "alphabeta:depth=2", 40.0
"""Who says that neither side is ahead, and by how much at most; as in params.yaml's openings."""
SIDE = 7
"""Of the square in the middle from which the stones are drawn."""


def first_stones(empty: GomokuState, rng: np.random.Generator) -> tuple[int, ...]:
    """Three actions, a black stone, a white and a black one, that leave both sides a chance.

    Raises:
        ZugwerkError: a board that is not square, or so small that all stones decide the game.
    """
    height, width = empty.board.shape
    if height != width:
        raise ZugwerkError("SWAP2BOARD: only on square boards")
    seed, among = [int(rng.integers(1 << 31))], central_cells(width, min(SIDE, width))
    return balanced_openings("gomoku", empty, 1, 3, seed, JUDGE, BOUND, among)[0]
