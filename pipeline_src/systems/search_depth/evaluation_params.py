"""Params of the measurements of the depth nets: the test split and matches on a clock.

They are separate from `params`, so that a changed match does not train any net again.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator

from pipeline_src.project.params import Count, Items, Named, Params


class DepthEvaluateParams(Params):
    """Evaluation of every net on the test split."""

    confidences: Items[Annotated[float, Field(gt=0, le=1)]]
    """Probabilities: classifying nets are also evaluated with the first class that suffices with each of them."""


TABLE = "table"
"""Name of the published opponent. Its table is fitted to the computing of the player that it meets."""


class DepthPairing(Params):
    """One match."""

    a: str
    """Name of player A; scores are reported for A."""
    b: str
    """Name of player B, the opponent; ``table`` is the published one, fitted to the nodes that ``a`` spends."""
    pairs: Count
    """Number of openings, each played twice with the sides swapped."""


class DepthMatchParams(Params):
    """Matches on the clock of ``depth_game``."""

    pilot_pairs: Count
    """Number of pairs of games that measure the nodes of each candidate table."""
    players: Named[str]
    """Options of the ``alphabeta`` player by a name: ``depth=4``, an empty text for iterative deepening, or
    ``depth=cnn,model={NAME}``, where ``{NAME}`` stands for the file of that model of depth_train."""
    matches: Annotated[Named[DepthPairing], Field(min_length=1)]
    """Matches by name."""

    @model_validator(mode="after")
    def _players_are_known(self) -> Self:
        if TABLE in self.players:
            raise ValueError(f"players: the name {TABLE} is that of the published opponent; take another")
        for name, pairing in self.matches.items():
            for side, player in (("a", pairing.a), ("b", pairing.b)):
                if player not in self.players and not (side == "b" and player == TABLE):
                    known = ", ".join(self.players)
                    raise ValueError(f"matches.{name}.{side}: no player {player!r}; there are: {known}")
        return self
