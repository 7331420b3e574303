"""Params of the Amazons evaluation and of the searches that use it."""

from itertools import pairwise
from typing import Literal, Self

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
    e: float = 0.0
    """Enclosed amazons."""
    one: float = 0.0
    """Being to move."""


HAND = (
    Phase(w=0.0, t1=1.0),
    Phase(w=8.0, t1=0.40, t2=0.35, c2=0.02),
    Phase(w=30.0, t1=0.17, t2=0.30, c1=0.17, c2=0.32),
    Phase(w=60.0, t1=0.17, t2=0.09, c1=-0.10, c2=0.19),
)
"""Weights chosen by matches among a few fits to 1,800 searches, before there was the term e."""

LEARNED = (
    Phase(w=0.0, t1=1.0),
    Phase(w=6.0, t1=0.29, t2=0.19, c1=-0.09, c2=0.23, e=-0.58, one=-0.39),
    Phase(w=12.0, t1=0.27, t2=0.21, c1=0.10, c2=0.08, e=-0.52, one=-0.15),
    Phase(w=20.0, t1=0.19, t2=0.17, c1=0.09, c2=0.20, e=-1.35, one=0.13),
    Phase(w=32.0, t1=0.13, t2=0.11, c1=0.04, c2=0.33, e=-2.18, one=0.19),
    Phase(w=46.0, t1=-0.01, t2=0.07, c1=0.22, c2=0.39, e=-2.75, one=0.60),
    Phase(w=60.0, t1=-0.05, t2=0.04, c1=0.18, c2=0.03, e=-3.52, one=0.74),
)
"""Learned from 260 games of the engine against itself, 10,815 positions searched with 100,000 nodes each.

Made in four minutes of one core, 23 November 2026, with bench/fit_amazons.py of commit 115887a:

    python -m bench.fit_amazons --seed 2 games FOLDER --count 260 --weights FIRST
    python -m bench.fit_amazons fit FOLDER

FIRST are the weights that a first round learned from 240 games by `HAND`; docs/experiments.md lists them and the
matches. On held-out games (2,178 positions) the error is 1.32 squares, that of `HAND` 2.15."""


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
