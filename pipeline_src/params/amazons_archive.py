"""Params of the stage that plays the games of the offline archive."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AmazonsArchive:
    """The archive that the site replica serves: games of our own players."""

    games: int
    """How many."""
    players: tuple[str, ...]
    """Texts of the players (`pipeline_src.players`); every game pairs two of them."""
    opening_plies: int
    """Random plies before the players take over, so that games differ."""
    cross_share: float
    """Fraction of games from the 'Cross' start; the datasets leave them out by default, as they do on the real site."""

    def __post_init__(self) -> None:
        if self.games < 1:
            raise ValueError(f"games must be at least 1, not {self.games}")
        if len(self.players) < 2:
            raise ValueError("players must name at least two players")
        if not 0 <= self.opening_plies <= 20:
            raise ValueError(f"opening_plies must be 0 to 20, not {self.opening_plies}")
        if not 0 <= self.cross_share < 1:
            raise ValueError(f"cross_share must be at least 0 and below 1, not {self.cross_share}")
