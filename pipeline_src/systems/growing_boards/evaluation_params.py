"""Params of the matches that measure growing boards.

Apart from `params`, so that another match trains nothing anew.
"""

from typing import Self

from pydantic import model_validator

from pipeline_src.project.params import Count, Params
from pipeline_src.systems.gomoku_zero.evaluation_params import GomokuOpenings


class GrowingEvaluateParams(Params):
    """The largest board's models against one opponent."""

    opponent: str = "mcts:playouts=1000"
    """Text of a player that learns nothing, see `zugwerk players gomoku`."""
    pairs: Count = 50
    """Pairs of games of the best player in the end."""
    every: Count = 3
    """Each so many-th generation is rated too, and the last one, and the net as it came from the smaller board."""
    rated_pairs: Count = 10
    """Pairs of games of each of those."""
    simulations: Count = 64
    """Simulations of a model's move."""
    openings: GomokuOpenings = GomokuOpenings()
    """The openings of all matches."""
    group: Count = 40
    """Games that a task plays in lock step; changes no game."""

    @model_validator(mode="after")
    def _openings_suffice(self) -> Self:
        least = max(self.pairs, self.rated_pairs)
        if self.openings.count < least:
            raise ValueError(f"openings.count must be at least {least}: each is played once")
        return self
