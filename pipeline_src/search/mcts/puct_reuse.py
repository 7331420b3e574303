"""What stays of a tree when a step is played: the part below it, moved to the front of the tree's own memory."""

from numba import njit

from pipeline_src.search.mcts.puct_forest import Forest, Ints, Records


@njit(cache=True, nogil=True)
def keep_below(forest: Forest, g: int, top: int, moved: Ints, block: Records) -> None:
    """Make node ``top`` of tree g its root and forget all that is not below it; simulations count from 0.

    Children come after their parents, before and after: so nodes only ever move forward, and one pass does it.

    Args:
        forest: the trees, none of them waiting for the evaluator.
        g: the tree.
        top: one of its nodes.
        moved: int32 [>= N]: scratch.
        block: EDGE [>= E]: scratch.
    """
    nodes, edges, priors, steps = forest.nodes[g], forest.edges[g], forest.priors[g], forest.steps[g]
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
        count = here.count
        priors[kept, :count] = priors[node, :count]
        steps[kept, :count] = steps[node, :count]
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
