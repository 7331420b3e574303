"""Tree reuse: when a step is played, the part of the tree below it moves to the front of the tree's memory."""

from typing import Any

from pipeline_src.games import kernels
from pipeline_src.jit import njit
from pipeline_src.search.mcts.batches import row
from pipeline_src.search.mcts.puct_forest import Forest, Ints, Records


@njit(cache=True, forceinline=True)
def keep_below(forest: Forest, g: int, top: int, moved: Ints, block: Records) -> None:
    """Make node ``top`` the root of tree g and drop all nodes that are not below it; simulations count from 0.

    Children come after their parents, before and after: so nodes only ever move forward, and one pass does it.

    Args:
        forest: the trees, none of them waiting for the evaluator.
        g: the tree.
        top: one of its nodes.
        moved: int32 [>= N]: scratch.
        block: EDGE [>= E]: scratch.
    """
    nodes, edges, priors = forest.nodes[g], forest.edges[g], forest.priors[g]
    for edge in range(forest.used_edges[g]):
        block[edge] = edges[edge]
    kept, used = 0, 0
    for node in range(top, forest.used_nodes[g]):
        parent = nodes[node].parent
        moved[node] = 0 if node == top else -1
        if node > top and parent >= top and moved[parent] >= 0:
            moved[node] = kept
        if moved[node] < 0:
            continue
        here = nodes[kept]
        nodes[kept] = nodes[node]
        for i in range(here.count):
            priors[kept, i] = priors[node, i]
        for i in range(here.edges):
            edges[used + i] = block[here.first + i]
            nodes[edges[used + i].child].owner = used + i
        here.first = used
        length = 1 if here.edges else 0
        while length < here.edges:
            length *= 2
        used += length
        if node == top:
            here.parent, here.owner = -1, -1
        else:
            here.parent = moved[parent]
            edges[here.owner].child = kept
        kept += 1
    forest.used_nodes[g], forest.used_edges[g], forest.done[g] = kept, used, 0


@njit(cache=True, forceinline=True)
def is_step(state: Any, step: int, steps: Ints) -> bool:
    """Whether a step is legal; ``steps`` is scratch, int32 [>= S]."""
    for i in range(kernels.write_steps(state, steps)):
        if steps[i] == step:
            return True
    return False


@njit(cache=True, nogil=True)
def play_steps(forest: Forest, roots: Any, played: Ints, moved: Ints, block: Records, steps: Ints) -> int:
    """Play a step at the root of every tree and keep the part of the tree below it.

    Args:
        forest: the trees, none of them waiting for the evaluator.
        roots: stacked states [G] of the roots.
        played: int32 [G]: steps, -1 where a tree stays as it is.
        moved: int32 [>= N]: scratch.
        block: EDGE [>= E]: scratch.
        steps: int32 [>= S]: scratch.

    Returns:
        -1, or the first tree in which the step is illegal; no tree is changed then.
    """
    for g in range(played.size):
        if played[g] >= 0 and not is_step(row(roots, g), played[g], steps):
            return g
    for g in range(played.size):
        if played[g] < 0:
            continue
        kernels.play_step(row(roots, g), played[g])
        top = -1
        if forest.used_nodes[g] > 0:
            first = forest.nodes[g, 0].first
            for edge in range(first, first + forest.nodes[g, 0].edges):
                if forest.edges[g, edge].step == played[g]:
                    top = forest.edges[g, edge].child
        if top >= 0 and forest.nodes[g, top].over == 0:
            keep_below(forest, g, top, moved, block)
        else:
            forest.used_nodes[g], forest.used_edges[g], forest.done[g] = 0, 0, 0
    return -1
