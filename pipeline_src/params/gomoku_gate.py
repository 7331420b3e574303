"""Params of the matches that decide who is Gomoku's best player."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class GomokuGate:
    """The newly trained player against the best one; it takes its place if it scores more than half."""

    games: int = 20
    """Even: pairs with the sides swapped."""
    simulations: int = 300
    """Of a move, without noise and temperature."""
    search: Literal["puct", "gumbel"] = "puct"
    opening_plies: int = 2
    """Random stones before the players take over, the same in both games of a pair."""
    always: bool = False
    """The new player takes the place whatever the score, as in AlphaZero; the games are played for the record."""

    def __post_init__(self) -> None:
        if self.games < 2 or self.games % 2:
            raise ValueError(f"games must be even and at least 2, not {self.games}")
        if self.simulations < 1 or self.opening_plies < 0:
            raise ValueError("simulations must be at least 1 and opening_plies at least 0")
