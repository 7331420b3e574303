"""Params section ``report_positions``: which boards the report shows."""

from pipeline_src.project.params import Count, Items, Params, Whole


class AmazonsShown(Params):
    """Positions of a held-out game, and a whole game of a match."""

    plies: Items[Whole]
    """Numbers of turns played before each position."""
    match: str
    """Name in ``amazons_match.matches``."""


class GomokuShown(Params):
    """A whole game of the best player, and positions of it."""

    plies: Items[Whole]
    """Numbers of stones on the board, one for each position."""
    opponent: str
    """Name in ``gomoku_evaluate.opponents``."""
    simulations: Count
    """Number of simulations of the search that is shown, also for growing boards."""


class PlyShown(Params):
    """One position of a game."""

    ply: Whole
    """Number of moves played before the position."""


class DepthShown(Params):
    """A position for which two nets choose the search depth."""

    ply: Whole
    """Number of turns played before the position."""
    published: str
    """Name in ``depth_train.models`` of the paper's net."""
    ours: str
    """Name in ``depth_train.models`` of our own net."""


class ReportPositionsParams(Params):
    """Boards of the report. The seed draws their games; a ply beyond the end of a game becomes its last one."""

    amazons: AmazonsShown
    """A held-out game of the Amazons, and a whole game of a match."""
    gomoku: GomokuShown
    """A whole game of Gomoku's best player, and positions of it."""
    growing: PlyShown
    """A position on the largest board."""
    joseki: PlyShown
    """A position of a game of the joseki library."""
    depth: DepthShown
    """A position for which two nets choose the search depth."""
