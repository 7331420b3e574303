"""The iterations of UCT: descend by the bound on the win rate, expand, back up.

UCT is by Kocsis and Szepesvari (2006). Extensions: progressive widening (Coulom, 2007; Chaslot et al., 2008), proven
values (Winands et al., 2008), a share of the minimax value in addition to the mean (Lanctot et al., 2014), priors in
the bound (Rosin, 2011).
"""

from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games import kernels
from pipeline_src.jit import njit
from pipeline_src.search.mcts.uct_tree import (
    EDGES,
    NODES,
    SURE,
    Floats,
    Ints,
    UctOptions,
    UctTree,
    expand,
    is_open,
    refresh,
)

MAX_DEPTH = 256
"""Largest number of actions in a line. A longer one is not followed further."""


class UctScratch(NamedTuple):
    """Scratch space of one search."""

    actions: Ints
    values: Floats
    order: Ints
    """[A] each, A = `games.kernels.max_actions`."""
    path: Ints
    """[MAX_DEPTH, 2]: nodes and edges of the current line."""
    depth: npt.NDArray[np.int64]
    """[1]: the longest line so far."""


@njit(cache=True)
def win_rate(value: float, scale: float) -> float:
    """Convert a value to a win rate in -1..1."""
    if abs(value) >= SURE:
        return 1.0 if value > 0 else -1.0
    return 2.0 / (1.0 + exp(-value / scale)) - 1.0


@njit(cache=True)
def choose_edge(tree: UctTree, node: int, options: UctOptions) -> int:
    """The open edge with the greatest bound among those that progressive widening lets in; the first of equals."""
    worths, children, all_tries, totals, closed = tree.worth, tree.child, tree.tries, tree.total, tree.closed
    priors, visits, first = tree.prior, tree.visits[node], tree.first[node]
    c, share, scale, with_prior = options.c, options.minimax, options.scale, options.prior > 0.0
    width = max(1, int(options.widen * (visits + 1.0) ** options.alpha))
    spread = sqrt(visits + 1.0) if with_prior else log(visits + 1.0)
    best, best_bound, seen = -1, -np.inf, 0
    for edge in range(first, first + tree.branches[node]):
        worth, tries = np.float64(worths[edge]), all_tries[edge]
        if not is_open(worth, children[edge], closed):
            continue
        if tries == 0:
            bound = win_rate(worth, scale)
        else:
            bound = totals[edge] / tries
            if share > 0.0:
                bound += share * (win_rate(worth, scale) - bound)
        bound += c * priors[edge] * spread / (1.0 + tries) if with_prior else c * sqrt(spread / (1.0 + tries))
        if bound > best_bound:
            best, best_bound = edge, bound
        seen += 1
        if seen == width:
            break
    return best


@njit(cache=True)
def _iterate(tree: UctTree, state: Any, evaluator: Any, options: UctOptions, scratch: UctScratch) -> None:
    """Run one iteration from the open root. ``state`` is the root's, changed on the way and restored at the end."""
    node, depth, path = 0, 0, scratch.path
    while True:
        edge = choose_edge(tree, node, options)
        path[depth, 0], path[depth, 1] = node, edge
        depth += 1
        kernels.play(state, tree.action[edge])
        if tree.child[edge] < 0 or depth == MAX_DEPTH:
            break
        node = tree.child[edge]
    room = tree.used[NODES] < tree.first.size and tree.used[EDGES] + options.keep <= tree.action.size
    if tree.child[edge] < 0 and room:
        child = expand(
            tree,
            state,
            evaluator,
            scratch.actions,
            scratch.values,
            scratch.order,
            options.keep,
            options.breadth,
            options.prior,
        )
        tree.child[edge] = child
        tree.worth[edge] = tree.value[child] if tree.side[child] == tree.side[node] else -tree.value[child]
    side, rate = tree.side[node], win_rate(float(tree.worth[edge]), options.scale)
    scratch.depth[0] = max(scratch.depth[0], depth)
    for i in range(depth - 1, -1, -1):
        node, edge = path[i, 0], path[i, 1]
        kernels.take_back(state, tree.action[edge])
        child = tree.child[edge]
        if child >= 0:
            tree.worth[edge] = tree.value[child] if tree.side[child] == tree.side[node] else -tree.value[child]
        tree.tries[edge] += 1
        tree.total[edge] += rate if tree.side[node] == side else -rate
        tree.visits[node] += 1
        tree.reached[node] = max(tree.reached[node], edge - tree.first[node] + 1)
        refresh(tree, node)


@njit(cache=True, nogil=True)
def iterate(
    tree: UctTree,
    state: Any,
    evaluator: Any,
    options: UctOptions,
    scratch: UctScratch,
    until: int,
    depth: int,
    flag: npt.NDArray[np.uint8],
) -> None:
    """Iterate until the root has ``until`` visits or a final value, a line has ``depth`` actions, or ``flag`` is set.

    Args:
        tree: with the root expanded.
        state: state of the root; changed on the way and restored at the end.
        evaluator: evaluator of the game (`search.evaluator`).
        options: see `UctOptions`.
        scratch: see `UctScratch`.
        until: visits of the root.
        depth: length of the longest line.
        flag: uint8 [1]; checked before every iteration.
    """
    while tree.visits[0] < until and tree.closed[0] == 0 and scratch.depth[0] < depth and flag[0] == 0:
        _iterate(tree, state, evaluator, options, scratch)


@njit(cache=True)
def answer_edge(tree: UctTree, node: int) -> int:
    """Return the edge to play at a node: a proven win, else the most tried edge not proven lost, else the longest loss.

    Ties go to the higher value, then to the first. -1 if the node has no edges.
    """
    best, best_rank, best_tries, best_worth = -1, -1, -1, -np.inf
    for edge in range(tree.first[node], tree.first[node] + tree.branches[node]):
        worth = tree.worth[edge]
        level = 2 if worth >= SURE else 0 if worth <= -SURE else 1
        tries = tree.tries[edge] if level == 1 else 0
        if (level, tries, worth) > (best_rank, best_tries, best_worth):
            best, best_rank, best_tries, best_worth = edge, level, tries, worth
    return best
