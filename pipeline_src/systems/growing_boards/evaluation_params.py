"""Params of the matches that measure growing boards.

They are separate from `params`, so that a changed match does not train any net again.
"""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import model_validator

from pipeline_src.project.params import Count, Params
from pipeline_src.systems.gomoku_zero.evaluation_params import GomokuOpenings


class GrowingEvaluateParams(Params):
    """Matches of the largest board's models against one opponent."""

    opponent: str = "mcts:playouts=1000"
    """Text of the fixed opponent, see `zugwerk players gomoku`."""
    pairs: Count = 50
    """Number of pairs of games of the final best player."""
    every: Count = 3
    """Distance between rated generations. The last one, and the net carried over from the smaller board, are rated
    too."""
    rated_pairs: Count = 10
    """Number of pairs of games of each rated generation."""
    simulations: Count = 64
    """Number of simulations of a model's move."""
    openings: GomokuOpenings = GomokuOpenings()
    """The openings of all matches."""

    @model_validator(mode="after")
    def _openings_suffice(self) -> Self:
        least = max(self.pairs, self.rated_pairs)
        if self.openings.count < least:
            raise ValueError(f"openings.count must be at least {least}: each is played once")
        return self


def player_words(params: Mapping[str, Any]) -> str:
    """Return in words the player that the figures are of, with the tree of params.yaml; empty if it does not say."""
    simulations = (params.get("growing_evaluate") or {}).get("simulations")
    return f"bare net, {simulations} simulations" if simulations else ""
