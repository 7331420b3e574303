"""Params section ``amazons_match``: who plays whom, and how much."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pairing:
    """One match."""

    a: str
    """Text of the player whose score is told; ``{published}`` and ``{residual}`` stand for the models' files."""
    b: str
    """Text of its opponent, likewise."""
    pairs: int
    """Openings, each played twice with the sides swapped."""


@dataclass(frozen=True)
class AmazonsMatchParams:
    """Of the stage that plays matches, limited by nodes or depth, never by the clock."""

    loss: str
    """Reading of the loss whose nets are ``{published}``; also the reading whose figures are the headline."""
    opening_plies: int
    """Random plies before the players take over."""
    matches: dict[str, Pairing]
    """By name."""

    def __post_init__(self) -> None:
        if not self.matches:
            raise ValueError("matches must name at least one")
        for name, pairing in self.matches.items():
            if pairing.pairs < 1:
                raise ValueError(f"matches.{name}.pairs must be at least 1, not {pairing.pairs}")
        if not 1 <= self.opening_plies <= 20:
            raise ValueError(
                f"opening_plies must be 1 to 20, not {self.opening_plies}: from the bare start position, players that "
                "draw no lots would play the same game again and again"
            )
