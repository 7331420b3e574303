"""`tune_table`: make the published opponent as strong as the same computing allows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline_src.arena.journal import Journal
from pipeline_src.parallel import Parallel
from pipeline_src.systems.search_depth.choices import TableDepth
from pipeline_src.systems.search_depth.match import Meeting, play_meetings
from pipeline_src.systems.search_depth.params import DepthGame
from pipeline_src.systems.search_depth.tables import fit_costs, fit_table


@dataclass(frozen=True)
class TunedTable:
    """A table, and how near its computing came."""

    table: TableDepth
    wanted: float
    """Nodes of a game that the player spends which the table is fitted to."""
    spent: float
    """Nodes of a game that the table spends against it, in as many pilot games."""

    @property
    def options(self) -> str:
        """Options of the player that follows the table."""
        return table_options(self.table)


def table_options(table: TableDepth) -> str:
    """Options of the ``alphabeta`` player that follows a table."""
    return f"depth=table,lowest={table.lowest}" + (f",table={table}" if table.below else "")


def tune_table(
    player: str,
    legal: npt.NDArray[np.int32],
    nodes_by_depth: npt.NDArray[np.int64],
    game: DepthGame,
    pairs: int,
    seed: Sequence[int],
    parallel: Parallel,
    journal: Journal | None,
) -> TunedTable:
    """Return a table that spends about the same nodes as ``player`` in games between the two, found in a few tries.

    Args:
        player: text of the player that is matched.
        legal: int32 [R], legal turns of the training split's positions.
        nodes_by_depth: int64 [R, D], what each depth took there.
        game: the clock, the engine and the depths.
        pairs: pilot pairs of each try.
        seed: of the pilot games.
        parallel: how they run.
        journal: where they are kept.
    """
    costs = fit_costs(legal, nodes_by_depth, game.highest)
    wanted: dict[TableDepth, float] = {}

    def ratio(table: TableDepth) -> float:
        meeting = Meeting(player, game.player(table_options(table)), pairs, seed)
        (match,) = play_meetings([meeting], game, parallel, journal)
        wanted[table] = match.nodes(0)
        return match.nodes(1) / match.nodes(0)

    first = float(nodes_by_depth.max(axis=1).mean())
    table, spent = fit_table(costs, game.lowest, game.highest, 1.0, first, ratio)
    return TunedTable(table, wanted[table], spent * wanted[table])
