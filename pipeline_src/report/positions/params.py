"""Params section ``report_positions``: which boards the report shows."""

from pipeline_src.project.params import Count, Items, Params, Whole


class AmazonsShown(Params):
    """A held-out game's positions, and a whole game of a match."""

    plies: Items[Whole]
    """Turns played before each position."""
    match: str
    """Name in ``amazons_match.matches``."""


class GomokuShown(Params):
    """A whole game of the best player, and positions of it."""

    plies: Items[Whole]
    """Stones on the board."""
    opponent: str
    """Name in ``gomoku_evaluate.opponents``."""
    simulations: Count
    """Simulations of the search whose visits are shown; for growing boards too."""


class PlyShown(Params):
    """One position of a game."""

    ply: Whole
    """Moves played before it."""


class DepthShown(Params):
    """One position whose search depth two nets choose."""

    ply: Whole
    """Turns played before it."""
    published: str
    """Name in ``depth_train.models`` of the paper's net."""
    ours: str
    """Name in ``depth_train.models`` of our own net."""


class ReportPositionsParams(Params):
    """Boards of the report; their games are drawn by the seed, and the end of a shorter game stands for a later ply."""

    amazons: AmazonsShown
    """A held-out game of the Amazons, and a whole game of a match."""
    gomoku: GomokuShown
    """A whole game of Gomoku's best player, and positions of it."""
    growing: PlyShown
    """A position on the largest board."""
    joseki: PlyShown
    """A position of a held-out game of Go."""
    depth: DepthShown
    """A position whose search depth two nets choose."""
