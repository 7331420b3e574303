"""The published opponent's table from legal turns to depth, fitted to an amount of computing.

In place of a hand, a rule: a position is searched to the greatest depth whose expected nodes are within a budget that
is the same for all (`fit_table`). Expected nodes come from labelled positions: of those that completed a depth, its
nodes as a power of the legal turns, each depth as a multiple of the one before. `tune_table` makes the opponent as
strong as the same computing allows, in pilot games.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline_src.arena.journal import Journal
from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel
from pipeline_src.systems.search_depth.choices import TableDepth
from pipeline_src.systems.search_depth.match import Meeting, play_meetings
from pipeline_src.systems.search_depth.params import DepthGame

LEAST_ROWS = 8
"""Least number of positions with a completed depth to estimate its nodes; deeper ones grow at the last rate."""
CLOSE = 0.01
"""Difference of the computing, as a share, at which no other table is tried."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DepthCosts:
    """Expected nodes of each depth: ``exp(a + b * log(legal))`` for depth 1, such a multiple for each ply more."""

    powers: tuple[tuple[float, float], ...]
    """(a, b) by depth."""

    def nodes(self, legal: npt.ArrayLike) -> Floats:
        """float64 [R, D]: nodes until each depth from 1 is complete, never falling, for R numbers of legal turns."""
        logs = np.log(np.maximum(np.asarray(legal, np.float64), 1))
        a, b = np.array(self.powers).T
        steps = a + b * logs[:, None]
        steps[:, 1:] = np.maximum(steps[:, 1:], 0)
        found: Floats = np.exp(np.cumsum(steps, axis=1))
        return found


def fit_costs(legal: npt.NDArray[np.int32], nodes_by_depth: npt.NDArray[np.int64], highest: int) -> DepthCosts:
    """Costs of the depths 1 to ``highest``.

    Args:
        legal: int32 [R], legal turns.
        nodes_by_depth: int64 [R, D], as in `systems.search_depth.positions`.
        highest: greatest depth.

    Raises:
        ZugwerkError: too few positions.
    """
    logs = np.log(np.maximum(legal.astype(np.float64), 1))
    powers: list[tuple[float, float]] = []
    for depth in range(1, highest + 1):
        done = nodes_by_depth[:, depth - 1] > 0 if depth <= nodes_by_depth.shape[1] else np.zeros(len(legal), np.bool_)
        if done.sum() < LEAST_ROWS:
            if depth <= 2:
                raise ZugwerkError(
                    f"a depth table needs {LEAST_ROWS} positions searched {depth} plies deep, there are "
                    f"{int(done.sum())}; raise depth_label.games"
                )
            powers.append(powers[-1])
            continue
        nodes = np.log(nodes_by_depth[done, depth - 1].astype(np.float64))
        if depth > 1:
            nodes -= np.log(np.maximum(nodes_by_depth[done, depth - 2], 1).astype(np.float64))
        design = np.column_stack([np.ones(int(done.sum())), logs[done]])
        a, b = np.linalg.lstsq(design, nodes, rcond=None)[0]
        powers.append((float(a), float(b)))
    return DepthCosts(tuple(powers))


def table_within(costs: DepthCosts, lowest: int, highest: int, budget: float) -> TableDepth:
    """The table that searches each position to the greatest depth which is expected to take ``budget`` nodes at most.

    Depths go from ``lowest``, however much that takes, to ``highest``.
    """
    legal = np.arange(1, 4 * 35 * 35)
    nodes = costs.nodes(legal)
    below = []
    for depth in range(lowest + 1, highest + 1):
        fits = np.flatnonzero(nodes[:, depth - 1] <= budget)
        below.append(int(legal[fits[-1]]) + 1 if fits.size else 0)
    return TableDepth(lowest, tuple(int(n) for n in np.minimum.accumulate(np.array(below, np.int64))))


def fit_table(
    costs: DepthCosts,
    lowest: int,
    highest: int,
    wanted: float,
    budget: float,
    spend: Callable[[TableDepth], float],
    rounds: int = 4,
) -> tuple[TableDepth, float]:
    """Return (table, computing that it spends), the nearest to the ``wanted`` computing among those tried.

    Args:
        costs: see `fit_costs`.
        lowest: see `table_within`.
        highest: see `table_within`.
        wanted: computing that the table should spend.
        budget: initial budget of nodes per move.
        spend: returns the computing of a table, in the unit of ``wanted``, from games or estimates.
        rounds: largest number of tables to try; budgets follow the secant through the last two, on a log scale.
    """
    tried: list[tuple[float, float, TableDepth]] = []
    for _ in range(rounds):
        table = table_within(costs, lowest, highest, budget)
        known = [entry for entry in tried if entry[2] == table]
        spent = known[0][1] if known else spend(table)
        tried.append((budget, spent, table))
        slope = 1.0
        if len(tried) > 1 and tried[-2][1] != spent:
            slope = float(np.log(tried[-2][0] / budget) / np.log(tried[-2][1] / spent))
        if abs(np.log(wanted / spent)) < CLOSE:
            break
        budget *= (wanted / spent) ** min(4.0, max(0.5, slope))
    _, spent, table = min(tried, key=lambda entry: abs(float(np.log(wanted / entry[1]))))
    return table, spent


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
