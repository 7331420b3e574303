"""Params section ``depth_match``: who plays whom for the search depth, and how much."""

from dataclasses import dataclass

TABLE = "table"
"""The name of the published opponent, whose table is fitted to the computing of whom it meets."""


@dataclass(frozen=True)
class DepthPairing:
    """One match."""

    a: str
    """Name of the player whose score is told."""
    b: str
    """Name of its opponent; `TABLE` is the published one, fitted to what ``a`` spends."""
    pairs: int
    """Openings, each played twice with the sides swapped."""


@dataclass(frozen=True)
class DepthMatchParams:
    """Of the stage that plays matches on the clock of ``depth_game``."""

    group: int
    """Pairs that a task plays; what a killed run has to do again at most, for each worker."""
    pilot_pairs: int
    """Pairs in which a table's computing is measured each time one is tried."""
    players: dict[str, str]
    """Options of the ``alphabeta`` player by a name: ``depth=4``, nothing for iterative deepening, or ``depth=cnn,
    model={NAME}``, where ``{NAME}`` stands for that model's file."""
    matches: dict[str, DepthPairing]
    """By name."""

    def __post_init__(self) -> None:
        if self.group < 1 or self.pilot_pairs < 1:
            raise ValueError(f"group and pilot_pairs must be at least 1, not {self.group} and {self.pilot_pairs}")
        if TABLE in self.players:
            raise ValueError(f"players: the name {TABLE} is that of the published opponent; take another")
        if not self.matches:
            raise ValueError("matches must name at least one")
        for name, pairing in self.matches.items():
            if pairing.pairs < 1:
                raise ValueError(f"matches.{name}.pairs must be at least 1, not {pairing.pairs}")
            for side, player in (("a", pairing.a), ("b", pairing.b)):
                if player not in self.players and not (side == "b" and player == TABLE):
                    known = ", ".join(self.players)
                    raise ValueError(f"matches.{name}.{side}: no player {player!r}; there are: {known}")
