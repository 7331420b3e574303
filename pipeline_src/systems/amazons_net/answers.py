"""Answers of nets for batches of boards, whatever runs the nets. Knows nothing of torch."""

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import EMPTY
from pipeline_src.jit.needs import Need

Boards = npt.NDArray[np.int8]
"""int8 [B, H, W], row 0 = rank H."""
Squares = npt.NDArray[np.int16]
Floats = npt.NDArray[np.float32]


class MoveAnswer(NamedTuple):
    """Output of Move-Net for B positions."""

    win_rate: Floats
    """[B], the mover's chance to win."""
    log_p: Floats
    """[B, 4, N]: log-probability that amazon k goes to s; minus infinity where she may not."""
    amazons: Squares
    """[B, 4], their squares, ascending."""


class ArrowAnswer(NamedTuple):
    """Output of Arrow-Net for B positions in which an amazon has moved and not shot yet."""

    win_rate: Floats
    """[B], the mover's chance to win."""
    log_p: Floats
    """[B, N]: log-probability of an arrow to s; minus infinity where it may not go."""


class Forward(Protocol):
    """A net that is asked twice per turn: for the amazon's move, and then for the arrow."""

    @property
    def size(self) -> int:
        """Squares along one side of the board."""

    def move(self, boards: Boards, movers: npt.NDArray[np.int8]) -> MoveAnswer:
        """Move-Net on boards with ``movers`` int8 [B] (BLACK or WHITE) to move.

        Raises:
            ZugwerkError: boards of another size than the nets', or a mover without four amazons.
        """

    def arrow(self, boards: Boards, movers: npt.NDArray[np.int8], moved: Squares) -> ArrowAnswer:
        """Arrow-Net on boards on which the mover's amazon stands on square ``moved`` int16 [B] already.

        Raises:
            ZugwerkError: as `move`, or no amazon of the mover stands there.
        """

    def needs(self) -> list[Need]:
        """Kernels that it calls."""

    def check_board(self, height: int, width: int) -> None:
        """See `check_size`."""


def after_move(boards: Boards, movers: npt.NDArray[np.int8], start: Squares, to: Squares) -> Boards:
    """Copies of boards with the mover's amazon gone from square ``start`` [B] to ``to`` [B]."""
    _, height, width = boards.shape
    rows, after = np.arange(len(boards)), boards.copy()
    after[rows, height - 1 - start // width, start % width] = EMPTY
    after[rows, height - 1 - to // width, to % width] = movers
    return after


def check_size(size: int, height: int, width: int) -> None:
    """Refuse a board that nets for ``size`` x ``size`` do not play on.

    Raises:
        ZugwerkError: says which is theirs.
    """
    if (height, width) != (size, size):
        raise ZugwerkError(f"a {height}x{width} board, but these nets play on {size}x{size}")
