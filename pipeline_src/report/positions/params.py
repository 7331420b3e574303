"""Params section ``report_positions``: which boards the report shows."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AmazonsShown:
    """A held-out game's positions, and a whole game of a match."""

    plies: tuple[int, ...]
    """Turns played before each position."""
    match: str
    """Name in ``amazons_match.matches``."""


@dataclass(frozen=True)
class GomokuShown:
    """A whole game of the best player, and positions of it."""

    plies: tuple[int, ...]
    """Stones on the board."""
    opponent: str
    """Name in ``gomoku_evaluate.opponents``."""
    simulations: int
    """Of the search whose visits are shown; of growing boards too."""


@dataclass(frozen=True)
class PlyShown:
    """One position of a game."""

    ply: int
    """Moves played before it."""


@dataclass(frozen=True)
class DepthShown:
    """One position whose search depth two nets choose."""

    ply: int
    """Turns played before it."""
    published: str
    """Name in ``depth_train.models`` of the paper's net."""
    ours: str
    """Likewise of our own."""


@dataclass(frozen=True)
class ReportPositionsParams:
    """Of the stage that asks the nets about them. A game is drawn by the seed; of a shorter one the end is shown."""

    amazons: AmazonsShown
    gomoku: GomokuShown
    growing: PlyShown
    joseki: PlyShown
    depth: DepthShown

    def __post_init__(self) -> None:
        single = (self.growing.ply, self.joseki.ply, self.depth.ply)
        if any(ply < 0 for ply in (*self.amazons.plies, *self.gomoku.plies, *single)):
            raise ValueError("plies must be at least 0")
        if self.gomoku.simulations < 1:
            raise ValueError(f"gomoku.simulations must be at least 1, not {self.gomoku.simulations}")
