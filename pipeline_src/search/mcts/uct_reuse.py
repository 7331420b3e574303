"""Tree reuse of UCT: what was searched below a position goes on below the root once the game has come to it."""

from typing import Any

from pipeline_src.games import kernels
from pipeline_src.jit import njit
from pipeline_src.search.mcts.uct_tree import EDGES, NODES, Floats, Ints, UctTree, expand, refresh


@njit(cache=True)
def _below(tree: UctTree, state: Any, wanted: Any) -> int:
    """Return the node two actions below the root whose position has the hash ``wanted``, -1 if there is none.

    ``state`` is the root's, changed on the way and restored at the end.
    """
    for edge in range(tree.first[0], tree.first[0] + tree.branches[0]):
        node = tree.child[edge]
        if node < 0:
            continue
        kernels.play(state, tree.action[edge])
        for reply in range(tree.first[node], tree.first[node] + tree.branches[node]):
            found = tree.child[reply]
            if found >= 0:
                kernels.play(state, tree.action[reply])
                same = kernels.position_hash(state) == wanted
                kernels.take_back(state, tree.action[reply])
                if same:
                    kernels.take_back(state, tree.action[edge])
                    return int(found)
        kernels.take_back(state, tree.action[edge])
    return -1


@njit(cache=True)
def _graft(tree: UctTree, top: int, nodes: int, owner: Ints) -> None:
    """Move what is below node ``top`` of ``nodes`` to the root, which `expand` has made anew.

    Children come after their parents, before and after, so nodes and edges only ever move forward.
    """
    owner[:nodes] = -1
    for old in range(tree.first[top], tree.first[top] + tree.branches[top]):
        for edge in range(tree.branches[0] if tree.tries[old] > 0 else 0):
            if tree.action[edge] == tree.action[old]:
                tree.tries[edge], tree.total[edge] = tree.tries[old], tree.total[old]
                tree.worth[edge], tree.reached[0] = tree.worth[old], max(tree.reached[0], edge + 1)
                tree.visits[0] += tree.tries[old]
                if tree.child[old] >= 0:
                    owner[tree.child[old]] = edge
                break
    kept, used = 1, tree.used[EDGES]
    for node in range(top + 1, nodes):
        if owner[node] < 0:
            continue
        tree.child[owner[node]] = kept
        first, tree.first[kept] = tree.first[node], used
        tree.branches[kept], tree.reached[kept] = tree.branches[node], tree.reached[node]
        tree.visits[kept], tree.side[kept], tree.closed[kept] = tree.visits[node], tree.side[node], tree.closed[node]
        tree.value[kept], tree.rest[kept] = tree.value[node], tree.rest[node]
        for edge in range(first, first + tree.branches[kept]):
            if tree.child[edge] >= 0:
                owner[tree.child[edge]] = used
            tree.action[used], tree.child[used], tree.tries[used] = (
                tree.action[edge],
                tree.child[edge],
                tree.tries[edge],
            )
            tree.total[used], tree.worth[used] = tree.total[edge], tree.worth[edge]
            tree.prior[used] = tree.prior[edge]
            used += 1
        kept += 1
    tree.used[NODES], tree.used[EDGES] = kept, used
    refresh(tree, 0)


@njit(cache=True, nogil=True)
def plant(
    tree: UctTree,
    before: Any,
    state: Any,
    evaluator: Any,
    actions: Ints,
    values: Floats,
    order: Ints,
    temperature: float,
    owner: Ints,
) -> int:
    """Make ``state`` the root, with all its actions so that proofs about it are complete; return the visits it keeps.

    ``before`` is the last root's state: what was searched below a position two actions later is kept. ``owner`` is
    scratch, int32 [N]; without entries nothing is kept.
    """
    nodes, top = tree.used[NODES], -1
    if owner.size > 0 and nodes > 0:
        top = _below(tree, before, kernels.position_hash(state))
    tree.used[:] = 0
    expand(tree, state, evaluator, actions, values, order, actions.size, 0, temperature)
    tree.used[EDGES] = actions.size
    if top >= 0 and tree.closed[0] == 0:
        _graft(tree, top, nodes, owner)
    return int(tree.visits[0])
