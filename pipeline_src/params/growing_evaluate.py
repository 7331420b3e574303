"""Params section ``growing_evaluate``: how strong the largest board's players are."""

from dataclasses import dataclass, field

from pipeline_src.params.gomoku_evaluate import GomokuOpenings


@dataclass(frozen=True)
class GrowingEvaluateParams:
    """Of the stage that plays the models against one opponent."""

    opponent: str = "mcts:playouts=1000"
    """Text of a player that learns nothing."""
    pairs: int = 50
    """Pairs of games of the best player in the end."""
    every: int = 3
    """Of the generations, each so many-th is rated too, and the net as it came from the smaller board."""
    rated_pairs: int = 10
    """Pairs of games of each of those."""
    simulations: int = 64
    """Of a model's move."""
    openings: GomokuOpenings = field(default_factory=GomokuOpenings)
    group: int = 40
    """Games that a task plays in lock step; changes no game."""

    def __post_init__(self) -> None:
        for name in ("pairs", "every", "rated_pairs", "simulations", "group"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.openings.count < max(self.pairs, self.rated_pairs):
            raise ValueError(
                f"openings.count must be at least {max(self.pairs, self.rated_pairs)}: each is played once"
            )
