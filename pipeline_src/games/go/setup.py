"""Start positions: the start of a variant, or any board."""

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go.board import (
    BLACK,
    FIRST,
    KEYS,
    KO_KEYS,
    MAX_SIDE,
    MIN_SIDE,
    MOVES_KEPT,
    NOWHERE,
    PASS_KEYS,
    SECOND,
    SIDE_KEY,
    STANDARD_KOMI,
    GoState,
    parse_variant,
)
from pipeline_src.games.go.moves import all_breathe, may_be_ko


def initial_state(size: int = 19, variant: str = "standard") -> GoState:
    """Return the empty board, or the board with the variant's handicap stones and White to move.

    Raises:
        ZugwerkError: the size is outside 3..25, the variant is unknown, or a handicap stone is outside the board or has
            no liberty.
    """
    if not MIN_SIDE <= size <= MAX_SIDE:
        raise ZugwerkError(f"no Go board of size {size}; sizes go from {MIN_SIDE} to {MAX_SIDE}")
    komi, stones = parse_variant(variant)
    board = np.zeros((size, size), np.int8)
    for row, column in stones:
        if not (row < size and column < size):
            raise ZugwerkError(f"variant {variant!r} of Go: a handicap stone is outside a board of {size}x{size}")
        board[row, column] = BLACK
    return from_board(board, SECOND if stones else FIRST, komi=komi)


def from_board(
    board: npt.NDArray[np.int8], side: int, *, ko: int = NOWHERE, passes: int = 0, komi: int = STANDARD_KOMI
) -> GoState:
    """Return the state for a board, int8 [H, W], with ``side`` to move and no known history. The board is copied.

    Args:
        board: EMPTY, BLACK or WHITE.
        side: FIRST (Black) or SECOND.
        ko: the point forbidden to ``side``, or NOWHERE; it has to be empty and surrounded by the opponent's stones.
        passes: passes in a row before this position, 0 to 2.
        komi: komi in half points.

    Raises:
        ZugwerkError: a stone has no liberty, or no ko is possible at ``ko``.
    """
    state = GoState(
        np.array(board, dtype=np.int8, order="C"),
        np.full(MOVES_KEPT, -1, np.int16),
        np.zeros(MOVES_KEPT, np.int16),
        np.array([side, 0, ko, passes, komi], np.int32),
        np.zeros(1, np.uint64),
    )
    if not all_breathe(state.board):
        raise ZugwerkError("there are stones without a liberty")
    if ko != NOWHERE and not (0 <= ko < board.size and may_be_ko(state.board, ko, side + 1)):
        raise ZugwerkError("the ko point is not an empty one among the opponent's stones")
    stones = np.flatnonzero(state.board)
    keys = KEYS[state.board.ravel()[stones] - 1, stones]
    state.hash[0] = np.bitwise_xor.reduce(keys, initial=PASS_KEYS[passes])
    if side == SECOND:
        state.hash[0] ^= SIDE_KEY
    if ko != NOWHERE:
        state.hash[0] ^= KO_KEYS[ko]
    return state
