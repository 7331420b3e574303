"""Params of the games that measure whether a net's win rates are calibrated."""

from pipeline_src.project.params import Count, Params


class CalibrationParams(Params):
    """Games of a net's player against itself, in which each win rate is compared with the result."""

    games: Count = 40
    """Number of games from openings; one more begins at the start position."""
    simulations: Count = 64
    """Number of simulations of a move. The win rates are those of the net alone."""
