"""Params of the stage in which Amazons-Net plays other players."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AmazonsMatchParams:
    """Which nets play whom, and how often."""

    loss: str
    """Reading of the loss whose nets play; also the one whose figures are the headlines."""
    opponents: tuple[str, ...]
    """Texts of the players they meet; each is a key of the metrics."""
    pairs: int
    """Pairs of games against each opponent: one opening, played twice with the sides swapped."""
    opening_plies: int
    """Random plies before the players take over; no two openings of a match are the same."""

    def __post_init__(self) -> None:
        if not self.opponents or len(set(self.opponents)) != len(self.opponents):
            raise ValueError("opponents must name at least one player, each once")
        if self.pairs < 1:
            raise ValueError(f"pairs must be at least 1, not {self.pairs}")
        if not 1 <= self.opening_plies <= 20:
            raise ValueError(
                f"opening_plies must be 1 to 20, not {self.opening_plies}: from the bare start position, players that "
                "draw no lots would play the same game again and again"
            )
