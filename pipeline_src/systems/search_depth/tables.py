"""`fit_table`: the published opponent's table from legal turns to depth, fitted to an amount of computing.

In place of a hand, a rule: a position is searched to the greatest depth whose expected nodes are within a budget that
is the same for all. Expected nodes come from labelled positions: of those that completed a depth, its nodes as a power
of the legal turns, each depth as a multiple of the one before.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.search_depth.choices import TableDepth

LEAST_ROWS = 8
"""Positions that must have completed a depth for its nodes to be told; those of deeper ones grow as the last did."""
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
                    f"a depth table wants {LEAST_ROWS} positions searched {depth} plies deep, there are "
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
    """(table, what it spends) that comes nearest to the ``wanted`` computing among those tried.

    Args:
        costs: see `fit_costs`.
        lowest: see `table_within`.
        highest: likewise.
        wanted: what the table is to spend.
        budget: nodes of a move with which to begin.
        spend: what a table spends, in the unit of ``wanted``, by playing or by reckoning.
        rounds: tables that are tried at most; each next budget is found by the secant through the last two, on logs.
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
