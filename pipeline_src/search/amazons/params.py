"""Params of the Amazons evaluation and of the searches that use it."""

from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt
from pydantic import model_validator

from pipeline_src.project.params import Count, Fraction, Items, Params


class Phase(Params):
    """Weights of the terms at one openness of the board. They are interpolated between two phases."""

    w: float
    """Openness: squares that both sides reach, weighted less the more their distances differ; 70 at the start."""
    t1: float
    """Territory by queen moves."""
    t2: float = 0.0
    """Territory by king moves."""
    c1: float = 0.0
    """Closeness by queen moves."""
    c2: float = 0.0
    """Closeness by king moves."""
    m: float = 0.0
    """Mobility of the amazons."""


class AmazonsEngine(Params):
    """The evaluation: territory (t1, t2), position (c1, c2), mobility (m) by openness w; and the search memory."""

    tempo: Fraction = 0.2
    """Value, to the side to move, of a square that both sides reach in the same number of moves."""
    phases: Items[Phase] = (
        Phase(w=0.0, t1=1.0),
        Phase(w=8.0, t1=0.40, t2=0.35, c2=0.02),
        Phase(w=30.0, t1=0.17, t2=0.30, c1=0.17, c2=0.32),
        Phase(w=60.0, t1=0.17, t2=0.09, c1=-0.10, c2=0.19),
    )
    """Weights by rising w. The first phase is at w = 0, the closed board, where t1 counts the squares of each side.

    The defaults were fitted to the values of a deeper search (``python -m bench.fit_amazons``). In matches they were
    better than weights tuned by matches alone; mobility made no player stronger."""
    table_mb: Count = 64
    """Size of the transposition table in MiB."""

    @model_validator(mode="after")
    def _begins_at_the_closed_board(self) -> Self:
        if not self.phases or self.phases[0].w != 0:
            raise ValueError("phases must begin with one at w = 0")
        if any(a.w >= b.w for a, b in pairwise(self.phases)):
            raise ValueError(f"phases must have rising w, not {[p.w for p in self.phases]}")
        if self.phases[0] != Phase(w=0.0, t1=1.0):
            raise ValueError("the phase at w = 0 must have t1 = 1 and no other term: squares are counted there")
        return self

    def table(self) -> npt.NDArray[np.float64]:
        """Return the phases as float64 [K, 6]: w, t1, t2, c1, c2, m."""
        return np.array([list(p.model_dump().values()) for p in self.phases])
