"""The tree of UCT in flat arrays: nodes with their best actions as edges, and the exact values known in it.

The subtree below a position is kept as the new tree once the game has come to it: `plant`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games import kernels
from pipeline_src.jit import njit
from pipeline_src.search.evaluator import WIN, settle, shortlist

SURE = WIN / 2
"""A value at least this far from 0 is exact: a win or loss on the board, or one that `settle` has counted."""
NODES, EDGES = 0, 1

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


class UctOptions(NamedTuple):
    """Options of UCT. The player of the Amazons has its own."""

    c: float = 0.5  # Exploration constant, for win rates in -1..1
    prior: float = 2.0
    """Temperature, in the evaluation's unit, of the prior: the softmax of the one-ply values; 0 is no prior (UCB1)."""
    scale: float = 4.0  # Advantage, in the evaluation's unit, that corresponds to odds of e to 1
    widen: float = 3.0
    """Progressive widening: k in the number k * v^alpha of actions that a node with v visits considers."""
    alpha: float = 0.5  # Progressive widening: the exponent alpha, see `widen`
    minimax: float = 0.5
    """Share of the minimax value in the value of an edge; the rest is the mean of the results below it."""
    keep: int = 48  # Number of actions stored for a node other than the root, the best by one-ply value
    breadth: int = 0
    """Number of likely moves of a node other than the root that are examined (`evaluator.shortlist`); 0 is all."""


class UctTree(NamedTuple):
    """Nodes [N] and edges [E]; node 0 is the root. Values are in the evaluation's unit, by the node's side to move."""

    first: Ints  # [N]: a node's first edge
    branches: Ints  # [N]: how many edges it has, best one-ply value first
    reached: Ints  # [N]: one past the last of its edges that was tried
    visits: Ints  # [N]: iterations that went on below it
    side: npt.NDArray[np.int8]  # [N]: side to move
    closed: npt.NDArray[np.uint8]  # [N]: 1 where its value is final, so that no iteration need go there
    value: Floats  # [N]: minimax value of the searched subtree
    rest: Floats
    """[N]: one-ply value of the best action that was ranked but not stored; where a whole shortlist is stored, that of
    the worst in it; minus infinity where all actions are stored."""
    action: Ints  # [E]
    child: Ints  # [E]: node, -1 before it is expanded
    tries: Ints  # [E]: iterations through it
    total: npt.NDArray[np.float64]  # [E]: sum of their win rates, -1..1
    worth: Floats  # [E]: one-ply value; once expanded, the child's minimax value
    prior: Floats  # [E]: softmax of the one-ply values
    used: npt.NDArray[np.int64]  # [2]: nodes and edges in use


def new_tree(nodes: int, keep: int, actions: int) -> UctTree:
    """Return a tree for ``nodes`` nodes with ``keep`` edges each, and ``actions`` for the root.

    Untouched pages cost nothing.
    """
    edges = nodes * keep + actions
    return UctTree(
        first=np.empty(nodes, np.int32),
        branches=np.empty(nodes, np.int32),
        reached=np.empty(nodes, np.int32),
        visits=np.empty(nodes, np.int32),
        side=np.empty(nodes, np.int8),
        closed=np.empty(nodes, np.uint8),
        value=np.empty(nodes, np.float32),
        rest=np.empty(nodes, np.float32),
        action=np.empty(edges, np.int32),
        child=np.empty(edges, np.int32),
        tries=np.empty(edges, np.int32),
        total=np.empty(edges, np.float64),
        worth=np.empty(edges, np.float32),
        prior=np.empty(edges, np.float32),
        used=np.zeros(2, np.int64),
    )


@njit(cache=True)
def is_open(worth: float, child: int, closed: npt.NDArray[np.uint8]) -> bool:
    """Whether an edge of this worth and child can still change its value."""
    if abs(worth) >= SURE:
        return False
    return bool(child < 0 or closed[child] == 0)


@njit(cache=True)
def refresh(tree: UctTree, node: int) -> None:
    """Set a node's value and whether it is final from its edges, of which it has at least one.

    The value is the best of the edges that were searched, or of all where none was; a certain loss counts only when
    nothing else is left. That all stored edges are lost proves nothing of the others: the best of those counts then.
    """
    # Loops first take their arrays out of the tree: passing a tuple counts references to all of its arrays.
    worths, children, tries, closed, first = tree.worth, tree.child, tree.tries, tree.closed, tree.first[node]
    reached = first + tree.reached[node]
    searched, unsearched, final = -np.inf, -np.inf, -np.inf
    for edge in range(first, first + tree.branches[node]):
        worth = np.float64(worths[edge])
        if not is_open(worth, children[edge], closed):
            final = max(final, worth)
        elif tries[edge] > 0:
            searched = max(searched, worth)
        else:
            unsearched = max(unsearched, worth)
            if edge >= reached:
                break  # later edges were not tried, and these are in order
    if final > -SURE and searched > -np.inf:
        searched = max(searched, final)
    if final >= SURE:
        tree.value[node], tree.closed[node] = final, 1
    elif searched > -np.inf:
        tree.value[node] = searched
    elif unsearched > -np.inf:
        tree.value[node] = max(unsearched, final)
    else:
        tree.value[node], tree.closed[node] = max(final, tree.rest[node]), 1


@njit(cache=True)
def _better(values: Floats, a: int, b: int) -> bool:
    return values[a] > values[b] or (values[a] == values[b] and a < b)


@njit(cache=True)
def best_first(values: Floats, n: int, keep: int, order: Ints) -> int:
    """Write the places of the ``keep`` largest of n values to ``order``, largest first, the first of equals first.

    Returns how many were written. A heap whose top is the worst of those held: most values meet only that one.
    """
    held = 0
    for i in range(n):
        if held < keep:
            at, held = held, held + 1
            while at > 0 and _better(values, order[(at - 1) // 2], i):
                order[at] = order[(at - 1) // 2]
                at = (at - 1) // 2
            order[at] = i
        elif values[i] > values[order[0]]:
            _sift(values, order, held, i)
    for end in range(held - 1, 0, -1):  # heap sort: the worst goes to the end
        worst, last = order[0], order[end]
        _sift(values, order, end, last)
        order[end] = worst
    return held


@njit(cache=True)
def _sift(values: Floats, heap: Ints, held: int, item: int) -> None:
    """Put ``item`` in the place of the heap's top and restore the order."""
    at = 0
    while True:
        below = 2 * at + 1
        if below >= held:
            break
        if below + 1 < held and _better(values, heap[below], heap[below + 1]):
            below += 1
        if not _better(values, item, heap[below]):
            break
        heap[at] = heap[below]
        at = below
    heap[at] = item


@njit(cache=True)
def expand(
    tree: UctTree,
    state: Any,
    evaluator: Any,
    actions: Ints,
    values: Floats,
    order: Ints,
    keep: int,
    breadth: int,
    temperature: float,
) -> int:
    """Add ``state`` as a node with the best ``keep`` actions of its shortlist; return the node. There must be room.

    ``actions``, ``values`` and ``order`` are scratch with room for all actions. The first node, the root, is ranked
    even where `settle` knows its value: an action is wanted there.
    """
    node, first = tree.used[NODES], tree.used[EDGES]
    tree.used[NODES] += 1
    tree.first[node], tree.branches[node], tree.visits[node], tree.reached[node] = first, 0, 0, 0
    tree.side[node], tree.closed[node], tree.rest[node] = kernels.to_play(state), 1, -np.inf
    if node > 0:
        settled, value = settle(state, evaluator)
        if settled:
            tree.value[node] = value
            return int(node)
    n, looked = shortlist(state, evaluator, breadth, actions, values, WIN)
    if n == 0:
        tree.value[node] = kernels.outcome(state)[1] * WIN
        return int(node)
    held = best_first(values, n, min(keep + 1, n), order)
    if held > keep:
        held = keep
        tree.rest[node] = values[order[keep]]
    elif looked > 0:
        tree.rest[node] = values[order[held - 1]]
    tree.branches[node] = held
    tree.used[EDGES] += held
    total = 0.0
    for i in range(held):
        edge, place = first + i, order[i]
        tree.action[edge], tree.worth[edge] = actions[place], values[place]
        tree.child[edge], tree.tries[edge], tree.total[edge] = -1, 0, 0.0
        tree.prior[edge] = 1.0
        if temperature > 0.0:
            tree.prior[edge] = np.exp((values[place] - values[order[0]]) / temperature)
        total += tree.prior[edge]
    for edge in range(first, first + held):
        tree.prior[edge] /= total
    tree.closed[node] = 0
    refresh(tree, node)
    return int(node)


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
    """Move the subtree of node ``top`` of ``nodes`` to the root, which `expand` has just made.

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

    ``before`` is the last root's state: the subtree of a position two actions later is kept. ``owner`` is
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
