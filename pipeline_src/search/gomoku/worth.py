"""Points of cells, for the evaluation of positions and the order of moves.

The value of a position is a sum of points over its empty cells, by the patterns that a stone there would make in the
four lines (`patterns`), with different points for the side to move and the other side. The weights come from a logistic
regression on results of engine games (bench/fit_gomoku.py of commit 115887a); 400 points are a factor of e in the odds.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.search.gomoku.patterns import PATTERNS, make_classes

MOVER_WORTH, WAITER_WORTH, ORDER, CLASS = range(4)
"""Columns of the points: for the side to move, for the other side, for the order of moves; and the class."""
Points = npt.NDArray[np.int16]


class Weights(NamedTuple):
    """Points by pattern, [13], and by class, [16], of a stone on a cell."""

    patterns: tuple[float, ...]
    classes: tuple[float, ...]


MOVER = Weights((0, 2, 0, 2, 14, 24, 24, 94, 112, 70, 0, 0, 0), (0,) * 8 + (0, 60, 200, 36, 87, 900, 0, 0))
WAITER = Weights((0, -1, 1, 6, 15, 20, 34, 48, 54, 43, 0, 0, 0), (0,) * 8 + (29, 28, 49, 18, 53, 584, 0, 0))
TEMPO = 364
"""Points for being to move. A search maximises: without this value, even and odd depths differ by 400 points and
reduced searches cannot be compared (docs/experiments.md)."""
ORDER_OF_MOVES = Weights((0, 0, 1, 2, 5, 6, 6, 14, 16, 20, 60, 100, 0), (0,) * 8 + (20, 45, 120, 40, 60, 250, 400, 900))
"""Points for the order of moves, of either side."""


@lru_cache
def make_points(renju: bool) -> Points:
    """Return points of a cell by the patterns of its four lines, int16 [2, 16^4, 4], by colour and by column.

    In Renju, Black has other classes.
    """
    return np.stack([_make(renju), _make(False)])


def _make(renju: bool) -> Points:
    made = np.zeros((16**4, 4), np.int16)
    made[:, CLASS] = make_classes(renju)
    for column, weights in ((MOVER_WORTH, MOVER), (WAITER_WORTH, WAITER), (ORDER, ORDER_OF_MOVES)):
        of = np.zeros(16)
        of[:PATTERNS] = weights.patterns
        total = of[:, None, None, None] + of[:, None, None] + of[:, None] + of
        made[:, column] = np.round(total.ravel() + np.array(weights.classes)[made[:, CLASS]])
    return made
