"""Fields of a sample: table 5 of patent CN 111330255 B, and our additions.

Each turn of a game gives two samples, one of type Amazon (the position before the turn; from, to) and one of type Arrow
(the amazon has moved, the arrow is not shot yet; arrow). The table and the examples of the patent disagree on From, To
and Arrow; these are the examples' [x, y] pairs, x = file - 1, y = H - rank, so that ``board[y, x]`` is the square.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

AMAZON, ARROW = 0, 1
"""Types of sample."""


class Samples(NamedTuple):
    """n samples as arrays: row i of each array is sample i. `FIELDS` describes the arrays."""

    board: npt.NDArray[np.int8]
    type: npt.NDArray[np.int8]
    from_: npt.NDArray[np.int8]
    to: npt.NDArray[np.int8]
    arrow: npt.NDArray[np.int8]
    moved: npt.NDArray[np.int8]
    mover: npt.NDArray[np.int8]
    result: npt.NDArray[np.int8]
    gid: npt.NDArray[np.int64]
    ply: npt.NDArray[np.int16]
    teacher: npt.NDArray[np.int8]


@dataclass(frozen=True)
class Field:
    """One array of the data set."""

    name: str
    """Name of the file and of the attribute of `Samples` (``from_`` there, since ``from`` is a keyword)."""
    patent: str | None
    """The patent's name of the field; None for our additions."""
    dtype: type[np.generic]
    ndim: int
    """Axes of one sample: 0 a number, 1 an [x, y] pair, 2 a board."""
    meaning: str

    def shape(self, size: int) -> tuple[int, ...]:
        """Shape of one sample on a board of size x size."""
        return ((), (2,), (size, size))[self.ndim]


FIELDS = (
    Field("board", "Board", np.int8, 2, "row 0 = top rank; 0 arrow, 1 empty, 2 Black, 3 White (the patent's M / 100)"),
    Field("type", "Type", np.int8, 0, "0 = Amazon (before the turn), 1 = Arrow (amazon moved, arrow not yet shot)"),
    Field("from", "From", np.int8, 1, "Amazon: [x, y] of the amazon that moves; Arrow: -1"),
    Field("to", "To", np.int8, 1, "Amazon: [x, y] where she goes; Arrow: -1"),
    Field("arrow", "Arrow", np.int8, 1, "Arrow: [x, y] of the arrow; Amazon: -1"),
    Field("moved", None, np.int8, 1, "Arrow: [x, y] where the amazon that moved now stands; Amazon: -1"),
    Field("mover", None, np.int8, 0, "whose turn it is: 2 Black, 3 White"),
    Field("result", "Result", np.int8, 0, "1 = the mover won the game, 0 = lost it"),
    Field("gid", None, np.int64, 0, "number of the game in the archive"),
    Field("ply", None, np.int16, 0, "turns played before this one"),
    Field("teacher", None, np.int8, 0, "1 = the mover is one of the players to learn from, amazons_samples.teachers"),
)


def empty_samples(count: int, size: int) -> Samples:
    """Return uninitialised arrays for ``count`` samples."""
    return Samples(*(np.empty((count, *field.shape(size)), field.dtype) for field in FIELDS))
