"""PUCT's trees in flat arrays: many searches side by side, over steps of a side (`games.kernels.play_step`)."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
States = Any
"""A state's NamedTuple whose arrays have a leading batch axis (`batches.stack`)."""


class PuctOptions(NamedTuple):
    """The formula's constants: Q + c(N) * P * sqrt(N) / (1 + n), c(N) = c + ln((1 + N + c_base) / c_base).

    Silver et al. (2018), 'A general reinforcement learning algorithm that masters chess, shogi and Go through
    self-play', and its pseudocode. N is the visits of the node, its own expansion included, n those of the edge.
    """

    c: float = 1.25
    c_base: float = 19652.0
    """0: c does not grow."""
    fpu: float = 0.0
    """First-play urgency: an edge without visits has the node's Q less fpu * sqrt(the prior of all visited edges)."""
    fpu_absolute: bool = False
    """It has Q = fpu instead."""


class Forest(NamedTuple):
    """G trees with N nodes and E edges each. A node's values are by its side to move, an edge's by that of its node."""

    root: Ints
    """[G]: node that simulations start from."""
    nodes: Ints
    """[G]: nodes in use; a tree with none has its root still to be evaluated."""
    edges: Ints
    """[G]: edges in use."""
    done: Ints
    """[G]: simulations so far, the evaluation of the root not among them."""
    owner: Ints
    """[G, N]: edge that leads to a node, -1 for the first."""
    side: Bytes
    """[G, N]: side to move."""
    over: Bytes
    """[G, N]: 1 where the game is over; the result is the node's mean value."""
    first: Ints
    """[G, N]: first edge; a node's edges are in the order of `games.kernels.write_steps`."""
    branches: Ints
    """[G, N]: number of edges."""
    visits: Ints
    """[G, N]: values backed up to a node, its own among them."""
    pending: Ints
    """[G, N]: simulations that went through it and have no value yet."""
    total: Doubles
    """[G, N]: sum of the values."""
    origin: Ints
    """[G, E]: node that an edge leaves."""
    child: Ints
    """[G, E]: node it leads to; -1 before that is evaluated, or where there was no room."""
    step: Ints
    """[G, E]"""
    prior: Floats
    """[G, E]: the evaluator's probabilities, with noise at the root where that was added."""
    tries: Ints
    """[G, E]: n, values backed up through the edge."""
    virtual: Ints
    """[G, E]: virtual losses, one for each simulation under way."""
    worth: Doubles
    """[G, E]: sum of the values."""


class Leaves(NamedTuple):
    """Positions that wait for the evaluator, [B] of them at most; those of one tree are neighbours."""

    tree: Ints
    """[B]"""
    edge: Ints
    """[B]: edge that leads there, -1 for a root."""
    counts: Ints
    """[B]: number of legal steps."""
    steps: Ints
    """[B, S]: the legal steps; what follows them is undefined."""


def new_forest(trees: int, nodes: int, edges: int) -> Forest:
    """Empty trees with room for so many nodes and edges each. Untouched pages cost no memory."""

    def ints(*shape: int) -> Ints:
        return np.empty(shape, np.int32)

    return Forest(
        root=np.zeros(trees, np.int32),
        nodes=np.zeros(trees, np.int32),
        edges=np.zeros(trees, np.int32),
        done=np.zeros(trees, np.int32),
        owner=ints(trees, nodes),
        side=np.empty((trees, nodes), np.int8),
        over=np.empty((trees, nodes), np.int8),
        first=ints(trees, nodes),
        branches=ints(trees, nodes),
        visits=ints(trees, nodes),
        pending=ints(trees, nodes),
        total=np.empty((trees, nodes), np.float64),
        origin=ints(trees, edges),
        child=ints(trees, edges),
        step=ints(trees, edges),
        prior=np.empty((trees, edges), np.float32),
        tries=ints(trees, edges),
        virtual=ints(trees, edges),
        worth=np.empty((trees, edges), np.float64),
    )


def new_leaves(rows: int, steps: int) -> Leaves:
    """Room for so many positions with so many steps each."""
    tree, edge, counts = (np.empty(rows, np.int32) for _ in range(3))
    return Leaves(tree, edge, counts, np.zeros((rows, steps), np.int32))


@njit(cache=True)
def add_node(forest: Forest, g: int, owner: int, side: int, over: bool) -> int:
    """A node without edges and visits at the end of edge ``owner``; -1 where tree g is full."""
    node = forest.nodes[g]
    if node == forest.owner.shape[1]:
        return -1
    forest.nodes[g] += 1
    forest.owner[g, node], forest.side[g, node], forest.over[g, node] = owner, side, over
    forest.first[g, node], forest.branches[g, node] = forest.edges[g], 0
    forest.visits[g, node], forest.pending[g, node], forest.total[g, node] = 0, 0, 0.0
    if owner >= 0:
        forest.child[g, owner] = node
    return int(node)


@njit(cache=True)
def add_edges(forest: Forest, g: int, node: int, steps: Ints, priors: Floats) -> bool:
    """Give a new node of tree g its edges; False, and none, where there is no room."""
    first = forest.edges[g]
    if first + steps.size > forest.origin.shape[1]:
        return False
    forest.edges[g] += steps.size
    forest.first[g, node], forest.branches[g, node] = first, steps.size
    for i in range(steps.size):
        edge = first + i
        forest.origin[g, edge], forest.child[g, edge] = node, -1
        forest.step[g, edge], forest.prior[g, edge] = steps[i], priors[i]
        forest.tries[g, edge], forest.virtual[g, edge], forest.worth[g, edge] = 0, 0, 0.0
    return True


@njit(cache=True)
def back_up(forest: Forest, g: int, edge: int, side: int, value: float) -> None:
    """Add ``value``, by ``side``, to ``edge`` and to all above it up to the root; count a simulation."""
    forest.done[g] += 1
    while True:
        node = forest.origin[g, edge]
        seen = value if forest.side[g, node] == side else -value
        forest.tries[g, edge] += 1
        forest.worth[g, edge] += seen
        forest.visits[g, node] += 1
        forest.total[g, node] += seen
        if node == forest.root[g]:
            return
        edge = forest.owner[g, node]


@njit(cache=True)
def mark(forest: Forest, g: int, edge: int, change: int) -> None:
    """Add ``change`` to the virtual losses on the way from the root to ``edge``."""
    while True:
        node = forest.origin[g, edge]
        forest.virtual[g, edge] += change
        forest.pending[g, node] += change
        if node == forest.root[g]:
            return
        edge = forest.owner[g, node]
