"""Params of the Amazons evaluation and of the searches that use it."""

from itertools import pairwise
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import model_validator

from pipeline_src.project.params import Count, Fraction, Items, Params
from pipeline_src.search.amazons.weights import HAND, LEARNED, Phase


class AmazonsEngine(Params):
    """The evaluation: territory (t1, t2), position (c1, c2), mobility (m) and enclosed amazons (e), by openness w."""

    weights: Literal["learned", "hand"] = "learned"
    """Weights of the terms: those learned from the engine's own games, or the ones before them, found by hand."""
    tempo: Fraction = 0.2
    """Value, to the side to move, of a square that both sides reach in the same number of moves."""
    phases: Items[Phase] = ()
    """Weights of one's own by rising w, in place of those that ``weights`` names. The first phase is at w = 0, the
    closed board, where t1 counts the squares of each side."""
    table_mb: Count = 64
    """Size of the transposition table in MiB."""

    @model_validator(mode="after")
    def _begins_at_the_closed_board(self) -> Self:
        if not self.phases:
            return self
        if self.phases[0].w != 0:
            raise ValueError("phases must begin with one at w = 0")
        if any(a.w >= b.w for a, b in pairwise(self.phases)):
            raise ValueError(f"phases must have rising w, not {[p.w for p in self.phases]}")
        if self.phases[0] != Phase(w=0.0, t1=1.0):
            raise ValueError("the phase at w = 0 must have t1 = 1 and no other term: squares are counted there")
        return self

    def table(self) -> npt.NDArray[np.float64]:
        """Return the phases as float64 [K, 8]: w, t1, t2, c1, c2, m, e, 1."""
        phases = self.phases or {"learned": LEARNED, "hand": HAND}[self.weights]
        return np.array([list(phase.model_dump().values()) for phase in phases])
