"""Features of one position in words and numbers, for people and other programs."""

from typing import Any

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import COLOUR, from_fen, to_play
from pipeline_src.games.amazons.notation import format_square
from pipeline_src.systems.amazons_net.encode import find_amazons
from pipeline_src.systems.amazons_net.features import AMAZONS, features


def describe_features(fen: str) -> dict[str, Any]:
    """``{"amazons": ["c1", ...], "features": [4][H][W]}`` of a position text, ready for JSON.

    The amazons are the mover's, by square ascending (file by file within rank 1, then rank 2, ...); the features F are
    unrounded float64, row 0 = the top rank.

    Raises:
        ZugwerkError: a bad FEN, or a side to move without exactly four amazons.
    """
    state = from_fen(fen)
    board = np.ascontiguousarray(state.board[::-1])
    squares = np.empty((1, AMAZONS), np.int16)
    count = find_amazons(board, COLOUR[to_play(state)], squares[0])
    if count != AMAZONS:
        raise ZugwerkError(f"{fen}: the side to move has {count} amazons; Amazons-Net takes positions with {AMAZONS}")
    return {
        "amazons": [format_square(int(s), board.shape[1]) for s in squares[0]],
        "features": features(board[None], squares, np.float64)[0].tolist(),
    }
