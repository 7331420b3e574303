"""Params of what the depth nets are measured by: the test split and matches on a clock.

Apart from `params`, so that another match trains nothing anew.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator

from pipeline_src.project.params import Count, Items, Named, Params


class DepthEvaluateParams(Params):
    """Every net on the test split."""

    confidences: Items[Annotated[float, Field(gt=0, le=1)]]
    """Beside the likeliest class of classifying nets: the first class that suffices with this probability."""


TABLE = "table"
"""The name of the published opponent, whose table is fitted to the computing of whom it meets."""


class DepthPairing(Params):
    """One match."""

    a: str
    """Name of the player whose score is told."""
    b: str
    """Name of its opponent; ``table`` is the published one, fitted to what ``a`` spends."""
    pairs: Count
    """Openings, each played twice with the sides swapped."""


class DepthMatchParams(Params):
    """Matches on the clock of ``depth_game``."""

    group: Count
    """Pairs that a task plays; what a killed run has to do again at most, for each worker."""
    pilot_pairs: Count
    """Pairs in which a table's computing is measured each time one is tried."""
    players: Named[str]
    """Options of the ``alphabeta`` player by a name: ``depth=4``, nothing for iterative deepening, or
    ``depth=cnn,model={NAME}``, where ``{NAME}`` stands for that model's file of depth_train."""
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
