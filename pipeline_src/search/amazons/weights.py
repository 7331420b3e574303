"""The two tables of weights of the Amazons evaluation: learned ones, and those before them, found by hand."""

from pipeline_src.project.params import Params


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
    Phase(w=8.0, t1=0.52, t2=0.04, c1=-0.04, c2=0.11, e=-0.38, one=-0.54),
    Phase(w=20.0, t1=0.21, t2=0.22, c1=0.06, c2=0.23, e=-0.99, one=0.21),
    Phase(w=40.0, t1=0.07, t2=0.13, c1=0.17, c2=0.42, e=-1.61, one=0.42),
    Phase(w=60.0, t1=0.03, t2=0.05, c1=0.06, c2=0.09, e=-2.09, one=0.14),
)
"""Weights learned by ``python -m bench.fit_amazons``."""
