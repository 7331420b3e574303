"""One round of PUCT in many trees: `select` the leaves, let a net see them all at once, `expand_and_back_up`."""

from math import log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from pipeline_src.games import kernels
from pipeline_src.search.mcts.batches import row
from pipeline_src.search.mcts.puct_forest import (
    Floats,
    Forest,
    Leaves,
    PuctOptions,
    add_edges,
    add_node,
    back_up,
    mark,
)

NO_ROW, ROW, STUCK = 0, 1, 2
"""How a descent ended: at a finished game, whose result is backed up; at a leaf; at a leaf that waits already."""


@njit(cache=True)
def choose_edge(forest: Forest, g: int, node: int, options: PuctOptions) -> int:
    """The edge with the greatest Q + U (see `PuctOptions`); the first of equals. A virtual loss counts as a visit."""
    all_tries, virtual, worth, prior = forest.tries[g], forest.virtual[g], forest.worth[g], forest.prior[g]
    first = forest.first[g, node]
    end = first + forest.branches[g, node]
    visits = forest.visits[g, node] + forest.pending[g, node]
    c = options.c
    if options.c_base > 0.0:
        c += log((1.0 + visits + options.c_base) / options.c_base)
    scale = c * sqrt(float(visits))
    unvisited = options.fpu
    if not options.fpu_absolute:
        unvisited = forest.total[g, node] / max(1, forest.visits[g, node])
        if options.fpu != 0.0:
            seen = 0.0
            for edge in range(first, end):
                if all_tries[edge] + virtual[edge] > 0:
                    seen += prior[edge]
            unvisited -= options.fpu * sqrt(seen)
    best, best_bound = -1, -np.inf
    for edge in range(first, end):
        tries = all_tries[edge] + virtual[edge]
        bound = unvisited if tries == 0 else (worth[edge] - virtual[edge]) / tries
        bound += scale * prior[edge] / (1.0 + tries)
        if bound > best_bound:
            best, best_bound = edge, bound
    return best


@njit(cache=True)
def _descend(forest: Forest, g: int, state: Any, options: PuctOptions, leaves: Leaves, n: int) -> int:
    """From the root of tree g, whose state ``state`` is at first, to a leaf, whose state it then is."""
    edge = -1
    if forest.nodes[g] > 0:
        node = forest.root[g]
        while True:
            edge = choose_edge(forest, g, node, options)
            node = forest.child[g, edge]
            if node >= 0 and forest.over[g, node]:
                back_up(forest, g, edge, forest.side[g, node], forest.total[g, node])
                return NO_ROW
            kernels.play_step(state, forest.step[g, edge])
            if node < 0:
                break
        if forest.virtual[g, edge] > 0:
            return STUCK
        over, result = kernels.outcome(state)
        if over:
            side = kernels.to_play(state)
            node = add_node(forest, g, edge, side, True)
            if node >= 0:
                forest.visits[g, node], forest.total[g, node] = 1, result
            back_up(forest, g, edge, side, result)
            return NO_ROW
        mark(forest, g, edge, 1)
    leaves.tree[n], leaves.edge[n] = g, edge
    leaves.counts[n] = kernels.write_steps(state, leaves.steps[n])
    return ROW


@njit(cache=True, nogil=True)
def select(
    forest: Forest,
    roots: Any,
    targets: npt.NDArray[np.int32],
    options: PuctOptions,
    per_tree: int,
    states: Any,
    leaves: Leaves,
    flag: npt.NDArray[np.uint8],
) -> int:
    """Descend in every tree until it has ``per_tree`` leaves, or ``targets`` simulations done or under way.

    Simulations that end in finished games are backed up at once and take no row. With one leaf a tree this is the
    sequential algorithm; with more, virtual losses spread them, and a tree whose descents meet again stops early.

    Args:
        forest: the trees.
        roots: stacked states [G] of the roots, unfinished positions.
        targets: int32 [G]: simulations that each tree is to have; a root is evaluated even where that is 0; -1: none.
        options: the formula's constants.
        per_tree: at least 1.
        states: stacked states [B], B >= G * per_tree; row b becomes the state of leaf b.
        leaves: the other things known of leaf b.
        flag: uint8 [1]: where it is raised, no further simulation begins.

    Returns:
        How many leaves wait for the evaluator.
    """
    n = 0
    for g in range(targets.size):
        begun = 0
        while begun < per_tree and flag[0] == 0 and targets[g] >= 0:
            if forest.nodes[g] == 0:
                if begun > 0:
                    break
            elif forest.done[g] + begun >= targets[g]:
                break
            state = row(states, n)
            kernels.copy_into(row(roots, g), state)
            how = _descend(forest, g, state, options, leaves, n)
            if how == STUCK:
                break
            if how == ROW:
                n += 1
                begun += 1
    return n


@njit(cache=True, nogil=True)
def expand_and_back_up(forest: Forest, states: Any, leaves: Leaves, n: int, priors: Floats, values: Floats) -> None:
    """Make the first n leaves nodes, with the evaluator's priors, and back its values up.

    Args:
        forest: as `select` left it.
        states: likewise.
        leaves: likewise.
        n: what `select` returned.
        priors: float32 [n, >= S], of each leaf's steps in their order, summing to 1.
        values: float32 [n], -1..1, to the leaf's side to move.
    """
    for b in range(n):
        g, edge, count, value = leaves.tree[b], leaves.edge[b], leaves.counts[b], float(values[b])
        side = kernels.to_play(row(states, b))
        if forest.edges[g] + count <= forest.origin.shape[1]:
            node = add_node(forest, g, edge, side, False)
            if node >= 0:
                add_edges(forest, g, node, leaves.steps[b, :count], priors[b, :count])
                forest.visits[g, node], forest.total[g, node] = 1, value
        if edge >= 0:
            mark(forest, g, edge, -1)
            back_up(forest, g, edge, side, value)
